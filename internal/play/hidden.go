package play

import (
	"strconv"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// hidden finds the first string of a JSON value that holds a mark of redaction,
// as a JSON pointer behind the name of the value. The value is well-formed, so
// its depth is bounded.
func hidden(v []byte, at string) (string, bool) {
	switch wire.TypeOf(v) {
	case wire.String:
		s, ok := wire.Text(v)
		return at, ok && redact.HasMark(s)
	case wire.Object:
		m := wire.MembersOf(v)
		for m.Next() {
			name := at + "/" + pointer(string(m.Key))
			if redact.HasMark(string(m.Key)) {
				return name, true
			}
			if found, ok := hidden(m.Value, name); ok {
				return found, true
			}
		}
	case wire.Array:
		e := wire.ElementsOf(v)
		for i := 0; e.Next(); i++ {
			if found, ok := hidden(e.Value, at+"/"+strconv.Itoa(i)); ok {
				return found, true
			}
		}
	}
	return "", false
}

// pointer writes a name as one step of a JSON pointer (RFC 6901).
func pointer(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
