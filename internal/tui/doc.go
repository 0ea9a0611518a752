// Package tui is the terminal UI: sessions, the stream of frames of one of
// them, the inspector of one frame, help. It is the same on a local terminal,
// for a viewer over SSH and over mirrored logs: New takes all it needs to know
// as arguments, and the size, the environment and the keys of its terminal come
// as messages.
//
// A Model owns nothing but what is on its screen. It pulls from a Source: the
// index lies in the store, bodies are read from the log when they are shown,
// and a change is a signal without content. Update and View do work
// proportional to the screen, never to the frames; whatever takes longer
// (filters, sorting, the outline of a large body) runs beside them in steps.
//
// Screens are made of lines, lines of spans, spans of a Text and an ink. Text
// is what may be sent to a terminal; Safe makes it from what came over the wire
// and is the one place that does. Which columns a table has, how a number is
// written and which colour an ink has are pure functions of their arguments.
//
// It may import checks, export, store, internal/capture, internal/redact,
// internal/mcp and internal/wire. It never imports a hub or anything of SSH,
// never reads the environment of its own process, never writes to standard
// output or the disk, and never changes a session.
package tui
