package checks

import (
	"slices"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// ListedDefinitions reads what a server offers from a session that was indexed
// without an Engine that keeps it: the newest whole listing of each kind. A
// page that cannot be read, or was cut, leaves its kind out.
func ListedDefinitions(s *store.Session, body store.BodyFunc) *Definitions {
	sum := s.Summary()
	d := &Definitions{Origin: fingerprint(&sum.Meta), Kinds: map[string]Items{}, at: map[string]pos{}}
	for _, k := range defKinds() {
		l, ok := sum.Listing(k.method)
		if !ok || !l.Complete || len(l.Frames) < l.Pages {
			continue
		}
		w := defWalk{items: Items{}}
		if !slices.ContainsFunc(l.Frames, func(at uint32) bool { return !w.page(s, at, body, &k) }) {
			last := l.Frames[len(l.Frames)-1]
			d.Kinds[k.kind], d.at[k.kind] = w.items, pos{seq: s.Frame(last).Seq, frame: last, method: k.method}
		}
	}
	return d
}

// page takes a page of a listing from the log.
func (w *defWalk) page(s *store.Session, at uint32, body store.BodyFunc, k *defKind) bool {
	if s.Frame(at).Has(store.Truncated) {
		return false
	}
	b, err := body(s, at)
	if err != nil || wire.Check(b) != nil {
		return false
	}
	list := wire.Get(b, "result", k.kind)
	w.bytes += len(list)
	if wire.TypeOf(list) != wire.Array || w.bytes > maxDefBytes {
		return false
	}
	w.take(list, k)
	return len(w.items) <= maxDefItems
}

// At is the frame that ended the listing of a kind.
func (d *Definitions) At(kind string) (frame uint32, ok bool) {
	p, ok := d.at[kind]
	return p.frame, ok
}
