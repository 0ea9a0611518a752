package export

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// writeInteractions lists calls with their retries: how many requests they
// took, and who took the time.
func writeInteractions(ctx context.Context, w *bufio.Writer, s *Session, r *bodyReader, several bool) error {
	begun := false
	for i := range s.OpLen() {
		if i%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !s.interactive(i) {
			continue
		}
		if !begun {
			title(w, "interactions", s, several)
			begun = true
		}
		if err := writeInteraction(w, s, r, i); err != nil {
			return err
		}
	}
	return nil
}

func writeInteraction(w *bufio.Writer, s *Session, r *bodyReader, i store.OpIndex) error {
	o := s.Op(i)
	what := Safe(strings.TrimSpace(s.OpMethod(o) + " " + s.OpName(o)))
	at := "#" + fmt.Sprint(s.Frame(o.Request).Seq)
	c := store.Chain{Hops: []store.Hop{{Op: i, Server: o.Duration(s.until())}}, Server: o.Duration(s.until())}
	if _, more := o.Next(); more {
		c = s.Chain(i, s.until())
	}
	last := s.Op(c.Hops[len(c.Hops)-1].Op)
	trips := "1 round trip"
	if n := len(c.Hops); n > 1 {
		trips = fmt.Sprintf("%d round trips", n)
	}
	fmt.Fprintf(w, "  %-6s %s: %s, %s, %s (server %s, client %s)\n", at, what, last.State, trips, Duration(c.Server+c.Wait), Duration(c.Server), Duration(c.Wait))
	if len(c.Hops) == 1 {
		return nil
	}
	for n, h := range c.Hops {
		if err := writeHop(w, s, r, n+1, h); err != nil {
			return err
		}
	}
	if s.unwhole(c) {
		fmt.Fprintln(w, "         work went on off these requests, in a task")
	}
	return nil
}

func writeHop(w *bufio.Writer, s *Session, r *bodyReader, n int, h store.Hop) error {
	o := s.Op(h.Op)
	fmt.Fprintf(w, "         %d. #%d server %s", n, s.Frame(o.Request).Seq, Duration(h.Server))
	if n > 1 {
		fmt.Fprintf(w, ", after the client's %s", Duration(h.Wait))
	}
	if a, ok := o.Answer(); ok {
		asked, err := r.asked(s, o, a)
		if err != nil {
			return err
		}
		for k, q := range asked {
			sep := ", asks for "
			if k > 0 {
				sep = ", "
			}
			fmt.Fprintf(w, "%s%s (%s)", sep, Safe(q.method), Safe(q.key))
		}
	} else {
		fmt.Fprintf(w, ", no answer")
	}
	fmt.Fprintln(w)
	return nil
}

// writeElicitations lists what users were asked and what they did; never what
// they typed.
func writeElicitations(w *bufio.Writer, s *Session, several bool) {
	for k, e := range s.asking() {
		if k == 0 {
			title(w, "elicitations", s, several)
		}
		key := ""
		if e.Key != "" {
			key = " " + e.Key
		}
		fmt.Fprintf(w, "  %-6s %s [%s]%s: %s", fmt.Sprintf("#%d", s.Frame(e.Asked).Seq), Safe(s.subject(e)), Safe(e.Mode), Safe(key), Safe(action(e)))
		if e.Answer > 0 {
			fmt.Fprintf(w, " after %s", Duration(time.Duration(e.AnswerAt-e.At)))
		}
		fmt.Fprintln(w)
		if e.Message != "" {
			cut := ""
			if e.Cut {
				cut = " (cut)"
			}
			fmt.Fprintf(w, "         %s%s\n", Safe(e.Message), cut)
		}
		if e.URL != "" {
			fmt.Fprintf(w, "         %s at host %s\n", Safe(e.URL), Safe(e.Host))
		}
		for _, f := range e.Fields {
			kind := f.Type
			if kind == "" {
				kind = "unknown"
			}
			fmt.Fprintf(w, "         %s %s\n", Safe(f.Name), Safe(kind))
		}
	}
	if n := s.Summary().MoreQuestions; n > 0 {
		fmt.Fprintf(w, "  %d more were asked than are kept\n", n)
	}
}
