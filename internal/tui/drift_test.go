package tui

import (
	"errors"
	"testing"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// wantDrift looks for the number in the column of the selected session.
func (d *desk) wantDrift(want int) *desk {
	d.t.Helper()
	s := d.m.top().(*sessions)
	if got := s.drift.of(s.selected()); got != want {
		d.t.Errorf("drift of %s is %d; want %d:\n%s", s.selected().ID, got, want, d.screen())
	}
	return d
}

// Without a baseline the first session of a server is what others are compared
// with; d shows what has changed since.
func TestDrift(t *testing.T) {
	d := sitDown(t, releases(), 140, 30, Options{})
	d.want("DRIFT").keys("g").wantSelected("2b0b", " 6 ").wantDrift(6)
	d.keys("d").want("› compare", "tickets 2b0a → tickets 2b0b", "readOnlyHint").keys("esc")
	d.keys("j").wantSelected("2b0a").wantDrift(-1)
	d.keys("d").want("mark two sessions")
	d.keys("D").want("sorted by DRIFT").keys("g").wantSelected("2b0b")
}

// A baseline counts for its label, and only for the server that it is of.
func TestDriftFromBaseline(t *testing.T) {
	f := releases()
	body := store.NewBodyFunc(f)
	later := checks.ListedDefinitions(f.list[0], body)
	for _, tt := range []struct {
		name          string
		base          func(label string) (*checks.Baseline, error)
		first, second int
	}{
		{"of the later one", func(label string) (*checks.Baseline, error) {
			return checks.NewBaseline(label, f.list[0].ID, start, later), nil
		}, 0, 6},
		{"of another server", func(label string) (*checks.Baseline, error) {
			other := *later
			other.Origin = "sha256:other"
			return checks.NewBaseline(label, "x", start, &other), nil
		}, -1, -1},
		{"unreadable", func(string) (*checks.Baseline, error) { return nil, errors.New("no") }, 6, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := sitDown(t, f, 140, 30, Options{Baseline: tt.base})
			d.keys("g").wantDrift(tt.first).keys("j").wantDrift(tt.second)
		})
	}
}

// What counts as drift is what the drift rules of a check find.
func TestDriftIsThatOfTheRules(t *testing.T) {
	f := releases()
	body := store.NewBodyFunc(f)
	base := checks.NewBaseline("tickets", "x", start, checks.ListedDefinitions(f.list[1], body))
	engine := checks.NewEngine(checks.Options{Definitions: true})
	s, a := store.NewSession(f.list[0].ID, f.list[0].Path, store.Limits{}, engine)
	for i := range f.list[0].Len() {
		rec, err := f.Body(f.list[0], i)
		if err != nil {
			t.Fatal(err)
		}
		a.Append(&capture.Item{Line: int(i) + 1, Record: rec})
	}
	a.Publish()
	engine.SetBaseline(base, "", nil)
	engine.Finish(s)
	rules := 0
	for _, x := range engine.Findings() {
		if x.Signal == checks.Drift {
			rules += x.Count
		}
	}
	if got := len(base.Changes(checks.ListedDefinitions(f.list[0], body))); got != rules || got != 6 {
		t.Errorf("%d changes; the rules find %d, and 6 were made", got, rules)
	}
}
