package tui

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

var timed = flag.Bool("timed", false, "hold keys to the 50 ms in which they are to be answered")

var whole = flag.Bool("whole", false, "draw every case at every size, which takes minutes")

const cases = "../../testdata/cases"

// everyCase makes a session of the traffic of each case.
func everyCase(t *testing.T) *fixture {
	t.Helper()
	f := newFixture()
	for _, pattern := range []string{"*/exchange.jsonl", "*/http.jsonl", "exchanges/*.jsonl"} {
		paths, err := filepath.Glob(filepath.Join(cases, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			if info, err := os.Stat(p); err != nil || info.Size() > 1<<20 {
				continue // what is large is not what is wide
			}
			f.exchange(t, p)
		}
	}
	if len(f.list) < 30 {
		t.Fatalf("%d cases found; want all of them", len(f.list))
	}
	return f
}

// visits are the screens that are drawn at each size, by the keys that lead
// from one to the next.
var visits = []struct {
	name string
	keys []string
}{
	{"list", nil},
	{"middle of the list", []string{"g", "jjjj"}},
	{"sorted", []string{"W"}},
	{"inspector", []string{"esc", "enter"}},
	{"folded", []string{"-"}},
	{"end of the frame", []string{"+", "G", "enter"}},
	{"bytes", []string{"b"}},
	{"search", []string{"b", "/", "e"}},
	{"next frame", []string{"enter", "]"}},
	{"filter", []string{"esc", "esc", "/", "kind:re"}},
	{"wrong filter", []string{"x\"("}},
	{"command", []string{"esc", ":", "t"}},
	{"help", []string{"esc", "?"}},
	{"export", []string{"esc", "esc", "e", "tab"}},
	{"findings", []string{"esc", "w"}},
	{"filtered findings", []string{"/", "o"}},
	{"pane", []string{"enter", "tab", "j", "G"}},
	{"copied", []string{"y", "y"}},
	{"tools", []string{"esc", "s"}},
	{"calls", []string{"i"}},
	{"interactions", []string{"i"}},
	{"capabilities", []string{"c"}},
	{"elicitations", []string{"l"}},
}

// Every screen over every case at all widths for three heights, at all heights
// for three widths, and at 200 sizes by seed: nothing crashes, and no line is
// wider or narrower than the screen.
func TestEverySize(t *testing.T) {
	f := everyCase(t)
	all := sizesToTry()
	share := 29 // each case takes its part of the sizes, and all of them take all
	if *whole {
		share = 1
	}
	for n, s := range f.list {
		opts := able(f)
		opts.Open = s.ID
		d := sitDown(t, f, 100, 30, opts)
		for _, v := range visits {
			d.at(100, 30)
			d.keys(v.keys...)
			for k := n % share; k < len(all); k += share {
				d.at(all[k][0], all[k][1])
				d.check(s.ID + ": " + v.name)
			}
			if t.Failed() {
				t.FailNow()
			}
		}
		d.m.stop()
	}
}

// The list of sessions at every size, with as many sessions as there are cases.
func TestEverySizeOfSessions(t *testing.T) {
	f := everyCase(t)
	d := sitDown(t, f, 100, 30, able(f))
	for _, keys := range [][]string{nil, {"ctrl+d"}, {"y"}, {"u"}, {"e"}, {"esc"}, {"G"}, {"/", "e"}, {"enter", "space", "M"}, {"?"}} {
		d.at(100, 30)
		d.keys(keys...)
		for _, size := range sizesToTry() {
			d.at(size[0], size[1])
			d.check(fmt.Sprint("sessions after ", keys))
		}
		if t.Failed() {
			return
		}
	}
}

func sizesToTry() [][2]int {
	var all [][2]int
	for w := range 221 {
		for _, h := range []int{3, 12, 40} {
			all = append(all, [2]int{w, h})
		}
	}
	for h := range 71 {
		for _, w := range []int{12, 52, 130} {
			all = append(all, [2]int{w, h})
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		all = append(all, [2]int{r.IntN(400), r.IntN(120)})
	}
	return all
}

// at changes the size without waiting for anything.
func (d *desk) at(w, h int) {
	_, cmd := d.m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	d.run(cmd)
	if d.m.working > 0 {
		d.settle()
	}
}

// In ASCII, no byte of any screen of any case is beyond ASCII.
func TestASCIIScreens(t *testing.T) {
	f := everyCase(t)
	for _, s := range f.list {
		d := sitDown(t, f, 100, 30, Options{Open: s.ID, Env: []string{"TERM=xterm", "LC_ALL=C"}})
		for _, v := range visits {
			d.keys(v.keys...)
			if got := d.screen(); strings.IndexFunc(got, func(r rune) bool { return r > 0x7e || r < 0x20 && r != '\n' }) >= 0 {
				t.Fatalf("%s: %s:\n%q", s.ID, v.name, got)
			}
		}
		d.m.stop()
	}
}
