package tui

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write the golden screens anew")

func TestMain(m *testing.M) {
	// The reader of terminal input stays behind when the program ends while an
	// answer of the terminal is on its way: it sends without looking at the end.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/charmbracelet/ultraviolet.(*TerminalReader).sendEvents"))
}

// terminal is a terminal in memory. The emulator is not safe for concurrent use,
// and blocks when nobody reads what it answers.
type terminal struct {
	t  *testing.T
	mu sync.Mutex
	e  *vt.Emulator
	p  *tea.Program
	w  int
	h  int
}

// Write takes output. A program whose input is no terminal leaves it to the
// line discipline to return the carriage.
func (s *terminal) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.e.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")))
	return len(b), err
}

// text is what stands on the screen.
func (s *terminal) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := strings.Split(s.e.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// colours is the same with its escape sequences. The colour of what is not
// drawn depends on the way to this screen, and is left out.
func (s *terminal) colours() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for y := range s.h {
		for x := range s.w {
			c := s.e.CellAt(x, y)
			if c == nil || c.Content != " " || c.Style.Underline != 0 || c.Style.Attrs&(uv.AttrReverse|uv.AttrStrikethrough) != 0 {
				continue
			}
			blank := *c
			blank.Style.Fg, blank.Style.Attrs = nil, 0
			s.e.SetCell(x, y, &blank)
		}
	}
	return strings.ReplaceAll(s.e.Render(), "\x1b", "␛") + "\n"
}

// boot runs the UI as a program on a terminal in memory.
func boot(t *testing.T, src Source, w, h int, opts Options) *terminal {
	t.Helper()
	s := &terminal{t: t, e: vt.NewEmulator(w, h), w: w, h: h}
	if opts.Env == nil {
		opts.Env = utf8Env
	}
	if opts.Now == nil {
		opts.Now = func() time.Time { return start.Add(52 * time.Second) }
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, answers := io.Pipe()
	var wg sync.WaitGroup
	wg.Go(func() { io.Copy(answers, s.e) })
	s.p = tea.NewProgram(New(ctx, src, opts), tea.WithInput(in), tea.WithOutput(s), tea.WithWindowSize(w, h),
		tea.WithEnvironment(opts.Env), tea.WithColorProfile(Profile(opts.Env)), tea.WithoutSignalHandler())
	wg.Go(func() {
		if _, err := s.p.Run(); err != nil {
			t.Errorf("the program ended with %v", err)
		}
	})
	t.Cleanup(func() {
		s.p.Quit()
		s.p.Wait()
		cancel()
		s.e.InputPipe().(io.Closer).Close() // Emulator.Close races with its Read
		in.Close()
		wg.Wait()
	})
	s.shown()
	return s
}

// keys presses keys, and waits until the screen shows what came of them.
func (s *terminal) keys(keys ...string) *terminal {
	s.t.Helper()
	for _, k := range keys {
		if msg, ok := namedKeys[k]; ok {
			s.p.Send(msg)
			s.shown()
			continue
		}
		for _, r := range k {
			s.p.Send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
		s.shown()
	}
	return s
}

// model looks at the model from within its own loop.
func (s *terminal) model(look func(*Model)) {
	ready := make(chan struct{})
	s.p.Send(done(func(m *Model) tea.Cmd {
		m.working++
		look(m)
		close(ready)
		return nil
	}))
	select {
	case <-ready:
	case <-time.After(10 * time.Second):
		s.t.Fatal("the model does not answer")
	}
}

// shown waits until all work is done and the terminal shows what the model draws.
func (s *terminal) shown() {
	s.t.Helper()
	want, working := "", 1
	for range 2000 {
		s.model(func(m *Model) {
			working = m.working
			if m.hasSize && m.hasEnv {
				want = plainScreen(m)
			}
		})
		if working == 0 && want != "" && s.text() == want {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.t.Fatalf("%d pieces of work are left; the terminal shows\n%s\nwant\n%s", working, s.text(), want)
}

func plainScreen(m *Model) string {
	lines, _ := m.lines()
	plain := &theme{}
	var out []string
	for _, l := range lines {
		out = append(out, strings.TrimRight(string(plain.render(nil, l)), " "))
	}
	return strings.Join(out, "\n") + "\n"
}

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test ./internal/tui -update writes it anew):\n%s\nwant\n%s", name, got, want)
	}
}
