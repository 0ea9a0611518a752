package tui

import (
	"image/color"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// look is how an ink or a base is drawn.
type look struct {
	fg, bg                                color.Color
	bold, faint, italic, under, reversing bool
}

// theme holds the escape sequences of every ink on every base.
type theme struct {
	name string
	seq  [baseCount][inkCount]string
}

const sgrReset = "\x1b[m"

// render appends a line as bytes for the terminal.
func (t *theme) render(dst []byte, l line) []byte {
	for _, p := range l.panes {
		dst = t.render(dst, p)
	}
	for _, s := range l.spans {
		seq := t.seq[l.base][s.ink]
		if seq == "" {
			dst = append(dst, s.text...)
			continue
		}
		dst = append(dst, seq...)
		dst = append(dst, s.text...)
		dst = append(dst, sgrReset...)
	}
	return dst
}

// themeNames are the words of --theme and of :theme.
var themeNames = [...]string{"auto", "dark", "light", "contrast", "none"}

// newTheme makes the theme called name for a terminal that can show the
// colours of p, on a dark background or a light one.
func newTheme(name string, p colorprofile.Profile, dark bool) *theme {
	if name == "" || name == "auto" {
		name = "light"
		if dark {
			name = "dark"
		}
	}
	if p <= colorprofile.ASCII {
		name = "none"
	}
	var looks map[ink]look
	var bases map[base]look
	few := p == colorprofile.ANSI
	switch {
	case name == "none":
		looks, bases = plainLooks()
	case name == "contrast":
		looks, bases = contrastLooks(dark)
	case few:
		looks, bases = fewLooks(dark)
	case name == "light":
		looks, bases = richLooks(lightColors)
	default:
		looks, bases = richLooks(darkColors)
	}
	t := &theme{name: name}
	for b := range baseCount {
		for i := range inkCount {
			t.seq[b][i] = sequence(looks[i], bases[b])
		}
	}
	return t
}

// sequence is the SGR sequence of an ink on a base.
func sequence(l, b look) string {
	if b.bg != nil && l.bg == nil {
		l.bg = b.bg
	}
	if b.fg != nil {
		l.fg = b.fg
	}
	l.bold = l.bold || b.bold
	l.under = l.under || b.under
	l.reversing = l.reversing != b.reversing
	var s ansi.Style
	if l.bold {
		s = s.Bold()
	}
	if l.faint {
		s = s.Faint()
	}
	if l.italic {
		s = s.Italic(true)
	}
	if l.under {
		s = s.Underline(true)
	}
	if l.reversing {
		s = s.Reverse(true)
	}
	if l.fg != nil {
		s = s.ForegroundColor(l.fg)
	}
	if l.bg != nil {
		s = s.BackgroundColor(l.bg)
	}
	if len(s) == 0 {
		return ""
	}
	return s.String()
}

// plainLooks do without colour: weight, underline and reverse only.
func plainLooks() (map[ink]look, map[base]look) {
	return map[ink]look{
			inkDim: {faint: true}, inkStrong: {bold: true}, inkTitle: {bold: true}, inkKey: {bold: true},
			inkHead: {}, inkSort: {under: true, bold: true}, inkRule: {faint: true}, inkActive: {bold: true},
			inkError: {bold: true}, inkPending: {bold: true}, inkWarn: {bold: true}, inkNote: {bold: true},
			inkName: {bold: true}, inkMatch: {reversing: true}, inkCursor: {bold: true},
		}, map[base]look{
			baseSelected: {reversing: true}, baseResting: {under: true}, baseBar: {reversing: true}, baseMarked: {bold: true},
		}
}

// fewLooks use the sixteen colours that the terminal's owner has chosen.
func fewLooks(dark bool) (map[ink]look, map[base]look) {
	dim, sel := color.Color(ansi.BrightBlack), look{bg: ansi.Blue, fg: ansi.BrightWhite}
	bar := look{bg: ansi.White, fg: ansi.Black}
	if dark {
		bar = look{bg: ansi.BrightBlack, fg: ansi.BrightWhite}
	}
	return map[ink]look{
			inkDim: {fg: dim}, inkStrong: {bold: true}, inkTitle: {bold: true}, inkKey: {bold: true},
			inkHead: {fg: dim}, inkSort: {fg: dim, under: true}, inkRule: {fg: dim}, inkActive: {fg: ansi.Cyan, bold: true},
			inkOut: {fg: ansi.Blue}, inkIn: {fg: ansi.Magenta}, inkOK: {fg: ansi.Green},
			inkWarn: {fg: ansi.Yellow}, inkError: {fg: ansi.Red, bold: true}, inkPending: {fg: ansi.Cyan, bold: true},
			inkNote: {fg: ansi.Cyan}, inkName: {fg: ansi.Blue}, inkString: {fg: ansi.Green}, inkNumber: {fg: ansi.Magenta},
			inkConst: {fg: ansi.Yellow}, inkPunct: {fg: dim}, inkMatch: {fg: ansi.Black, bg: ansi.Yellow}, inkCursor: {bold: true},
		}, map[base]look{
			baseSelected: sel, baseResting: {under: true}, baseBar: bar, baseMarked: {bold: true},
		}
}

// contrastLooks keep to black, white and the strongest colours.
func contrastLooks(dark bool) (map[ink]look, map[base]look) {
	ground, paper := color.Color(ansi.BrightWhite), color.Color(ansi.Black)
	warn, bad, open := color.Color(ansi.BrightYellow), color.Color(ansi.BrightRed), color.Color(ansi.BrightCyan)
	if !dark {
		ground, paper = ansi.Black, ansi.BrightWhite
		warn, bad, open = ansi.Blue, ansi.Red, ansi.Blue
	}
	strong := look{fg: ground, bold: true}
	looks := map[ink]look{}
	for i := range inkCount {
		looks[i] = look{fg: ground}
	}
	for _, i := range []ink{inkStrong, inkTitle, inkKey, inkName, inkActive, inkNote, inkCursor} {
		looks[i] = strong
	}
	looks[inkSort] = look{fg: ground, under: true, bold: true}
	looks[inkWarn], looks[inkError], looks[inkPending] = look{fg: warn, bold: true}, look{fg: bad, bold: true}, look{fg: open, bold: true}
	looks[inkMatch] = look{fg: paper, bg: ground}
	inverse := look{fg: paper, bg: ground, bold: true}
	return looks, map[base]look{baseSelected: inverse, baseResting: {under: true, bold: true}, baseBar: inverse, baseMarked: {bold: true}}
}

// colors are the tones of a theme with many colours. They are told apart by
// people who do not see red and green as different: open and warning differ
// from failed and well in lightness, and blue and orange stand for directions.
type colors struct {
	text, dim, rule, strong, accent        string
	out, in, ok, warn, bad, open           string
	name, str, num, constant               string
	selected, resting, bar, marked, match_ string
	onMatch                                string
}

var darkColors = colors{
	text: "#d0d4dc", dim: "#7f8794", rule: "#4a505c", strong: "#f2f4f8", accent: "#7cc7ff",
	out: "#6cb6ff", in: "#e5a96b", ok: "#6fcf97", warn: "#f2c94c", bad: "#ff7b72", open: "#56d4dd",
	name: "#8cc2ff", str: "#a5d6a7", num: "#d9b3ff", constant: "#f2c94c",
	selected: "#27405e", resting: "#2a2f39", bar: "#20252e", marked: "#3a3320", match_: "#f2c94c", onMatch: "#1b1e24",
}

var lightColors = colors{
	text: "#24292f", dim: "#6a737d", rule: "#c0c6ce", strong: "#000000", accent: "#0550ae",
	out: "#0550ae", in: "#9a4d00", ok: "#116329", warn: "#7d5a00", bad: "#c01c28", open: "#006d77",
	name: "#0550ae", str: "#116329", num: "#6639ba", constant: "#7d5a00",
	selected: "#cfe3fb", resting: "#e8ebef", bar: "#e8ebef", marked: "#fff3c4", match_: "#ffd33d", onMatch: "#000000",
}

func richLooks(c colors) (map[ink]look, map[base]look) {
	rgb := func(hex string) color.Color { return lipgloss.Color(hex) }
	return map[ink]look{
			inkText: {fg: rgb(c.text)}, inkDim: {fg: rgb(c.dim)}, inkStrong: {fg: rgb(c.strong), bold: true},
			inkTitle: {fg: rgb(c.accent), bold: true}, inkKey: {fg: rgb(c.accent), bold: true},
			inkHead: {fg: rgb(c.dim)}, inkSort: {fg: rgb(c.dim), under: true}, inkRule: {fg: rgb(c.rule)}, inkActive: {fg: rgb(c.accent), bold: true},
			inkOut: {fg: rgb(c.out)}, inkIn: {fg: rgb(c.in)}, inkOK: {fg: rgb(c.ok)}, inkWarn: {fg: rgb(c.warn)},
			inkError: {fg: rgb(c.bad), bold: true}, inkPending: {fg: rgb(c.open), bold: true}, inkNote: {fg: rgb(c.accent)},
			inkName: {fg: rgb(c.name)}, inkString: {fg: rgb(c.str)}, inkNumber: {fg: rgb(c.num)},
			inkConst: {fg: rgb(c.constant)}, inkPunct: {fg: rgb(c.dim)},
			inkMatch: {fg: rgb(c.onMatch), bg: rgb(c.match_)}, inkCursor: {fg: rgb(c.accent), bold: true},
		}, map[base]look{
			baseSelected: {bg: rgb(c.selected)}, baseResting: {bg: rgb(c.resting)}, baseBar: {bg: rgb(c.bar)}, baseMarked: {bg: rgb(c.marked)},
		}
}
