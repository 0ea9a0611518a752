package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// details keeps what rows say of the bodies of their frames. Bodies are read
// beside Update, those of the screen only, and large ones not at all.
type details struct {
	m     *Model
	s     *store.Session
	known map[uint32]string
	busy  bool
}

const (
	maxDetails     = 4096      // details kept; all are dropped when it is reached
	maxDetailFrame = 256 << 10 // longest log line that is read for a detail
)

func (c *details) look(s *store.Session) { c.s, c.known = s, map[uint32]string{} }

func (c *details) of(i uint32) string { return c.known[i] }

// load reads the details that some frames lack.
func (c *details) load(frames []uint32) tea.Cmd {
	if c.busy || c.s == nil {
		return nil
	}
	var lack []uint32
	for _, i := range frames {
		if _, ok := c.known[i]; !ok && c.s.Frame(i).Length <= maxDetailFrame {
			lack = append(lack, i)
		}
	}
	if len(lack) == 0 {
		return nil
	}
	c.busy = true
	s, src := c.s, c.m.src
	return c.m.work(func(ctx context.Context) done {
		texts := make([]string, len(lack))
		for k, i := range lack {
			if ctx.Err() != nil {
				return nil
			}
			if rec, err := src.Body(s, i); err == nil {
				texts[k] = detailOf(&rec, s.Frame(i).Kind)
			}
		}
		return func(m *Model) tea.Cmd {
			c.busy = false
			if c.s != s {
				return nil
			}
			if len(c.known) > maxDetails {
				clear(c.known)
			}
			for k, i := range lack {
				c.known[i] = texts[k]
			}
			return m.top().refresh()
		}
	})
}
