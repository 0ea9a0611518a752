package checks

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"regexp"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Definitions are what a server offers: one whole listing of each kind, field
// by field, in canonical JSON.
type Definitions struct {
	Origin string           // fingerprint of the command or the origin of the server; "" when it is not known
	Kinds  map[string]Items // tools, prompts, resources, resourceTemplates; what was listed to its end

	at map[string]pos // where the listing of a kind ended
}

// Items are the definitions of one kind by name (or URI).
type Items map[string]Fields

// Fields are the members of a definition that are tracked.
type Fields map[string]string

// defKind is a kind of definitions.
type defKind struct {
	method, kind, key string
	fields            []string
}

// defKinds are the kinds and the fields that are tracked of them. A baseline
// says which ones it has, so fields may be added.
func defKinds() []defKind {
	return []defKind{
		{mcp.ToolsList, "tools", "name", []string{"description", "title", "inputSchema", "outputSchema", "annotations", "icons"}},
		{mcp.PromptsList, "prompts", "name", []string{"description", "title", "arguments", "icons"}},
		{mcp.ResourcesList, "resources", "uri", []string{"name", "description", "title", "mimeType", "annotations", "icons"}},
		{mcp.TemplatesList, "resourceTemplates", "uriTemplate", []string{"name", "description", "title", "mimeType", "annotations", "icons"}},
	}
}

// What of one session's definitions is kept at most; beyond it there are none.
const (
	maxDefBytes = 16 << 20
	maxDefItems = 20_000
)

// defWalk is a listing of definitions that is being paged through.
type defWalk struct {
	items Items
	next  string // JSON text of the cursor to go on with
	bytes int
}

// learnDefinitions takes a page of a listing.
func (c *ctx) learnDefinitions() {
	if !c.e.opts.Definitions || c.ev.Msg.Kind != wire.Result || c.req == nil || !c.req.client {
		return
	}
	switch c.method {
	case mcp.ToolsList, mcp.PromptsList, mcp.ResourcesList, mcp.TemplatesList:
		for _, k := range defKinds() {
			if k.method == c.method {
				c.learnPage(&k)
			}
		}
	}
}

func (c *ctx) learnPage(k *defKind) {
	list := wire.Get(c.ev.Msg.Result, k.kind)
	if wire.TypeOf(list) != wire.Array || c.rec.Truncated {
		delete(c.cl.defs, k.kind)
		return
	}
	w := c.cl.defs[k.kind]
	switch {
	case c.req.cursor == "":
		w = &defWalk{items: Items{}}
	case w == nil || w.next != c.req.cursor:
		delete(c.cl.defs, k.kind)
		return
	}
	if c.cl.defs == nil {
		c.cl.defs = map[string]*defWalk{}
	}
	c.cl.defs[k.kind] = w
	w.bytes += len(list)
	if w.bytes <= maxDefBytes {
		w.take(list, k)
	}
	if w.bytes > maxDefBytes || len(w.items) > maxDefItems {
		delete(c.cl.defs, k.kind)
		return
	}
	next := wire.Get(c.ev.Msg.Result, "nextCursor")
	if w.next = string(next); wire.TypeOf(next) == wire.String {
		return
	}
	d := &c.e.defs
	if d.Kinds == nil {
		d.Kinds, d.at = map[string]Items{}, map[string]pos{}
	}
	d.Kinds[k.kind], d.at[k.kind] = w.items, c.pos()
	delete(c.cl.defs, k.kind)
}

func (w *defWalk) take(list []byte, k *defKind) {
	for el := wire.ElementsOf(list); el.Next(); {
		name, ok := wire.Text(wire.Get(el.Value, k.key))
		if !ok {
			continue
		}
		f := Fields{}
		for _, field := range k.fields {
			v := wire.Get(el.Value, field)
			if field == "annotations" && k.kind == "tools" {
				v = withDefaults(v)
			}
			if v != nil {
				f[field] = plainMarks(wire.AppendCanonical(nil, v))
			}
		}
		w.items[clip(name, 4*maxSubjectLen)] = f
	}
}

// annotationDefaults are what a tool says that says nothing (ToolAnnotations).
const annotationDefaults = `{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true`

// withDefaults writes annotations out, so that a hint that is given as what it
// was anyway is no change.
func withDefaults(v []byte) []byte {
	out := []byte(annotationDefaults)
	switch wire.TypeOf(v) {
	case wire.None, wire.Null:
	case wire.Object:
		for m := wire.MembersOf(v); m.Next(); {
			if wire.TypeOf(m.Value) != wire.Null {
				out = append(append(wire.AppendString(append(out, ','), m.Key), ':'), m.Value...)
			}
		}
	default:
		return v
	}
	return append(out, '}')
}

var mark = regexp.MustCompile(`\[REDACTED:[^\]"]{1,16}\]`)

// plainMarks makes all marks of redaction equal.
func plainMarks(v []byte) string {
	if !bytes.Contains(v, []byte("[REDACTED:")) {
		return string(v)
	}
	return string(mark.ReplaceAll(v, []byte("[REDACTED]")))
}

// fingerprint tells servers apart: by command line, or by the origin of a URL.
func fingerprint(m *capture.MetaInfo) string {
	var what string
	switch {
	case m.Target != "":
		what = m.Target
		if u, err := url.Parse(m.Target); err == nil && u.Host != "" {
			what = u.Scheme + "://" + strings.ToLower(u.Host)
		}
	case len(m.Command) > 0:
		what = plainMarks([]byte(strings.Join(m.Command, "\x00")))
	default:
		return ""
	}
	sum := sha256.Sum256([]byte(what))
	return "sha256:" + hex.EncodeToString(sum[:16])
}

// Definitions are the newest whole listings of the session; nil when there was
// none of its tools, or they were not to be kept (Options).
func (e *Engine) Definitions() *Definitions {
	if e.defs.Kinds["tools"] == nil {
		return nil
	}
	d := e.defs
	d.Origin = e.log.fingerprint
	return &d
}
