// Package sink sends what sessions say to an OpenTelemetry collector: a span
// for each operation that came to its end, the conventions' metrics, and frames
// as logs where that is wanted.
//
// A Follower looks at one session of a store and queues what is done; the Sink
// makes the data when it is its turn, out of the store and the log, and hands it
// to the official exporters: protocol, compression, headers, TLS and the
// OTEL_EXPORTER_OTLP_* variables are theirs. What is queued are places in the
// log, 16 bytes each and 65,536 of a kind at most; what comes when the queue is
// full is counted as lost. Nobody waits for a Sink, and it keeps a batch until a
// collector took it, refused it for good, or the time to flush is over.
//
// It imports internal/otlp, internal/capture, internal/mcp and store. It sets no global
// provider, propagator or error handler, and never follows a trace of its own.
package sink
