// Package metrics counts what a hub sees for Prometheus: calls, errors and
// latencies of tools, findings, what is in flight, and how the hub itself does.
//
// A Metrics looks at the store whenever the hub says that something changed,
// and once more for each scrape; it never holds up who fills the store. Calls
// that began before it was made are history and are not counted.
//
// What peers choose is bounded before it becomes a label: names are cut at 128
// bytes, names that no tools/list advertised share one series, and past 2,000
// series a hub adds no more. Totals stay right, for all of these are counted.
// Memory: about 4 KiB a series, at most 10 MiB; 16 bytes a call in flight; the
// advertised names, at most 5,000 a label; at most 200 servers.
//
// It imports store, internal/capture and internal/mcp, and takes the hub as an
// interface. It never reads a log, and writes nothing.
package metrics
