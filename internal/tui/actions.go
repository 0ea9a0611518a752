package tui

import (
	"context"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// Actions are what a viewer may do besides looking. A nil field is an action
// that this viewer does not have: no key handler asks who somebody is. The
// methods may wait (for a disk, a process, a server) and are called outside of
// the program's loop; they are safe for concurrent use.
type Actions struct {
	// Replay sends captured calls again.
	Replay Replayer
	// Editor edits the params of calls; without it they are edited in place.
	Editor Editor
	// Trash deletes sessions so that it can be undone.
	Trash Trash
	// Export writes sessions to files of the viewer's own machine.
	Export Exporter
	// Denied says why what is nil is not there, in words that end a sentence
	// that begins with the action: "operators only", "no log of its own".
	Denied Text
}

// Trash keeps sessions that were deleted.
type Trash interface {
	// Delete moves everything of a session that has ended aside.
	Delete(ctx context.Context, s *store.Session) error
	// Restore brings back what Delete moved; id is that of the session.
	Restore(ctx context.Context, id string) error
	// Command does what Delete does without the UI; "" when there is none.
	Command(list []*store.Session) string
}

// Exporter writes exports.
type Exporter interface {
	// Export writes sessions in a format to a file that must not exist yet.
	Export(ctx context.Context, e ExportRequest) (Exported, error)
	// Command does the same without the UI.
	Command(e ExportRequest) string
}

// ExportRequest is what to export: of the sessions the whole operations that
// fit a filter.
type ExportRequest struct {
	Sessions []*store.Session
	Format   string
	Where    string
	Path     string
}

// Exported is the file that was written.
type Exported struct {
	Path  string
	Bytes int64
	Notes []string // what its reader should know: secrets that may be in it
}
