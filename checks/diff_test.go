package checks

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// keeper is an engine that keeps the bodies, for those who read them again.
type keeper struct {
	*Engine
	bodies map[uint32][]byte
}

func (k *keeper) Observe(ev *store.Event) {
	k.Engine.Observe(ev)
	if ev.Frame != nil {
		k.bodies[ev.Index] = bytes.Clone(ev.Rec.Body())
	}
}

func (k *keeper) body(_ *store.Session, i uint32) ([]byte, error) {
	if b, ok := k.bodies[i]; ok {
		return b, nil
	}
	return nil, errors.New("gone")
}

// recorded plays a script, and gives its side of a comparison.
func recorded(t testing.TB, script string) (*player, *keeper) {
	t.Helper()
	p := newPlayer(t, Options{Definitions: true})
	k := &keeper{p.e, map[uint32][]byte{}}
	p.s, p.a = store.NewSession(p.s.ID, p.s.Path, store.Limits{}, k)
	for l := range strings.Lines(script) {
		if l = strings.TrimSpace(l); l != "" {
			p.do(l)
		}
	}
	p.begin()
	p.a.Publish()
	return p, k
}

const offering = `
meta {"command":["node","server.js"]}
@init 2025-11-25 {"tools":{},"prompts":{},"resources":{}} {}
> {$J,"id":1,"method":"tools/list"}
< {$J,"id":1,"result":{"tools":[{"name":"a","description":"A","inputSchema":{"type":"object"}}],"nextCursor":"p2"}}
> {$J,"id":2,"method":"tools/list","params":{"cursor":"p2"}}
< {$J,"id":2,"result":{"tools":[{"name":"b","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}]}}
> {$J,"id":3,"method":"prompts/list"}
< {$J,"id":3,"result":{"prompts":[{"name":"p","arguments":[{"name":"x"}]}]}}
> {$J,"id":4,"method":"resources/list"}
< {$J,"id":4,"result":{"resources":[{"uri":"file:///a","name":"a"}],"nextCursor":"more"}}
`

// What is read again out of the log is what the engine kept as it came.
func TestListedDefinitions(t *testing.T) {
	p, k := recorded(t, offering)
	want, got := p.e.Definitions(), ListedDefinitions(p.s, k.body)
	if got.Origin != want.Origin || got.Origin == "" || !reflect.DeepEqual(got.Kinds, want.Kinds) {
		t.Errorf("read again: %+v\nkept: %+v", got, want)
	}
	if len(got.Kinds["tools"]) != 2 || len(got.Kinds["prompts"]) != 1 || got.Kinds["resources"] != nil {
		t.Errorf("kinds %+v; want two tools, a prompt, and no resources: their listing was not whole", got.Kinds)
	}
	if at, ok := got.At("tools"); !ok || p.s.Method(p.s.Frame(at)) != "tools/list" || at != want.at["tools"].frame {
		t.Errorf("the tools end at frame %d, %v", at, ok)
	}
	if _, ok := got.At("resources"); ok {
		t.Error("resources have an end")
	}
	delete(k.bodies, want.at["tools"].frame)
	if got := ListedDefinitions(p.s, k.body); got.Kinds["tools"] != nil || got.Kinds["prompts"] == nil {
		t.Errorf("with a page that cannot be read: %+v", got.Kinds)
	}
}

// calling is a session of n calls whose answers differ by session.
func calling(t testing.TB, n int, answer string) (*player, *keeper) {
	var s strings.Builder
	s.WriteString("@init 2025-11-25 {\"tools\":{}} {}\n")
	for i := range n {
		fmt.Fprintf(&s, "> {$J,\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":\"t%d\",\"arguments\":{\"i\":%d}}}\n", i+10, i%3, i)
		fmt.Fprintf(&s, "< {$J,\"id\":%d,\"result\":{\"content\":[],\"structuredContent\":%s}}\n", i+10, answer)
	}
	return recorded(t, s.String())
}

func side(p *player, k *keeper) DiffSide { return DiffSide{Session: p.s, Body: k.body} }

// A comparison tells how far it is and ends when it is told to; what it keeps
// is bounded, and what it leaves out is counted.
func TestCompareSteps(t *testing.T) {
	a, b := side(calling(t, 600, `{"v":1}`)), side(calling(t, 600, `{"v":2}`))
	steps, last := 0, 0
	d := Compare(a, b, DiffOptions{Threshold: time.Second, Ratio: 2, Step: func(done, total int) bool {
		if done < last || done > total {
			t.Errorf("step %d of %d after %d", done, total, last)
		}
		steps, last = steps+1, done
		return true
	}})
	if steps < 4 || d.Stopped || d.Matched != 600 || len(d.Calls) != 600 || d.Calls[7].What != "answer" || d.Calls[7].Arguments != `{"i":7}` {
		t.Errorf("%d steps, stopped %v, %d matched, %d differ, one is %+v", steps, d.Stopped, d.Matched, len(d.Calls), d.Calls[7])
	}
	d = Compare(a, b, DiffOptions{Step: func(done, total int) bool { return done < total/2 }})
	if !d.Stopped || d.Matched > 0 || len(d.OnlyA) > 0 {
		t.Errorf("stopped %v, %d matched, %v only in one", d.Stopped, d.Matched, d.OnlyA)
	}
}

func TestCompareIsBounded(t *testing.T) {
	many := `{"a":%d,"b":%d,"c":%d,"d":%d}`
	a, b := side(calling(t, maxCallChanges+50, fmt.Sprintf(many, 1, 1, 1, 1))), side(calling(t, maxCallChanges+50, fmt.Sprintf(many, 2, 2, 2, 2)))
	d := Compare(a, b, DiffOptions{Threshold: time.Second, Ratio: 2})
	if len(d.Calls) != maxCallChanges || d.Skipped != 50 || d.Matched != maxCallChanges+50 {
		t.Fatalf("%d differ, %d skipped, %d matched", len(d.Calls), d.Skipped, d.Matched)
	}
	kept := 0
	for _, c := range d.Calls {
		kept += len(c.Changes)
		if len(c.Changes)+c.More != 4 {
			t.Fatalf("%d changes and %d more; want 4 in all", len(c.Changes), c.More)
		}
	}
	if kept > maxAnswerChanges+maxCallChanges {
		t.Errorf("%d changes are kept", kept)
	}
	var out bytes.Buffer
	if err := d.WriteText(&out, "a", "b"); err != nil || !strings.Contains(out.String(), "50 more were not compared") || !strings.Contains(out.String(), "(and 3 more)") {
		t.Errorf("%v; the text does not say what was left out", err)
	}
}
