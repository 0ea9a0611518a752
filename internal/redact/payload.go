package redact

import (
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Hits holds what was replaced as a whole in one payload, so that a header
// that mirrors it is replaced too. The zero Hits is empty. Only keyed hashes
// are kept.
type Hits struct{ sums map[uint64]struct{} }

func (h *Hits) add(sum uint64) {
	if h.sums == nil {
		h.sums = map[uint64]struct{}{}
	}
	if len(h.sums) < maxHits {
		h.sums[sum] = struct{}{}
	}
}

const maxHits = 4096

func (h *Hits) has(sum uint64) bool {
	if h == nil {
		return false
	}
	_, ok := h.sums[sum]
	return ok
}

// Payload replaces the secrets in a JSON-RPC payload: a message or a batch.
// If there are none it returns raw itself; else it appends to dst, which must
// not overlap raw. Text that is not JSON is searched as Text does.
func (e *Engine) Payload(dst, raw []byte) (out []byte, changed bool) {
	return e.PayloadHits(dst, raw, nil)
}

// PayloadHits is Payload and notes in hits, if it is not nil, what it replaced.
func (e *Engine) PayloadHits(dst, raw []byte, hits *Hits) (out []byte, changed bool) {
	if !e.Active() {
		return raw, false
	}
	if wire.Check(raw) != nil {
		return e.plain(dst, raw, hits)
	}
	w := e.begin(&e.rules)
	defer e.end(w)
	w.hits = hits
	edits := w.run(func() []edit {
		w.paths = e.rules.paths.selectIn(raw)
		return w.walk(raw, place{zone: zoneRoot, envelope: true}, 0)
	})
	if len(edits) == 0 {
		return raw, false
	}
	return apply(dst, raw, edits), true
}

// Text replaces the secrets in text that is no payload: standard error, stray
// output, a cut frame. JSON in it is searched by its members.
func (e *Engine) Text(s string) (string, bool) {
	if !e.Active() || s == "" {
		return s, false
	}
	out, changed := e.plain(nil, []byte(s), nil)
	if !changed {
		return s, false
	}
	return string(out), true
}

// plain is Text for bytes.
func (e *Engine) plain(dst, t []byte, hits *Hits) ([]byte, bool) {
	w := e.begin(&e.rules)
	defer e.end(w)
	w.hits = hits
	edits := w.run(func() []edit { return w.text(t) })
	if len(edits) == 0 {
		return t, false
	}
	out := apply(dst, t, edits)
	if wire.Check(out[len(dst):]) == nil && wire.Check(t) != nil {
		// What made it no JSON is gone: it must not be taken for a message.
		return append(dst, e.Mark(string(t))...), true
	}
	return out, true
}

// text collects what is to be replaced in text outside of JSON.
func (w *walker) text(t []byte) []edit {
	if looksLikeJSON(t) && wire.Check(t) == nil {
		return w.walk(t, place{}, 1)
	}
	l := &w.levels[0]
	l.edits = l.edits[:0]
	for _, x := range w.find(t, byAll) {
		mark := x.mark
		if mark == "" {
			mark = w.e.Mark(string(t[x.start:x.end]))
		}
		l.edits = append(l.edits, edit{start: x.start, end: x.end, repl: mark, kind: x.kind})
	}
	return l.edits
}

// run collects edits, remembers what was found, and collects again if that is
// new: it may stand in the same text in other places and forms.
func (w *walker) run(collect func() []edit) []edit {
	edits := collect()
	if len(w.learned) == 0 {
		return edits
	}
	learned := w.learned
	w.learned = nil
	w.e.mem.mu.RUnlock()
	for _, s := range learned {
		w.e.mem.add(s, w.e.Mark(s))
	}
	w.e.mem.mu.RLock()
	return collect()
}

// begin takes a walker and the read lock of the memory.
func (e *Engine) begin(r *rules) *walker {
	w, _ := e.pool.Get().(*walker)
	if w == nil {
		w = new(walker)
	}
	w.e, w.rules = e, r
	if w.names.rules != r {
		w.names = names{rules: r}
	}
	e.mem.mu.RLock()
	return w
}

// maxSpare is the largest buffer a walker keeps between runs.
const maxSpare = 2 << 20

// end gives back what begin took.
func (e *Engine) end(w *walker) {
	e.mem.mu.RUnlock()
	w.hits, w.lenient, w.learned, w.paths = nil, false, nil, nil
	if cap(w.masked) > maxSpare {
		w.masked = nil
	}
	if cap(w.spans)*64 > maxSpare {
		w.spans = nil
	}
	for i := range w.levels {
		l := &w.levels[i]
		if cap(l.buf) > maxSpare || cap(l.edits)*64 > maxSpare {
			*l = level{}
		}
	}
	e.pool.Put(w)
}

// Header replaces the value of a routing header (Mcp-Param-*, Mcp-Name) whose
// name is a key, that holds a secret, or that mirrors what hits says was
// replaced in the body. A value in the =?base64?...?= form is looked into.
func (e *Engine) Header(name, value string, hits *Hits) (string, bool) {
	if !e.Active() || value == "" || IsMark(value) {
		return value, false
	}
	text, encoded := decodeHeader(value)
	if hits.has(e.sum(text)) || e.rules.keys.kind([]byte(strings.TrimPrefix(strings.ToLower(name), "mcp-param-"))) != 0 {
		return e.argValue(text), true
	}
	out, changed := e.Text(text)
	switch {
	case !changed:
		return value, false
	case encoded:
		return e.Mark(text), true
	}
	return out, true
}

// Claim replaces the value of a claim of a token, as --observe-auth keeps them.
func (e *Engine) Claim(name, value string) (string, bool) {
	if !e.Active() || value == "" || IsMark(value) {
		return value, false
	}
	if e.rules.keys.kind([]byte(name)) != 0 {
		return e.Mark(value), true
	}
	return e.Text(value)
}
