package tui

import (
	"strings"
	"testing"
)

// wide are the screens that are about more than one session, by the keys that
// lead to them from the list.
var wide = []struct {
	name string
	of   func() *fixture
	keys []string
}{
	{"merged", several, []string{"m", "k"}},
	{"compare", releases, []string{"space", "space", "d", "n"}},
	{"search", several, []string{"ctrl+s", "kind:stderr OR loading", "enter", "j"}},
}

// They are drawn in every theme.
func TestThemesOfSeveral(t *testing.T) {
	for _, sc := range wide {
		for _, theme := range []string{"dark", "light", "contrast", "none"} {
			t.Run(sc.name+"/"+theme, func(t *testing.T) {
				s := boot(t, sc.of(), 80, 24, Options{Theme: theme})
				s.keys(sc.keys...)
				golden(t, "themes/"+sc.name+"-"+theme+".txt", s.colours())
			})
		}
	}
}

// In ASCII, no byte of them is beyond ASCII, and in no theme is a session told
// by its colour alone.
func TestASCIIOfSeveral(t *testing.T) {
	for _, sc := range wide {
		d := sitDown(t, sc.of(), 160, 40, Options{Env: []string{"TERM=xterm", "LC_ALL=C"}})
		d.keys(sc.keys...)
		for _, keys := range [][]string{nil, {"enter"}, {"esc", "esc"}, {"?"}} {
			d.keys(keys...)
			if got := d.screen(); strings.IndexFunc(got, func(r rune) bool { return r > 0x7e || r < 0x20 && r != '\n' }) >= 0 {
				t.Fatalf("%s after %q:\n%q", sc.name, keys, got)
			}
		}
	}
	d := sitDown(t, several(), 100, 30, Options{Theme: "none"})
	d.keys("m", "g").wantSelected("A filesystem")
	letters := map[Text]bool{}
	for _, l := range d.m.top().(*merged).all {
		letters[l.letter] = true
	}
	if len(letters) != 3 {
		t.Errorf("%d letters for 3 sessions", len(letters))
	}
}

// Wire text of any session is escaped wherever it stands on these screens.
func TestHostileTextOfSeveral(t *testing.T) {
	f := newFixture()
	f.exchange(t, cases+"/87-terminal-escape-injection/exchange.jsonl")
	f.exchange(t, cases+"/87-terminal-escape-injection/exchange.jsonl")
	for _, size := range [][2]int{{40, 10}, {80, 24}, {160, 45}} {
		for _, start := range [][]string{{"m"}, {"space", "space", "d"}, {"ctrl+s", "e", "enter"}} {
			d := sitDown(t, f, size[0], size[1], Options{})
			d.keys(start...)
			for _, keys := range [][]string{nil, {"g"}, {"jj"}, {"G"}, {"enter"}, {"G"}, {"esc", "y"}} {
				d.keys(keys...)
				raw := d.m.View().Content
				for _, bad := range []string{"\x1b]52", "\x1b]8", "\x1b]0", "\x1bc", "\x1b[2J", "\u009b", "\u202e", "\x00", "\a", "\r"} {
					if strings.Contains(raw, bad) {
						t.Errorf("after %q and %q the screen sends %q", start, keys, bad)
					}
				}
			}
		}
	}
}
