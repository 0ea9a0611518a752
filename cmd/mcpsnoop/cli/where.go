package cli

import (
	"errors"
	"fmt"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// compileWhere reads the filter of --where; nil for none.
func compileWhere(app *App, text string) (*store.Query, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no filter is no mistake, and nil matches everything
	}
	q, err := store.Compile(text, app.Clock.Now())
	if err == nil {
		return q, nil
	}
	var wrong *store.QueryError
	if errors.As(err, &wrong) {
		return nil, &usageError{fmt.Errorf("--where: column %d: %s", wrong.Column, wrong.Msg), `"mcpsnoop help filter" has the words`}
	}
	return nil, &usageError{err: fmt.Errorf("--where: %w", err)}
}
