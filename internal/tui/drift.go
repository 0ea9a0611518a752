package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// drifts knows how far what servers offer is from what was trusted: the
// baseline of their label, and where there is none what the first session of
// that server listed. It reads definitions beside Update, a few sessions at
// once, and again when there is a new listing.
type drifts struct {
	m     *Model
	known map[*store.Session]drift
	busy  bool
}

// drift is that of one session.
type drift struct {
	listing uint32    // the frame with the first page of the listing that it is of
	asked   time.Time // when the baseline was read
	n       int       // differences, -1 where there is nothing to compare
	with    string    // id of the session that it was compared with, "" for none
}

const (
	driftStep  = 16               // sessions that are looked at in one piece of work
	driftFresh = 20 * time.Second // how long a baseline is taken to be the same
)

// of is how many definitions of a session have drifted, -1 while that is not
// known.
func (c *drifts) of(s *store.Session) int {
	if d, ok := c.known[s]; ok {
		return d.n
	}
	return -1
}

// with is the id of the session that the tools of s were trusted in.
func (c *drifts) with(s *store.Session) string { return c.known[s].with }

// load looks at sessions that it does not know, or that list other tools now.
func (c *drifts) load(shown []*store.Session) tea.Cmd {
	if c.busy {
		return nil
	}
	now := c.m.now()
	var due []*store.Session
	for _, s := range shown {
		l, ok := s.Summary().Listing(mcp.ToolsList)
		if !ok {
			continue
		}
		if d, known := c.known[s]; !known || d.listing != l.First || now.Sub(d.asked) > driftFresh {
			if due = append(due, s); len(due) == driftStep {
				break
			}
		}
	}
	if len(due) == 0 {
		return nil
	}
	c.busy = true
	all, src, trusted := slices.Clone(c.m.src.Sessions()), c.m.src, c.m.opts.Baseline
	return c.m.work(func(ctx context.Context) done {
		found := map[*store.Session]drift{}
		for _, s := range due {
			if ctx.Err() != nil {
				break
			}
			found[s] = driftOf(src, s, all, trusted, now)
		}
		return func(m *Model) tea.Cmd {
			c.busy = false
			if c.known == nil || len(c.known) > maxDrifts {
				c.known = map[*store.Session]drift{}
			}
			for s, d := range found {
				c.known[s] = d
			}
			return m.top().refresh()
		}
	})
}

// maxDrifts is of how many sessions it is kept.
const maxDrifts = 10_000

// driftOf compares the definitions of a session with what was trusted.
func driftOf(src Source, s *store.Session, all []*store.Session, trusted func(label string) (*checks.Baseline, error), now time.Time) drift {
	l, _ := s.Summary().Listing(mcp.ToolsList)
	out := drift{listing: l.First, asked: now, n: -1}
	body := store.NewBodyFunc(src.Bodies())
	mine := checks.ListedDefinitions(s, body)
	if mine.Kinds["tools"] == nil {
		return out
	}
	label := s.Summary().Label
	var base *checks.Baseline
	if trusted != nil {
		base, _ = trusted(label) // one that cannot be read is one that there is not
	}
	if base == nil {
		first := firstOf(s, all)
		if first == s {
			return out
		}
		theirs := checks.ListedDefinitions(first, body)
		if theirs.Kinds["tools"] == nil {
			return out
		}
		base = checks.NewBaseline(label, first.ID, first.Summary().Newest, theirs)
	}
	if !base.Comparable(mine) {
		return out
	}
	out.n = len(base.Changes(mine))
	if base.Session != s.ID {
		out.with = base.Session
	}
	return out
}

// firstOf is the earliest session with the label of s that has a whole list of
// tools.
func firstOf(s *store.Session, all []*store.Session) *store.Session {
	first := s
	for _, x := range all {
		sum := x.Summary()
		if _, ok := sum.Listing(mcp.ToolsList); ok && sum.Label == s.Summary().Label && x.Origin == s.Origin && byStart(x, first) < 0 {
			first = x
		}
	}
	return first
}
