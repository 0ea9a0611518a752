// Package wire cuts byte streams into frames and reads JSON where it stands.
//
// It knows lines, JSON text (RFC 8259) and the shape of a JSON-RPC 2.0
// message, and nothing of MCP. All of it works on bytes that the caller owns:
// nothing is copied unless a comment says so, nothing is repaired, and no
// input makes it panic or recurse without bound.
//
// It imports the standard library only and is imported by every other room.
// It never reads files, never logs and keeps no state beyond what its caller
// holds.
package wire
