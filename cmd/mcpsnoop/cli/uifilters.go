package cli

import (
	"github.com/mcpsnoop/mcpsnoop/internal/filterfile"
	"github.com/mcpsnoop/mcpsnoop/internal/tui"
)

// uiFilters keeps the filters of the UI of this terminal in the state folder.
type uiFilters struct{ *filterfile.Book }

// filters are those of this user, nil where there is no state folder.
func (a *App) filters() tui.Filters {
	state, err := a.stateDir()
	if err != nil {
		return nil
	}
	check := func(filter string) error { return tui.CheckFilter(filter, a.Clock.Now()) }
	return uiFilters{&filterfile.Book{Dir: state, Check: check}}
}

// Load is that of tui.Filters.
func (f uiFilters) Load() (tui.FilterBook, error) {
	saved, recent, problems, err := f.Book.Load()
	book := tui.FilterBook{Recent: recent, Problems: problems}
	for _, s := range saved {
		book.Saved = append(book.Saved, tui.SavedFilter(s))
	}
	return book, err
}
