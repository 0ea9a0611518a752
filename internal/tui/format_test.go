package tui

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		got, want Text
	}{
		{count(0), "0"}, {count(999), "999"}, {count(1204), "1,204"}, {count(1000000), "1,000,000"}, {count(-1500), "-1,500"},
		{shortCount(9999), "9999"}, {shortCount(12345), "12.3k"}, {shortCount(999499), "999k"}, {shortCount(1000000), "1.0M"},
		{size(214), "214 B"}, {size(1023), "1023 B"}, {size(1024), "1.0 KiB"}, {size(16 << 20), "16.0 MiB"}, {size(200 << 20), "200 MiB"},
		{duration(0), "0.0ms"}, {duration(300 * time.Microsecond), "0.3ms"}, {duration(120 * time.Millisecond), "120ms"},
		{duration(3620 * time.Millisecond), "3.62s"}, {duration(41800 * time.Millisecond), "41.8s"}, {duration(59960 * time.Millisecond), "1m00s"},
		{duration(192 * time.Second), "3m12s"}, {duration(time.Hour - time.Millisecond), "1h00m"}, {duration(125 * time.Minute), "2h05m"}, {duration(76 * time.Hour), "3d04h"},
		{waited(41900 * time.Millisecond), "41s"}, {waited(61 * time.Second), "1m01s"},
		{age(30 * time.Second), "now"}, {age(5 * time.Minute), "5m"}, {age(30 * time.Hour), "30h"}, {age(100 * 24 * time.Hour), "100d"}, {age(1000 * 24 * time.Hour), "2y"},
		{plural(1, "call", "calls"), "1 call"}, {plural(1234, "call", "calls"), "1,234 calls"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q; want %q", tt.got, tt.want)
		}
	}
}

// Whatever the value, it fits into the column that is made for it.
func TestNumbersFit(t *testing.T) {
	for d := time.Duration(1); d > 0 && d < 99*24*time.Hour; d = d*5/4 + 1 {
		if s := duration(d); len(s) > 6 {
			t.Errorf("duration(%d) = %q: more than 6 cells", d, s)
		}
	}
	for n := int64(1); n > 0 && n < 900<<40; n = n*7/5 + 1 {
		if s := size(n); len(s) > 8 {
			t.Errorf("size(%d) = %q: more than 8 cells", n, s)
		}
		if s := shortCount(n); n < 1e9 && len(s) > 5 {
			t.Errorf("shortCount(%d) = %q: more than 5 cells", n, s)
		}
	}
}

// The book names every key.
func TestDocsNameEveryKey(t *testing.T) {
	doc, err := os.ReadFile("../../docs/UI.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range bindings {
		key := map[Text]string{"left": "←", "right": "→"}[b.shown]
		if key == "" {
			key = string(b.shown)
		}
		if !strings.Contains(string(doc), "`"+key+"`") {
			t.Errorf("docs/UI.md does not name %s: %s", key, b.help)
		}
	}
	for _, c := range commands() {
		if !strings.Contains(string(doc), "`"+string(c.name)+"`") {
			t.Errorf("docs/UI.md does not name :%s", c.name)
		}
	}
}
