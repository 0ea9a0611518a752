package store

import "github.com/mcpsnoop/mcpsnoop/internal/capture"

// Preview fills the summary from the ends of a log that is indexed later: its
// first and last record, and its size on disk in bytes. last may be nil. What
// the log says takes its place as it is read.
func (a *Appender) Preview(first, last *capture.Record, size int64) {
	if a.sum.FrameTotal() > 0 || a.sum.SawMeta {
		return
	}
	a.fresh = true
	a.sum.Label, a.sum.Transport, a.sum.Started, a.sum.Newest = first.Label, first.Transport, first.TS, first.TS
	a.sum.Total = size
	if first.Direction == capture.Meta {
		a.sum.Meta = capture.ParseMeta(first.Raw)
	}
	if last == nil || last.SessionID != first.SessionID {
		return
	}
	if last.TS.After(a.sum.Newest) {
		a.sum.Newest = last.TS
	}
	if last.Direction == capture.End {
		a.sum.Ended, a.sum.End = true, capture.ParseEnd(last.Raw)
	}
}

// Loaded says that all there was of the log has been read, or with false that
// there is more to read.
func (a *Appender) Loaded(all bool) {
	if a.sum.Loaded != all {
		a.sum.Loaded, a.fresh = all, true
	}
}
