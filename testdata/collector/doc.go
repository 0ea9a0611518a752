// Package collector holds what mcpsnoop sends against the OpenTelemetry
// Collector itself: its receiver in the process of the test, and the
// configuration in deploy run by its own modules. It is a module of its own, so
// that the program does not depend on a collector.
package collector
