package cli

import (
	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// liveRules makes the rules run over a session while its frames arrive; what
// they find is marked on the frames.
func liveRules(_ *store.Session, a *store.Appender) store.Observer {
	return checks.NewEngine(checks.Options{Mark: a.Mark})
}
