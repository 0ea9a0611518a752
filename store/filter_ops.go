package store

import (
	"strconv"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// The leaves of terms that are about an operation: all its frames match, and
// those of its retries.

// substring makes the test of a text: anywhere in it, whatever the case, or exactly.
func substring(v value) (test func(string) bool, l *leaf) {
	if v.op == ":=" {
		return func(s string) bool { return s == v.text }, &leaf{cost: ofOperation}
	}
	f := newFinder(v.text)
	return f.inString, &leaf{cost: ofOperation, field: v.term.Name, needle: f.folded}
}

func toolLeaf(v value) (*leaf, error) {
	test, l := substring(v)
	memo := newMemo(test)
	l.memo = memo
	l.test = func(m *matcher) bool {
		return m.f.Has(IsTool) && memo.name(m, m.ops()[0].name)
	}
	return l, nil
}

func methodLeaf(v value) (*leaf, error) {
	test, l := substring(v)
	memo := newMemo(test)
	l.memo = memo
	l.test = func(m *matcher) bool {
		return memo.name(m, m.f.method) || m.f.op > 0 && m.own().method != m.f.method && memo.name(m, m.own().method)
	}
	return l, nil
}

func labelLeaf(v value) (*leaf, error) {
	test, l := substring(v)
	l.test = func(m *matcher) bool { return test(m.summary().Label) }
	return l, nil
}

func idLeaf(v value) (*leaf, error) {
	number, text := wire.ID(""), wire.ID(wire.AppendString(nil, v.text))
	if wire.Check([]byte(v.text)) == nil {
		number = wire.ParseID([]byte(v.text))
	}
	fits := func(id wire.ID) bool { return id == text || id != "" && id == number }
	return &leaf{cost: ofOperation, state: true, test: func(m *matcher) bool {
		if m.f.op == 0 {
			switch m.f.Kind {
			case KindResult, KindError, KindRequest:
				return fits(wire.ParseMessage(m.body()).ID)
			}
			return false
		}
		return m.any(func(o *Operation) bool { return fits(o.ID) })
	}}, nil
}

func taskLeaf(v value) (*leaf, error) {
	test, l := substring(v)
	l.state = true
	l.test = func(m *matcher) bool {
		return m.any(func(o *Operation) bool {
			if o.task > 0 && test(*m.s.names.list.read(o.task)) {
				return true
			}
			return strings.HasPrefix(m.s.OpMethod(o), "tasks/") && test(m.s.OpName(o))
		})
	}
	return l, nil
}

func connLeaf(v value) (*leaf, error) {
	return &leaf{cost: ofOperation, test: func(m *matcher) bool {
		return m.s.Conn(m.i) == v.text || m.f.op > 0 && m.s.Conn(m.own().Request) == v.text
	}}, nil
}

func ruleLeaf(v value) (*leaf, error) {
	test, l := substring(v)
	l.state = true
	l.test = func(m *matcher) bool {
		found := m.any(func(o *Operation) bool {
			for _, r := range o.marked() {
				if test(*m.s.marks.rules.list.read(r)) {
					return true
				}
			}
			return false
		})
		if !found && m.f.op == 0 {
			m.s.Marks(m.i, func(rule string, _ Signal) bool {
				found = test(rule)
				return !found
			})
		}
		return found
	}
	return l, nil
}

func signalLeaf(v value) (*leaf, error) {
	if err := choose(v); err != nil {
		return nil, err
	}
	for _, g := range Signals() {
		if g.String() == v.text {
			return &leaf{cost: ofOperation, state: true, test: func(m *matcher) bool { return m.signal(g) }}, nil
		}
	}
	panic("signal words and signals differ")
}

func (m *matcher) signal(g Signal) bool {
	if m.f.op > 0 {
		return m.any(func(o *Operation) bool { return o.signals.has(g) })
	}
	found := false
	m.s.Marks(m.i, func(_ string, have Signal) bool {
		found = have == g
		return !found
	})
	return found
}

func revLeaf(v value) (*leaf, error) {
	test, l := substring(v)
	l.state = true
	fits := func(r revision) bool {
		rev, _ := r.unpack()
		return test(string(rev))
	}
	l.test = func(m *matcher) bool {
		if m.f.op == 0 {
			return fits(m.f.rev)
		}
		return m.any(func(o *Operation) bool { return fits(o.rev) })
	}
	return l, nil
}

func statusLeaf(v value) (*leaf, error) {
	l := &leaf{cost: ofOperation, state: true}
	if n, err := strconv.Atoi(v.text); err == nil && n >= 100 && n <= 599 && len(v.text) == 3 {
		l.test = func(m *matcher) bool {
			return int(m.f.Status) == n || m.any(func(o *Operation) bool { return int(o.Status) == n })
		}
		return l, nil
	}
	if err := choose(v); err != nil {
		return nil, err
	}
	l.test = statusTests[v.text]
	return l, nil
}

// statusTests say what the words behind status: mean. Of a chain, the last
// request tells how the call went.
var statusTests = map[string]func(*matcher) bool{
	"ok":    func(m *matcher) bool { return m.state(OK) },
	"error": func(m *matcher) bool { return m.failed() },
	"err": func(m *matcher) bool {
		return m.failed() || m.f.Status >= 400 || m.any(func(o *Operation) bool { return o.Status >= 400 })
	},
	"cancel":    func(m *matcher) bool { return m.state(Cancelled) },
	"late":      func(m *matcher) bool { return m.any(func(o *Operation) bool { return o.late > 0 }) },
	"cancelled": func(m *matcher) bool { return m.any(func(o *Operation) bool { return o.TaskState == TaskCancelled }) },
	"pending":   func(m *matcher) bool { return m.state(Pending) },
	"bad":       func(m *matcher) bool { return m.signal(SignalInvalid) },
	"warn":      func(m *matcher) bool { return m.signal(SignalWarn) },
	"mismatch":  func(m *matcher) bool { return m.signal(SignalMismatch) },
}

// failed also holds for an error that answers no request.
func (m *matcher) failed() bool { return m.state(Failed) || m.f.op == 0 && m.f.Kind == KindError }

func durLeaf(v value) (*leaf, error) {
	d, err := parseSpan(v.text)
	if err != nil {
		return nil, v.bad(quote(v.text) + " is no duration: for example 200ms, 2s or 1m30s")
	}
	ok := comparison(v.op)
	return &leaf{cost: ofOperation, state: true, spans: []time.Duration{d}, test: func(m *matcher) bool {
		ops := m.ops()
		if len(ops) == 0 {
			return false
		}
		last := ops[len(ops)-1]
		end := last.Finish
		if end == 0 {
			end = max(last.Start, m.now)
		}
		return ok(compareInt(end-ops[0].Start, int64(d)))
	}}, nil
}

func tripsLeaf(v value) (*leaf, error) {
	n, err := parseCount(v.text)
	if err != nil {
		return nil, v.bad(err.Error())
	}
	ok := comparison(v.op)
	return &leaf{cost: ofOperation, state: true, test: func(m *matcher) bool {
		ops := m.ops()
		return len(ops) > 0 && ok(compareInt(int64(ops[len(ops)-1].Trip()), n))
	}}, nil
}
