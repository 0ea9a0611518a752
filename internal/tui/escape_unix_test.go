//go:build unix

package tui

import (
	"os"
	"testing"
)

func TestALoneEscIsAKeyAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, sent, want string }{
		{"alone", "\x1b", escKey},
		{"with the rest of its sequence", "\x1b[A", "\x1b[A"},
		{"with another key", "\x1bx", "\x1bx"},
		{"pressed twice", "\x1b\x1b", "\x1b\x1b"},
		{"another key", "q", "q"},
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteString(c.sent); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 64)
		n, err := promptEsc(r).Read(buf)
		if got := string(buf[:n]); err != nil || got != c.want {
			t.Errorf("%s: read %q, %v, want %q", c.name, got, err, c.want)
		}
		_ = w.Close()
		_ = r.Close()
	}
}
