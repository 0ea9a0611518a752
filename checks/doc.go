// Package checks judges sessions: the rules of the protocol, what else went
// wrong, the gates of `mcpsnoop check` and its reports.
//
// An Engine is the store.Observer of one session. It parses each message once
// into a tree, works out the revision that the frame belongs to, and runs the
// rules that can apply to a frame of its kind and method. A rule is one entry
// of a table (rules_*.go, one file a topic) and one function. Rules run while
// frames arrive, so the same code serves the live view and the command line.
//
// The first commandment is that no finding is false. A rule that lacks
// evidence stays silent: the capture began late, frames are missing, a copy
// was cut or redacted, a fact was never written down, or more than one
// revision could apply and the rule does not hold in all of them.
//
// Two tables stand for published schemas, so that a message costs a walk and
// no validator: shapes.txt for the messages of each revision, schemashape.go
// for the meta-schemas of the dialects. Tests hold both against the schemas.
//
// Memory is bounded (limits.go): findings, open requests, exchanges, tokens
// and every other set that the wire could grow.
//
// It imports store, internal/capture, internal/mcp, internal/redact and
// internal/wire. It never reads files, opens no connection, follows no URL
// and no $ref of what it judges, and never changes a log.
package checks
