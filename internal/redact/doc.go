// Package redact replaces secrets by marks before anything is written, shown
// or sent on: one engine for JSON-RPC payloads, stray text, command lines,
// URLs, headers and claims, so that every place follows the same rules.
//
// # What it finds
//
// Four rules, each switched on by its own flag. A key (--redact-key, and the
// secret-shaped names of --redact-secrets) hides the value behind it: a JSON
// member, token=... in a text, --token X in a command line. A format
// (--redact-secrets) is a credential that is known by its own shape: AKIA...,
// ghp_..., a JWT, a PEM block, the password in a URL. A value (--redact-value)
// is a regular expression over strings. A path (--redact-path) is an RFC 9535
// query on a payload.
//
// What one of them found is remembered and found again elsewhere, also as
// base64, hexadecimal, percent-encoded or JSON-escaped. Memory is bounded, see
// MaxRemembered, and leaves out values that are too short or too plain to be
// searched for (see worthy). It looks forward only: what an earlier frame
// said before the secret was known stays, unless the caller makes two passes.
//
// # What it leaves alone
//
// Bytes outside the replaced places never change: key order, spelling of
// numbers, white space and escapes stay. A payload stays as valid as it was,
// and keeps its number of messages. jsonrpc, id, method, progressToken,
// cursor, nextCursor, requestState, requestId, taskId, elicitationId,
// traceparent, tracestate and io.modelcontextprotocol/* scalars are never
// touched where the protocol puts them. Names are declarations in the schemas
// of tools and forms: there only default, const, examples and enum are data.
// null is never replaced, nor are an empty string, {} and []: they hide
// nothing. Under a secret-shaped name true and false stay too, and numbers
// unless the name is one of passwords, pins and codes; a key that the user
// named hides them.
//
// All searches take linear time on any input and nest no deeper than
// wire.MaxDepth. Filters and indexes from the end in a --redact-path may read
// ahead, up to eight times the payload; behind that they count as matching.
//
// # What it misses
//
// A secret that no rule names, one that is cut in two by something else, the
// base64 of a secret that was never seen in another form, more than
// MaxRemembered values at once, more than maxLearned new ones in one payload
// outside of their own places, and in texts a password with spaces that no
// quotes hold together.
//
// It imports wire and a JSONPath parser and no other room. It never reads files,
// keeps no secret beyond the life of an Engine and logs nothing.
package redact
