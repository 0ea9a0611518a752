package export

import (
	"cmp"
	"context"
	"fmt"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// How much Suspects looks at. A log up to wholeSearch is searched as a whole;
// of a longer one the first frames of each kind, and frames all over it.
const (
	wholeSearch = 8 << 20 // bytes
	ofEachKind  = 32      // frames
	suspectsMax = 3       // places that are named
)

// Suspect is a place that looks like a secret.
type Suspect struct {
	What  string // the kind of secret
	Where string // "#12", or "the command line"
}

// Suspects looks for what seems to be a secret in what is exported, for a
// warning before it is handed on. It names the first few places. Of a long log
// it searches a part: that nothing is found proves nothing, as verify does.
func (in *Input) Suspects(ctx context.Context) ([]Suspect, error) {
	e, err := redact.New(redact.Config{Secrets: true})
	if err != nil {
		return nil, fmt.Errorf("look for secrets: %w", err)
	}
	r := newBodyReader(in)
	var found []Suspect
	for _, s := range in.Sessions() {
		if _, secret := e.Argv(s.Summary().Meta.Command); secret {
			found = append(found, Suspect{"argument", "the command line"})
		}
		more, err := suspectFrames(ctx, e, r, s, suspectsMax-len(found))
		if err != nil {
			return nil, err
		}
		if found = append(found, more...); len(found) >= suspectsMax {
			break
		}
	}
	return found, nil
}

// suspectFrames searches the frames of one session until it has found n.
func suspectFrames(ctx context.Context, e *redact.Engine, r *bodyReader, s *Session, n int) ([]Suspect, error) {
	type class struct {
		kind         store.Kind
		method, name string
	}
	seen := map[class]int{}
	stride := uint32(s.Summary().Size/wholeSearch) + 1
	var found []Suspect
	var rec capture.Record
	for i := range s.Len() {
		if len(found) >= n {
			break
		}
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !s.has(i) {
			continue
		}
		f := s.Frame(i)
		c := class{kind: f.Kind, method: s.Method(f)}
		if op, ok := f.Op(); ok {
			c.name = s.OpName(s.Op(op))
		}
		if seen[c]++; seen[c] > ofEachKind && i%stride != 0 {
			continue
		}
		if err := r.read(s, i, &rec); err != nil {
			return nil, err
		}
		if what := suspicious(e.Leaks(rec.Body())); what != "" {
			found = append(found, Suspect{what, fmt.Sprintf("#%d", f.Seq)})
		}
	}
	return found, nil
}

// suspicious names what is found in a frame, "" for nothing.
func suspicious(leaks []redact.Leak) string {
	what := ""
	for _, l := range leaks {
		switch l.Kind {
		case redact.HighEntropy:
		case "known-value": // of a secret that was met before: its first kind says more
			what = cmp.Or(what, "a value seen elsewhere")
		default:
			return l.Kind
		}
	}
	return what
}
