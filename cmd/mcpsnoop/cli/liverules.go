package cli

import (
	"maps"
	"strings"
	"sync"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// liveRules makes the rules run over sessions while their frames arrive. What
// they find is marked on the frames; the words of it are kept here, bounded,
// for viewers. Its methods are safe for concurrent use.
type liveRules struct {
	there func() []*store.Session // the sessions that there are; nil keeps all

	mu   sync.Mutex
	said map[*store.Session]*said
}

// maxSaid is how many findings of a session are kept in words, beside the
// first one of each rule.
const maxSaid = 128

// said is what the rules said of one session.
type said struct {
	first map[string]sentence // by rule: the earliest frame
	last  []sentence          // a ring
	next  int
}

// sentence is a finding in words.
type sentence struct {
	rule    string
	frame   uint32
	message string
}

func newLiveRules() *liveRules { return &liveRules{said: map[*store.Session]*said{}} }

// observe makes the observer of a session.
func (l *liveRules) observe(s *store.Session, a *store.Appender) store.Observer {
	return checks.NewEngine(checks.Options{Mark: a.Mark, Found: func(f *checks.Finding) { l.keep(s, f) }})
}

func (l *liveRules) keep(s *store.Session, f *checks.Finding) {
	if f.Message == "" || !f.HasFrame {
		return
	}
	x := sentence{f.Rule.ID, f.Frame, f.Message}
	if f.Tool != "" && !strings.Contains(f.Message, f.Tool) {
		x.message = f.Tool + ": " + f.Message
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.said[s]
	if t == nil {
		l.forget()
		t = &said{first: map[string]sentence{}}
		l.said[s] = t
	}
	if old, ok := t.first[x.rule]; !ok || x.frame < old.frame {
		t.first[x.rule] = x
	}
	if len(t.last) < maxSaid {
		t.last = append(t.last, x)
		return
	}
	t.last[t.next] = x
	t.next = (t.next + 1) % maxSaid
}

// forget drops what was said of sessions that are gone. Called with mu held.
func (l *liveRules) forget() {
	if l.there == nil {
		return
	}
	there := map[*store.Session]bool{}
	for _, s := range l.there() {
		there[s] = true
	}
	maps.DeleteFunc(l.said, func(s *store.Session, _ *said) bool { return !there[s] })
}

// Message is what a rule said on a frame; "" when that is not known any more.
func (l *liveRules) Message(s *store.Session, rule string, frame uint32) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.said[s]
	if t == nil {
		return ""
	}
	if x, ok := t.first[rule]; ok && x.frame == frame {
		return x.message
	}
	for _, x := range t.last {
		if x.frame == frame && x.rule == rule {
			return x.message
		}
	}
	return ""
}
