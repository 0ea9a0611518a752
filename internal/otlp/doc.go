// Package otlp makes OpenTelemetry data out of the store: a span for each
// operation, by the semantic conventions for MCP, plus attributes of its own
// under mcpsnoop.*.
//
// Ids are derived from the session and the number of the request, so that two
// exporters of one session send the same spans. The encoding, the protocol and
// its retries are those of the OpenTelemetry project's own modules.
//
// It imports store, internal/capture, internal/mcp and internal/wire. It never
// reads a log by itself and never puts what a tool was given or gave into an
// attribute.
package otlp
