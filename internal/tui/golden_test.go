package tui

import (
	"bytes"
	"fmt"
	"testing"
	"time"
)

var sizes = [][2]int{{40, 10}, {80, 24}, {120, 40}, {200, 60}}

// scenes are the screens that are kept as golden files.
var scenes = []struct {
	name string
	open bool // one session, as mcpsnoop open shows it
	keys []string
}{
	{"sessions", false, nil},
	{"sessions-filter", false, []string{"/", "git"}},
	{"stream", true, nil},
	{"stream-sorted", true, []string{"D"}},
	{"stream-paused", true, []string{"p"}},
	{"filter-typed", true, []string{"/", "sta"}},
	{"filter-wrong", true, []string{"/", "status:zz"}},
	{"filtered", true, []string{"/", "status:error OR status:pending", "enter"}},
	{"inspector", true, []string{"k", "enter"}},
	{"inspector-text", true, []string{"g", "jjjjjjj", "enter", "jjjjjjj"}},
	{"inspector-bytes", true, []string{"k", "enter", "b"}},
	{"inspector-search", true, []string{"g", "enter", "/", "version", "enter", "n"}},
	{"command", true, []string{":", "ex"}},
	{"copied", true, []string{"y"}},
	{"export", false, []string{"e", "tab"}},
	{"exported", false, []string{"e", "enter"}},
	{"delete", false, []string{"j", "ctrl+d"}},
	{"deleted", false, []string{"j", "ctrl+d", "y"}},
	{"help", true, []string{"?"}},
}

func TestScreens(t *testing.T) {
	for _, sc := range scenes {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s/%dx%d", sc.name, size[0], size[1]), func(t *testing.T) {
				f := several()
				opts := able(f)
				if sc.open {
					opts.Open = f.list[0].ID
				}
				s := boot(t, f, size[0], size[1], opts)
				s.keys(sc.keys...)
				golden(t, fmt.Sprintf("screens/%s-%dx%d.txt", sc.name, size[0], size[1]), s.text())
			})
		}
	}
}

// The same screen in every theme and with every number of colours.
func TestThemes(t *testing.T) {
	env := func(more ...string) []string { return append([]string{"LC_ALL=C.UTF-8"}, more...) }
	for _, tt := range []struct {
		name, theme string
		env         []string
	}{
		{"dark", "dark", env("TERM=xterm-256color", "COLORTERM=truecolor")},
		{"light", "light", env("TERM=xterm-256color", "COLORTERM=truecolor")},
		{"contrast", "contrast", env("TERM=xterm-256color", "COLORTERM=truecolor")},
		{"256", "dark", env("TERM=xterm-256color")},
		{"16", "dark", env("TERM=vt100")},
		{"none", "auto", env("TERM=xterm-256color", "NO_COLOR=yes")},
		{"ascii", "none", []string{"TERM=xterm", "LC_ALL=C"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := several()
			s := boot(t, f, 80, 24, Options{Open: f.list[0].ID, Theme: tt.theme, Env: tt.env})
			s.keys("k")
			golden(t, "themes/"+tt.name+".txt", s.colours())
		})
	}
}

// A terminal that shows no screens gets lines.
func TestPlain(t *testing.T) {
	f := several()
	opts := Options{Env: []string{"TERM=dumb", "LC_ALL=C.UTF-8"}, Now: func() time.Time { return start.Add(52 * time.Second) }}
	if !Plain(opts.Env) || Plain(utf8Env) {
		t.Error("dumb terminals are not told apart")
	}
	var out bytes.Buffer
	if err := WritePlainSessions(&out, f, opts); err != nil {
		t.Fatal(err)
	}
	out.WriteByte('\n')
	if err := WritePlain(t.Context(), &out, f, f.list[0], opts); err != nil {
		t.Fatal(err)
	}
	golden(t, "screens/dumb.txt", out.String())
}
