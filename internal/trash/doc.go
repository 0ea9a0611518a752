// Package trash moves the logs of sessions out of the folder where they are
// found, and back. A log is moved whole: all its segments, compressed or not.
// The last segment goes first and comes back last, so that what is left by a
// machine that stops in between is the beginning of a log and no torn one.
//
// Nothing is ever overwritten, and a log that somebody writes stays where it
// is. It imports internal/capture for the names of the files and for the lock
// of a writer.
package trash
