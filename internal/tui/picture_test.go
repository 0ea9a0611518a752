package tui

import (
	"errors"
	"flag"
	"fmt"
	"html"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	uv "github.com/charmbracelet/ultraviolet"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

var (
	pictures = flag.String("pictures", "", "folder that the pictures of the documentation are written to")
	picked   = flag.String("log", "", "log that they show: that of mcpsnoop demo")
)

// TestPictures draws the pictures of the documentation: what the terminal
// shows of a demo whose hung call still hangs. `make screens` runs it.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		return // nobody asks for them
	}
	f := demoFixture(t, *picked)
	last := f.list[0].Summary().Newest
	now := func() time.Time { return last.Add(34 * time.Second) }
	for _, p := range []struct {
		name, theme string
		w, h        int
		open        bool
		keys        []string
	}{
		{"stream", "dark", 128, 32, true, []string{":", "15", "enter", "j", "k"}},
		{"stream-light", "light", 128, 32, true, []string{":", "15", "enter", "j", "k"}},
		{"sessions", "dark", 128, 12, false, nil},
		{"inspector", "dark", 100, 30, true, []string{"g", "jjjjj", "enter"}},
		{"filter", "dark", 100, 24, true, []string{"/", "status:", "tab", "tab"}},
		{"calls", "dark", 128, 24, true, []string{"i", "g", "jjjj"}},
		{"tools", "dark", 110, 24, true, []string{"s", "g", "j"}},
		{"findings", "dark", 110, 16, true, []string{"w"}},
		{"merged", "dark", 110, 24, false, []string{"space", "j", "space", "m", "g"}},
		{"search", "dark", 110, 20, false, []string{"ctrl+s", "status:err OR kind:invalid", "enter"}},
	} {
		opts := Options{Theme: p.theme, Now: now}
		if p.open {
			opts.Open = f.list[0].ID
		}
		s := boot(t, f, p.w, p.h, opts)
		s.keys(p.keys...)
		if err := os.WriteFile(filepath.Join(*pictures, p.name+".svg"), s.svg(p.theme), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// demoFixture is the session of a log as if it had not ended, beside some others.
func demoFixture(t *testing.T, path string) *fixture {
	t.Helper()
	r, err := capture.OpenSession(capture.OS{}, path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f := several()
	f.list = f.list[1:]
	log, _ := os.ReadFile(path)
	var s *store.Session
	var a *store.Appender
	var it capture.Item
	for {
		if err := r.Next(&it); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if s == nil {
			st := store.New(store.Limits{})
			s, a = st.Open(it.Record.SessionID, path, func(_ *store.Session, a *store.Appender) store.Observer {
				return checks.NewEngine(checks.Options{Mark: a.Mark})
			})
		}
		if it.Record.Direction != capture.End {
			a.Append(&it)
		}
	}
	a.Publish()
	f.logs[path] = log
	f.list = append([]*store.Session{s}, f.list...)
	f.alive[s.ID] = true
	return f
}

// Cells of a picture, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	margin     = 12
)

// svg is the screen as a picture.
func (s *terminal) svg(theme string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	paper, text := "#15181e", "#d0d4dc"
	if theme == "light" {
		paper, text = "#ffffff", "#24292f"
	}
	var b strings.Builder
	w, h := float64(s.w)*cellWidth+2*margin, float64(s.h)*cellHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", paper)
	fmt.Fprintf(&b, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14" xml:space="preserve">`+"\n")
	for y := range s.h {
		for x := 0; x < s.w; {
			n, run := s.run(x, y)
			drawRun(&b, run, x, y, n, paper, text)
			x += n
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return []byte(b.String())
}

// run is the longest run of cells of one style that begins at x.
func (s *terminal) run(x, y int) (n int, c uv.Cell) {
	first := s.e.CellAt(x, y)
	if first == nil {
		return 1, uv.Cell{Content: " ", Width: 1}
	}
	c = *first
	n = max(1, c.Width)
	for x+n < s.w {
		next := s.e.CellAt(x+n, y)
		if next == nil || !next.Style.Equal(&first.Style) || next.Width != 1 || c.Width != 1 {
			break
		}
		c.Content += next.Content
		n++
	}
	return n, c
}

func drawRun(b *strings.Builder, c uv.Cell, x, y, n int, paper, text string) {
	fg, bg := hex(c.Style.Fg, text), hex(c.Style.Bg, "")
	if c.Style.Attrs&uv.AttrReverse != 0 {
		fg, bg = hex(c.Style.Bg, paper), hex(c.Style.Fg, text)
	}
	left, top := margin+float64(x)*cellWidth, margin+float64(y)*cellHeight
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.0f" width="%.1f" height="%d" fill="%s"/>`+"\n", left, top, float64(n)*cellWidth+0.2, cellHeight, bg)
	}
	if strings.TrimSpace(c.Content) == "" {
		return
	}
	more := ""
	if c.Style.Attrs&uv.AttrBold != 0 {
		more += ` font-weight="bold"`
	}
	if c.Style.Attrs&uv.AttrFaint != 0 {
		more += ` opacity="0.6"`
	}
	if c.Style.Underline != 0 {
		more += ` text-decoration="underline"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.0f" fill="%s" textLength="%.1f"%s>%s</text>`+"\n",
		left, top+13.5, fg, float64(n)*cellWidth, more, html.EscapeString(strings.ReplaceAll(c.Content, " ", "\u00a0")))
}

func hex(c color.Color, otherwise string) string {
	if c == nil {
		return otherwise
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
