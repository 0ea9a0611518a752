// Package remote is the SSH client: it brings the logs of another machine here
// and keeps up with them.
//
//   - Resolve reads ssh_config for a host, as ssh does.
//   - Dial connects, through jump hosts where there are any: it checks host keys
//     against known_hosts, and proves who the user is by agent, key files and
//     questions. A StepError says which step failed, and what to do.
//   - Open finds what the far end offers: the subsystem of a hub, a program that
//     can be started, or nothing but SFTP. All three are a Far.
//   - A Mirror copies the files of a Far byte for byte, goes on where the copy
//     ends, and keeps what was replaced at the far end.
//   - Attach shows a far hub's own UI.
//
// What the far end says is not trusted: names are checked, sizes are bounded,
// and nothing is ever written outside of the mirror's folder.
//
// It imports internal/stream and internal/capture, and the layers of SSH below
// it. It never reads the environment of its process, never asks on its own (a
// Prompt does, where there is somebody to ask) and never deletes a log.
package remote
