package store

import (
	"slices"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// Definition is what one tool costs each time its listing is put before a
// model, in bytes without white space between the tokens.
type Definition struct {
	Name        string
	Frame       uint32 // index of the frame that defined it last
	Bytes       int    // of the whole definition
	Description int    // of its description
	Schemas     int    // of inputSchema and outputSchema
}

// Listing is one walk over the pages of a list method, as one.
type Listing struct {
	Method   string
	First    uint32 // index of the frame with the first page
	Pages    int
	Entries  int
	Bytes    int  // of all entries without white space
	Complete bool // the last page was seen, and none before it is missing
	Tools    []Definition
	Frames   []uint32 // of the pages, the first maxPages of them
}

// maxPages bounds what is kept of a listing that never comes to its end.
const maxPages = 256

// listMethods names the member of the result that holds the entries.
var listMethods = map[string]string{
	mcp.ToolsList: "tools", mcp.PromptsList: "prompts", mcp.ResourcesList: "resources", mcp.TemplatesList: "resourceTemplates",
}

// walk is a listing that is being paged through.
type walk struct {
	listing Listing
	next    string // cursor that the next page will be asked for with
	hasNext bool
}

// Listing returns the newest listing of a method that was walked to its last
// page.
func (s *Summary) Listing(method string) (Listing, bool) {
	for i := len(s.Listings) - 1; i >= 0; i-- {
		if s.Listings[i].Method == method {
			return s.Listings[i], true
		}
	}
	return Listing{}, false
}

// page adds one page to the walk that its request's cursor goes on with.
func (a *Appender) page(ev *Event, cl *client) {
	method := a.name(ev.Op.method)
	member, ok := listMethods[method]
	if !ok || ev.Frame.Kind != KindResult {
		return
	}
	entries, next := entriesOf(ev.Msg.Result, member)
	if wire.TypeOf(entries) != wire.Array {
		return
	}
	w := cl.walks[method]
	cursor, asked := a.cursors[ev.OpIndex]
	delete(a.cursors, ev.OpIndex)
	switch {
	case !asked:
		w = &walk{listing: Listing{Method: method, First: ev.Index, Complete: true}}
	case w.leadsTo(cursor):
	case cl.pages[method].leadsTo(cursor):
		w = cl.pages[method]
	default:
		w = &walk{listing: Listing{Method: method, First: ev.Index}} // pages before it were not seen
	}
	cl.walks[method] = w
	l := &w.listing
	l.Pages++
	if len(l.Frames) < maxPages {
		l.Frames = append(l.Frames, ev.Index)
	}
	for e := wire.ElementsOf(entries); e.Next(); {
		l.Entries++
		n := wire.CompactLen(e.Value)
		l.Bytes += n
		if method == mcp.ToolsList && len(l.Tools) < a.limits.Tools {
			l.Tools = append(l.Tools, define(e.Value, n, ev.Index, a.limits.NameBytes))
		}
	}
	w.next, w.hasNext = wire.Text(next)
	if w.hasNext {
		if cl.shared {
			cl.pages[method] = w
		}
		return
	}
	a.listed(*l)
}

// leadsTo reports whether the walk goes on with that page.
func (w *walk) leadsTo(cursor string) bool { return w != nil && w.hasNext && w.next == cursor }

// entriesOf are the entries of a page and the cursor that leads on from it.
func entriesOf(result []byte, member string) (entries, next []byte) {
	for m := wire.MembersOf(result); m.Next(); {
		switch string(m.Key) {
		case member:
			entries = m.Value
		case "nextCursor":
			next = m.Value
		}
	}
	return entries, next
}

// define reads a definition in one walk: it may be long, and there may be many.
func define(v []byte, size int, frame uint32, nameBytes int) Definition {
	d := Definition{Frame: frame, Bytes: size}
	var about, in, out []byte
	for m := wire.MembersOf(v); m.Next(); {
		switch string(m.Key) {
		case "name":
			name, _ := wire.Text(m.Value)
			d.Name = name[:min(len(name), nameBytes)]
		case "description":
			about = m.Value
		case "inputSchema":
			in = m.Value
		case "outputSchema":
			out = m.Value
		}
	}
	d.Description, d.Schemas = wire.CompactLen(about), wire.CompactLen(in)+wire.CompactLen(out)
	return d
}

// listed publishes a walk that came to its end, in place of the one before it.
func (a *Appender) listed(l Listing) {
	a.sum.Listings = slices.DeleteFunc(slices.Clone(a.sum.Listings), func(o Listing) bool { return o.Method == l.Method })
	a.sum.Listings = append(a.sum.Listings, l)
}
