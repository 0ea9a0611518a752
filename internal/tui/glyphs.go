package tui

import "strings"

// glyphs are the signs of the UI, each one cell wide unless noted. Every one
// stands beside a word or in a column that says what it means.
type glyphs struct {
	path, dot, dots, rule, thick, side          Text
	out, in, both                               Text
	ok, bad, warn, open, gone, late, ended      Text
	live, follow, pause, selected, resting      Text
	marked, unfolded, folded, up, down, filter  Text
	barFull, barFree, key, curDown, more, relay Text
	spark                                       [8]Text
	clock                                       [4]Text // a pending call, by its age
}

var unicodeGlyphs = glyphs{
	path: "›", dot: "·", dots: "…", rule: "─", thick: "━", side: "│",
	out: "→", in: "←", both: "⇄",
	ok: "✓", bad: "✗", warn: "!", open: "◔", gone: "⊘", late: "↯", ended: "■",
	live: "●", follow: "⇣", pause: "‖", selected: "▌", resting: "▏",
	marked: "◆", unfolded: "▾", folded: "▸", up: "▴", down: "▾", filter: "/",
	barFull: "█", barFree: "░", key: "⏎", curDown: "↓", more: "»", relay: "↳",
	spark: [8]Text{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	clock: [4]Text{"◔", "◑", "◕", "●"},
}

var asciiGlyphs = glyphs{
	path: ">", dot: "-", dots: "~", rule: "-", thick: "=", side: "|",
	out: ">", in: "<", both: "=",
	ok: "+", bad: "x", warn: "!", open: "o", gone: "/", late: "^", ended: "#",
	live: "*", follow: "v", pause: "|", selected: ">", resting: ":",
	marked: "*", unfolded: "-", folded: "+", up: "^", down: "v", filter: "/",
	barFull: "#", barFree: ".", key: "enter", curDown: "v", more: ">", relay: ">",
	spark: [8]Text{"_", "_", ".", "-", "=", "+", "*", "#"},
	clock: [4]Text{"o", "o", "o", "o"},
}

// isUTF8 reports whether an environment says that the terminal shows UTF-8:
// the first of LC_ALL, LC_CTYPE and LANG that is set decides. When none is,
// the terminal of our day is taken to.
func isUTF8(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}
