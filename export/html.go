package export

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/export/web"
)

// chunkSize is how much of the frames one data block of the page holds, in
// bytes: a browser makes one string of a block.
const chunkSize = 4 << 20

// writeHTML writes one page that needs nothing else: the data as JSON in
// blocks that no browser runs, and the program that shows it. Bodies stand
// there as strings, so that the page has their very bytes: a number that
// JavaScript cannot hold keeps its digits.
func writeHTML(ctx context.Context, w io.Writer, in *Input) error {
	out := bufio.NewWriterSize(w, writeBuffer)
	if err := web.Begin(out, pageTitle(in)); err != nil {
		return err
	}
	p := &page{out: out, data: bufio.NewWriterSize(&scriptWriter{w: out}, writeBuffer)}
	p.document = *newDocument(p.data, in)
	p.block(`type="application/json" id="doc"`)
	p.open("{")
	p.head()
	p.tail()
	p.yes("redacted", in.Redact != nil)
	p.close("}")
	p.lines("calls", func() {
		for _, s := range p.sessions {
			for i := range s.OpLen() {
				if s.hasOp(i) && ctx.Err() == nil && p.failed() == nil {
					p.element(func() { p.call(s, s.Op(i), true) })
				}
			}
		}
	})
	p.lines("interactions", func() {
		for _, s := range p.sessions {
			for i := range s.OpLen() {
				if _, more := s.Op(i).Next(); more && s.interactive(i) {
					p.element(func() { p.interaction(s, i) })
				}
			}
		}
	})
	var err error
	p.lines("events", func() {
		err = in.Records(ctx, func(e *Entry) error {
			if e.Frame != nil {
				p.element(func() { p.frame(e) })
			}
			return p.failed()
		})
	})
	p.end()
	if err == nil {
		err = p.failed()
	}
	if err != nil {
		return err
	}
	if err := web.End(out); err != nil {
		return err
	}
	return out.Flush()
}

// pageTitle names the page by its sessions.
func pageTitle(in *Input) string {
	var labels []string
	for _, s := range in.Sessions() {
		labels = append(labels, s.Summary().Label)
	}
	const shown = 4
	if len(labels) > shown {
		labels = append(labels[:shown], "…")
	}
	return Safe(strings.Join(labels, ", ")) + " · mcpsnoop"
}

// page is the data of the page that is being written.
type page struct {
	document
	out  *bufio.Writer // the page
	data *bufio.Writer // what stands in a block of it
	name string        // of the list in the open block; "" for none
	size int           // of the open block
	any  bool          // a block is open
}

// block ends a data block and begins the next one.
func (p *page) block(attributes string) {
	p.end()
	p.any, p.size = true, 0
	_, _ = p.out.WriteString("<script " + attributes + ">")
}

func (p *page) end() {
	if p.any {
		_ = p.data.Flush() // the writer below remembers its error
		_, _ = p.out.WriteString("</script>\n")
		p.any = false
	}
}

// lines writes a list as one JSON text a line, in blocks of a bounded size.
func (p *page) lines(name string, elements func()) {
	p.name = name
	p.block(`type="application/x-ndjson" data-list="` + name + `"`)
	elements()
}

// element writes one element of the list.
func (p *page) element(write func()) {
	if p.size > chunkSize {
		p.block(`type="application/x-ndjson" data-list="` + p.name + `"`)
	}
	before := p.data.Buffered()
	p.comma = false
	write()
	p.raw("\n")
	if n := p.data.Buffered() - before; n > 0 {
		p.size += n
	} else { // the buffer was written meanwhile
		p.size += writeBuffer
	}
}

// frame writes one frame, its body as a string.
func (p *page) frame(e *Entry) {
	p.open("{")
	p.eventFacts(e)
	switch rec := e.Rec; {
	case rec.Raw != nil:
		p.member("raw")
		p.stringBytes(rec.Raw)
	case rec.HasText:
		p.text("text", rec.Text)
	case rec.Bytes != nil:
		p.text("bytes", base64.StdEncoding.EncodeToString(rec.Bytes))
	}
	p.close("}")
}

// scriptWriter makes JSON fit to stand in a script element: without "<"
// nothing in it ends the element or begins a comment. In JSON the character
// stands within strings only, where an escape means the same.
type scriptWriter struct{ w io.Writer }

func (s *scriptWriter) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		k := bytes.IndexByte(rest, '<')
		if k < 0 {
			k = len(rest)
		}
		if _, err := s.w.Write(rest[:k]); err != nil {
			return 0, err
		}
		if rest = rest[k:]; len(rest) > 0 {
			if _, err := io.WriteString(s.w, `\u003c`); err != nil {
				return 0, err
			}
			rest = rest[1:]
		}
	}
	return len(p), nil
}
