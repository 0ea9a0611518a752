package checks

import (
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// tokens are the progress tokens that were offered in one client session
// (basic/utilities/progress). Those of answered requests are kept for a while,
// to tell a late notification from an unknown token.
type tokens struct {
	known map[tokenKey]*progress
	order []tokenKey
	full  bool // some were forgotten
}

type tokenKey struct {
	client bool // the client offered it
	token  wire.ID
}

// progress is what came for one token.
type progress struct {
	method, tool string
	id           wire.ID
	exchange     *exchange // of the request
	stream       *exchange // where the last notification came
	last         float64
	any          bool
	answered     bool
	answerOn     *exchange
	task         bool   // the request became a task: its token stays valid
	taskID       string // which, in 2025-11-25
	op           store.OpIndex
	total        float64
	hasTotal     bool
	second       int64 // when the second began that inSecond counts
	inSecond     int
}

func (t *tokens) get(client bool, token wire.ID) *progress { return t.known[tokenKey{client, token}] }

// offer notes the token of a request; an earlier use of it is over.
func (t *tokens) offer(client bool, token wire.ID, r *request) {
	if t.known == nil {
		t.known = map[tokenKey]*progress{}
	}
	k := tokenKey{client, token}
	if t.known[k] == nil {
		t.order = append(t.order, k)
		if len(t.order) > maxTokens {
			delete(t.known, t.order[0])
			t.order, t.full = t.order[1:], true
		}
	}
	t.known[k] = &progress{method: r.method, tool: r.tool, id: r.id, exchange: r.x, op: r.op}
}

// other is the token in the other type: 7 for "7".
func other(id wire.ID) wire.ID {
	s := strings.Trim(string(id), `"`)
	if s != string(id) {
		return wire.ID(s)
	}
	return wire.ID(`"` + s + `"`)
}
