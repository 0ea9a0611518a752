package tui

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestSafe(t *testing.T) {
	for _, tt := range []struct{ name, in, want, ascii string }{
		{"plain", "tools/call", "tools/call", "tools/call"},
		{"clear screen", "A\x1b[2J", `A\x1b[2J`, `A\x1b[2J`},
		{"clipboard", "\x1b]52;c;eA==\a", `\x1b]52;c;eA==\x07`, `\x1b]52;c;eA==\x07`},
		{"C1 introducer", "D\u009b6n", `D\u009b6n`, `D\u009b6n`},
		{"override", "E\u202eF", `E\u202eF`, `E\u202eF`},
		{"line ends", "a\r\nb\tc\x00", `a\r\nb\tc\x00`, `a\r\nb\tc\x00`},
		{"not UTF-8", "a\xff\xc3", `a\xff\xc3`, `a\xff\xc3`},
		{"zero width", "a\u200bb\ufeff", `a\u200bb\ufeff`, `a\u200bb\ufeff`},
		{"tags", "\U000e0041", `\u{e0041}`, `\u{e0041}`},
		{"private use", "\ue0b0", `\ue0b0`, `\ue0b0`},
		{"wide", "日本語", "日本語", `\u65e5\u672c\u8a9e`},
		{"emoji", "🎉", "🎉", `\u{1f389}`},
		{"joined emoji", "👩\u200d💻", `👩\u200d💻`, `\u{1f469}\u200d\u{1f4bb}`},
		{"skin tone", "👍\U0001f3fd", `👍\u{1f3fd}`, `\u{1f44d}\u{1f3fd}`},
		{"emoji style", "❤\ufe0f", `❤\ufe0f`, `\u2764\ufe0f`},
		{"keycap", "1\ufe0f\u20e3", `1\ufe0f\u20e3`, `1\ufe0f\u20e3`},
		{"flag", "🇩🇪", "🇩🇪", `\u{1f1e9}\u{1f1ea}`},
		{"half a flag", "🇩x", `\u{1f1e9}x`, `\u{1f1e9}x`},
		{"accent", "e\u0301clair", "e\u0301clair", `e\u0301clair`},
		{"accent on nothing", "\u0301x", `\u0301x`, `\u0301x`},
		{"accent on a space", "a \u0301", `a \u0301`, `a \u0301`},
		{"accent on an escape", "\x1b\u0301", `\x1b\u0301`, `\x1b\u0301`},
		{"many accents", "e" + strings.Repeat("\u0301", 6), "e" + strings.Repeat("\u0301", 4) + `\u0301\u0301`, "e" + strings.Repeat(`\u0301`, 6)},
		{"filler", "a\u3164b", `a\u3164b`, `a\u3164b`},
	} {
		if got := string(Safe(tt.in, false)); got != tt.want {
			t.Errorf("%s: Safe(%q) = %q; want %q", tt.name, tt.in, got, tt.want)
		}
		if got := string(Safe(tt.in, true)); got != tt.ascii {
			t.Errorf("%s: Safe(%q) in ASCII = %q; want %q", tt.name, tt.in, got, tt.ascii)
		}
	}
}

// What Safe gives moves no cursor, hides nothing and has the same width
// whichever way a terminal counts.
func FuzzSafe(f *testing.F) {
	for _, s := range []string{"", "abc", "\x1b]0;own\a", "日本語 e\u0301", "🇩🇪🇩", "👩\u200d💻", "\xff\xfe", "क्षि", "\u202e\u2066", "1\ufe0f\u20e3", "ᄒ\u1161\u11ab"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, ascii := range []bool{false, true} {
			got := string(Safe(s, ascii))
			if !utf8.ValidString(got) {
				t.Fatalf("Safe(%q) = %q is not UTF-8", s, got)
			}
			for _, r := range got {
				if unicode.Is(unicode.C, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || isModifier(r) || ascii && r > 0x7e {
					t.Fatalf("Safe(%q) = %q holds %U", s, got, r)
				}
			}
			if again := string(Safe(got, ascii)); again != got {
				t.Fatalf("Safe is not stable: %q, then %q", got, again)
			}
			w := widths{}
			for _, n := range []int{1, 2, 5, 17} {
				cut, cells := w.cut(Text(got), n, "…")
				if cells > n || w.of(cut) != cells {
					t.Fatalf("cut(%q, %d) = %q of %d cells, said %d", got, n, cut, w.of(cut), cells)
				}
			}
			part, used := safeUpTo(s, ascii, 7)
			if used > 7+utf8.UTFMax || !strings.HasPrefix(got, string(part)) && used < len(s) && !strings.Contains(s, "\xf0") {
				t.Fatalf("safeUpTo(%q, 7) = %q, %d; want a beginning of %q", s, part, used, got)
			}
		}
	})
}

// Both ways of counting agree on what is sent, but for letters of scripts that
// join several to one cluster.
func TestWidthsAgree(t *testing.T) {
	for _, s := range []string{"日本語", "🎉🎉", "👩\u200d💻 dev", "🇩🇪 de", "❤\ufe0f vs16", "☺ text", "ｆｕｌｌ", "e\u0301clair", "🫠 new", "한글", "⌨\ufe0f kbd", "👍🏽"} {
		safe := string(Safe(s, false))
		if a, b := ansi.StringWidthWc(safe), ansi.StringWidth(safe); a != b {
			t.Errorf("%q: %d cells by characters, %d by clusters", safe, a, b)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		in   Text
		n    int
		want Text
	}{
		{"short", 5, "short"},
		{"shorter", 5, "shor…"},
		{"日本語", 4, "日…"},
		{"日本語", 5, "日本…"},
		{"日本語", 1, "…"},
		{"日本語", 0, ""},
		{"took 12345 ms", 9, "took …"},
		{"took 12,345 ms", 9, "took …"},
		{"12345", 4, "…"},
		{"v1.25 of it", 6, "v1.25…"},
		{"at 3.14159", 6, "at …"},
		{"e\u0301clair", 3, "e\u0301c…"},
		{"🇩🇪🇩🇪", 3, "🇩🇪…"},
	} {
		if got, cells := (widths{}).cut(tt.in, tt.n, "…"); got != tt.want || cells > tt.n {
			t.Errorf("cut(%q, %d) = %q, %d cells; want %q", tt.in, tt.n, got, cells, tt.want)
		}
	}
}

// No text makes a line slow: the time grows with the length and nothing else.
func TestSafeIsLinear(t *testing.T) {
	for _, s := range []string{"a", "e\u0301", "क्षि", "🇩🇪", "\u0301", "\x1b", "ᄒ", "\u200d", "ำ"} {
		begin := time.Now()
		safe := Safe(strings.Repeat(s, 1<<20/len(s)), false)
		(widths{}).cut(safe[:min(len(safe), 4096)], 80, "…")
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("a MiB of %q takes %v", s, took)
		}
	}
}
