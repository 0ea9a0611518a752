package play

import (
	"fmt"
	"strconv"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// talk is what a server says while one request is under way.
type talk struct {
	progress, logs, strays int
	stray                  string // the first of them
	late                   int    // answers to other requests
	asked                  map[string]int
	order                  []string
}

// maxAsked bounds the methods of the server that are told apart.
const maxAsked = 16

// take looks at a message. answers reports that it is the answer to the request
// with that id; else reply is what the server gets for it, nil for nothing.
func (t *talk) take(message []byte, id int64) (answers bool, reply []byte) {
	if wire.Check(message) != nil {
		t.noise(message)
		return false, nil
	}
	m := wire.ParseMessage(message)
	switch m.Kind {
	case wire.Result, wire.Error:
		if m.ID == wire.ID(strconv.FormatInt(id, 10)) || m.ID == "null" || m.ID == "" && m.Kind == wire.Error {
			return true, nil
		}
		t.late++
	case wire.Notification:
		switch string(m.Method) {
		case mcp.ProgressNote:
			t.progress++
		case mcp.LogNote:
			t.logs++
		}
	case wire.Request:
		return false, t.reply(&m)
	default:
		t.noise(message)
	}
	return false, nil
}

// noise notes what is no message.
func (t *talk) noise(b []byte) {
	if t.strays++; t.strays == 1 {
		t.stray = clip(string(b), 120)
	}
}

// reply answers a request of the server: nobody sits here who could be asked,
// and no model. Its code is the one that the specification has for a user who
// says no (client/sampling#error-handling).
func (t *talk) reply(m *wire.Message) []byte {
	method := clip(string(m.Method), 60)
	if t.asked == nil {
		t.asked = map[string]int{}
	}
	if t.asked[method] == 0 && len(t.order) < maxAsked {
		t.order = append(t.order, method)
	}
	if len(t.asked) < maxAsked || t.asked[method] > 0 {
		t.asked[method]++
	}
	b := append([]byte(`{"jsonrpc":"2.0","id":`), m.ID...)
	switch string(m.Method) {
	case mcp.Ping:
		return append(b, `,"result":{}}`...)
	case mcp.RootsList:
		return append(b, `,"result":{"roots":[]}}`...)
	case mcp.CreateMessage, mcp.Elicit:
		b = append(b, `,"error":{"code":-1,"message":`...)
		return append(wire.AppendString(b, "mcpsnoop replays a call: nobody can answer "+method+" here"), "}}"...)
	}
	b = append(b, `,"error":{"code":`+methodNotFound+`,"message":`...)
	return append(wire.AppendString(b, "mcpsnoop replays a call and does not serve "+method), "}}"...)
}

// notes tell what was said, in words.
func (t *talk) notes() []string {
	var out []string
	for _, method := range t.order {
		how := "answered with an error: nobody can be asked here"
		switch method {
		case mcp.Ping:
			continue
		case mcp.RootsList:
			how = "answered with no roots"
		}
		out = append(out, fmt.Sprintf("the server asked %s%s, which was %s", method, times(t.asked[method]), how))
	}
	for _, c := range []struct {
		n    int
		what string
	}{{t.progress, "progress notification"}, {t.logs, "log message"}, {t.late, "answer to no request of the replay"}} {
		if c.n > 0 {
			out = append(out, "with "+plural(c.n, c.what))
		}
	}
	if t.strays > 0 {
		out = append(out, fmt.Sprintf("%s that is no message: %q", plural(t.strays, "line"), t.stray))
	}
	return out
}

func times(n int) string {
	if n == 1 {
		return ""
	}
	return " " + strconv.Itoa(n) + " times"
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if what == "answer to no request of the replay" {
		return strconv.Itoa(n) + " answers to no request of the replay"
	}
	return strconv.Itoa(n) + " " + what + "s"
}
