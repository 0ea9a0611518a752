package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// choice is a flag that takes one of a few words.
type choice struct {
	value string
	words []string
}

func newChoice(value string, words ...string) *choice { return &choice{value, words} }

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.words, "|") }

func (c *choice) Set(s string) error {
	if slices.Contains(c.words, s) {
		c.value = s
		return nil
	}
	return fmt.Errorf("want %s", orList(c.words))
}

func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// size is a flag in bytes: 512, 64k, 16MiB, 1.5GB. k, M and G alone are powers
// of 1024, as kB, MB and GB are of 1000.
type size int64

func (s *size) String() string { return sizeText(int64(*s)) }
func (s *size) Type() string   { return "SIZE" }

func (s *size) Set(text string) error {
	n, err := parseSize(text)
	if err == nil {
		*s = size(n)
	}
	return err
}

var sizeUnits = []struct {
	name   string
	factor float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"b", 1}, {"", 1},
}

func parseSize(text string) (int64, error) {
	low := strings.ToLower(strings.TrimSpace(text))
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(low, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || strings.ContainsAny(digits, "xpein_") || n < 0 || n*u.factor > math.MaxInt64/2 {
			break
		}
		return int64(n * u.factor), nil
	}
	return 0, fmt.Errorf("want a size like 512, 64KiB or 16MiB")
}

// sizeText writes a size in the largest unit that it is a whole number of.
func sizeText(n int64) string {
	for _, u := range []struct {
		name   string
		factor int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.factor && n%u.factor == 0 {
			return strconv.FormatInt(n/u.factor, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

// roundSize writes a size for people, in at most four digits.
func roundSize(n int64) string {
	f := float64(n)
	for _, unit := range []string{"B", "KiB", "MiB", "GiB"} {
		if f < 1000 || unit == "GiB" {
			if unit == "B" || f >= 100 {
				return fmt.Sprintf("%.0f %s", f, unit)
			}
			return fmt.Sprintf("%.1f %s", f, unit)
		}
		f /= 1024
	}
	return ""
}

// words is a flag that takes words behind commas, and may be repeated.
type words struct {
	list  []string
	arg   string
	given bool
}

func newWords(arg, before string) *words { return &words{list: splitWords(before), arg: arg} }

func (w *words) String() string { return strings.Join(w.list, ",") }
func (w *words) Type() string   { return w.arg }

func (w *words) Set(s string) error {
	if !w.given {
		w.list, w.given = nil, true
	}
	w.list = append(w.list, splitWords(s)...)
	return nil
}

func splitWords(s string) []string {
	var out []string
	for _, p := range strings.Split(s, ",") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// texts is a flag that may be repeated; commas are part of the text.
type texts struct {
	list *[]string
	name string
}

func (t texts) String() string {
	if t.list == nil {
		return ""
	}
	return strings.Join(*t.list, " ")
}
func (t texts) Type() string       { return t.name }
func (t texts) Set(s string) error { *t.list = append(*t.list, s); return nil }

// addTexts defines a flag that may be repeated.
func addTexts(fs *pflag.FlagSet, list *[]string, name, arg, usage string) {
	fs.Var(texts{list, arg}, name, usage)
}
