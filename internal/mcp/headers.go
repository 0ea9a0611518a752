package mcp

// Names of header fields, in lower case; their case does not count on the wire
// (basic/transports of each revision).
const (
	HeaderSession     = "mcp-session-id"       // 2025-03-26 to 2025-11-25
	HeaderVersion     = "mcp-protocol-version" // from 2025-06-18 on
	HeaderMethod      = "mcp-method"           // from 2026-07-28 on, as the following
	HeaderName        = "mcp-name"
	HeaderParamPrefix = "mcp-param-"
	HeaderLastEventID = "last-event-id" // HTML, section 9.2.4
)
