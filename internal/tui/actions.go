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
	// Restore brings back what Delete moved.
	Restore(ctx context.Context, id string) error
}

// Exporter writes exports.
type Exporter interface {
	// Export writes the sessions in a format to a file that must not exist
	// yet, and says how long it is. Where is a filter; an empty path is made
	// from the session's id.
	Export(ctx context.Context, e ExportRequest) (path string, bytes int64, err error)
}

// ExportRequest is what to export.
type ExportRequest struct {
	Sessions []string
	Format   string
	Where    string
	Path     string
}
