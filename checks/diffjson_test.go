package checks

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// What the caller takes for the same is no change, and everything below it is
// not looked at.
func TestDiffJSONSame(t *testing.T) {
	a := `{"id":1,"at":{"time":"10:00","by":"x"},"list":[1,{"a":"old"}],"gone":0}`
	b := `{"list":[1,{"a":"new"}],"at":{"time":"11:00","by":"y"},"id":1,"new":0}`
	for ignored, want := range map[string]string{
		"":                       `/at/by was "x" and is "y"; /at/time was "10:00" and is "11:00"; /gone is gone: 0; /list/1/a was "old" and is "new"; /new is new: 0`,
		"/at":                    `/gone is gone: 0; /list/1/a was "old" and is "new"; /new is new: 0`,
		"/at /gone /list/1 /new": ``,
	} {
		var got []string
		for _, c := range DiffJSON([]byte(a), []byte(b), func(path string, _, _ []byte) bool {
			return strings.Contains(" "+ignored+" ", " "+path+" ") && path != ""
		}) {
			got = append(got, c.String())
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("without %q:\n%s\nwant\n%s", ignored, s, want)
		}
	}
}

// Of long values that begin alike, the place where they part is shown.
func TestExcerpts(t *testing.T) {
	same := strings.Repeat("ä long text, ", 40)
	for _, tt := range []struct{ a, b, old, now string }{
		{`"x"`, `"y"`, `"x"`, `"y"`},
		{`"` + same + `one"`, `"` + same + `two"`, `one"`, `two"`},
		{`"` + same + `\n"`, `"` + same + `\t"`, `\n"`, `\t"`},
	} {
		old, now := excerpts(tt.a, tt.b)
		if !strings.HasSuffix(old, tt.old) || !strings.HasSuffix(now, tt.now) || len(old) > maxExcerpt+20 || !utf8.ValidString(old) {
			t.Errorf("%.20q… and %.20q…: %q and %q", tt.a, tt.b, old, now)
		}
	}
	for _, pair := range [][2]string{{same, ""}, {same, "z" + same}} {
		if old, _ := excerpts(pair[0], pair[1]); !strings.HasPrefix(old, "ä long") {
			t.Errorf("%q is not shown from its beginning", old)
		}
	}
}
