package capture

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The short way through a line and the long way give the same, whatever the
// line before was.
func TestLineHead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in interned
		for range rapid.IntRange(1, 8).Draw(t, "lines") {
			rec := drawRecord(t)
			rec.SessionID = rapid.SampledFrom([]string{"a-1-000000000000", "b-1-000000000000", `odd "name"`, ""}).Draw(t, "session id")
			rec.Label = rapid.SampledFrom([]string{"a", "é", `q"`}).Draw(t, "server label")
			line := bytes.TrimSuffix(AppendRecord(nil, &rec), []byte("\n"))
			if rapid.IntRange(0, 3).Draw(t, "edit") == 0 { // other spellings, and damage
				was := rapid.SampledFrom([]string{`,"ts"`, `"seq":`, `"c2s"`, `Z"`, `T`, `:`, `"transport":"stdio"`, `stdio"`, `20`, `{`}).Draw(t, "was")
				is := rapid.SampledFrom([]string{"", " ", `,"seq":7,"x":"y","ts"`, `"direction":"end","`, `"s2c\u0031"`, `+01:00"`, `99`, `"transport":"smoke signals"`, `-`}).Draw(t, "is")
				line = []byte(strings.Replace(string(line), was, is, 1))
			}
			var short, long Record
			err1 := parseRecord(line, &short, &in)
			err2 := parseRecord(line, &long, nil)
			if (err1 == nil) != (err2 == nil) || err1 == nil && !reflect.DeepEqual(short, long) {
				t.Fatalf("%s:\n%+v %v\n%+v %v", line, short, err1, long, err2)
			}
		}
	})
}
