package tui

import (
	"bufio"
	"context"
	"io"
	"time"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// plainWidth is how wide the lines are that WritePlain writes.
const plainWidth = 100

// WritePlain writes the frames of a session as lines, for a terminal that can
// show no screens. It has the columns of the stream.
func WritePlain(ctx context.Context, w io.Writer, src Source, s *store.Session, opts Options) error {
	d := plainDress(opts.Env)
	now := time.Now()
	if opts.Now != nil {
		now = opts.Now()
	}
	zone := opts.Zone
	if zone == nil {
		zone = time.UTC
	}
	out := bufio.NewWriter(w)
	cols := layout(frameColumns(d, plainWidth, 8), plainWidth)
	write := func(l line) {
		l = d.w.fit(l, plainWidth, d.g.dots)
		b := d.theme.render(nil, l)
		for len(b) > 0 && b[len(b)-1] == ' ' {
			b = b[:len(b)-1]
		}
		_, _ = out.Write(append(b, '\n')) // the error stays in out
	}
	write(head(d, cols, 0, false))
	alive := live(src, s, now)
	for i := range s.Len() {
		if ctx.Err() != nil {
			break
		}
		r := newFrameRow(s, i, now, alive, zone)
		if r.f.Length <= maxDetailFrame {
			if rec, err := src.Body(s, i); err == nil {
				r.detail = detailOf(&rec, r.f.Kind)
			}
		}
		write(row(d, cols, &r))
	}
	return out.Flush()
}

// WritePlainSessions writes the list of sessions as lines.
func WritePlainSessions(w io.Writer, src Source, opts Options) error {
	d := plainDress(opts.Env)
	now := time.Now()
	if opts.Now != nil {
		now = opts.Now()
	}
	out := bufio.NewWriter(w)
	cols := layout(sessionColumns(d), plainWidth)
	write := func(l line) { _, _ = out.Write(append(d.theme.render(nil, d.w.fit(l, plainWidth, d.g.dots)), '\n')) }
	write(head(d, cols, 0, false))
	for _, s := range src.Sessions() {
		r := newSessionRow(src, s, now)
		r.spark = activity(s, 8)
		write(row(d, cols, &r))
	}
	return out.Flush()
}

// plainDress draws without any escape sequence.
func plainDress(env []string) *dress {
	d := &dress{g: &unicodeGlyphs, theme: &theme{name: "plain"}}
	if !isUTF8(func(name string) string { return lookup(env, name) }) {
		d.g, d.ascii = &asciiGlyphs, true
	}
	return d
}
