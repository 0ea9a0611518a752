package store

import (
	"fmt"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// whyEnded says in words how a session ended that left a call unanswered.
func whyEnded(e *capture.EndInfo) string {
	switch {
	case e.Signal != "":
		return fmt.Sprintf("the server was ended by %s", e.Signal)
	case e.ExitCode != nil:
		return fmt.Sprintf("the server exited with code %d", *e.ExitCode)
	case e.Reason != "":
		return e.Reason
	}
	return "the session ended"
}
