// Package otlp makes OpenTelemetry data out of the store: a span for each
// operation, by the semantic conventions for MCP, plus attributes of its own
// under mcpsnoop.*.
//
// Ids are derived from the session and the number of the request, so that two
// exporters of one session send the same spans. The protocol and its retries
// are those of the OpenTelemetry project's own modules; files in JSON are written
// here, span by span, and its reader must find the same in them.
//
// It imports store, internal/capture, internal/mcp and internal/wire. It never
// reads a log by itself, and puts what a tool was given or gave into attributes
// only where its caller asks for that.
package otlp
