package export

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// writeText writes sessions for reading: a heading for each, a line for each
// frame with its whole body below, and what was found.
func writeText(ctx context.Context, w io.Writer, in *Input) error {
	out := bufio.NewWriterSize(w, writeBuffer)
	sessions := in.Sessions()
	for _, s := range sessions {
		writeHeading(out, s, in)
	}
	several := len(sessions) > 1
	var line []byte
	err := in.Records(ctx, func(e *Entry) error {
		if e.Frame == nil {
			return nil
		}
		line = line[:0]
		if several {
			line = append(AppendSafe(line, e.Session.Summary().Label), ' ')
		}
		line = appendHeadline(line, e.Session.Session, e.Frame, e.Rec, Style{})
		line = append(appendDeprecated(line, e.Session.deprecated(e.Index)), '\n')
		line = appendBody(line, e.Rec)
		_, err := out.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	bodies := newBodyReader(in)
	for _, s := range sessions {
		if err := writeInteractions(ctx, out, s, bodies, several); err != nil {
			return err
		}
	}
	for _, s := range sessions {
		writeLadders(out, s, several)
	}
	for _, s := range sessions {
		writeElicitations(out, s, several)
	}
	for _, s := range sessions {
		writeFindings(out, s, several)
	}
	return out.Flush()
}

// appendDeprecated marks features on their way out, with what takes their place.
func appendDeprecated(dst []byte, marks []*checks.Finding) []byte {
	for _, f := range marks {
		dst = AppendSafe(append(dst, " [deprecated: "...), f.Message)
		if f.Rule.Fix != "" {
			dst = AppendSafe(append(dst, ". "...), f.Rule.Fix)
		}
		dst = append(dst, ']')
	}
	return dst
}

// appendBody appends the body on a line of its own, indented. It is one line
// whatever it holds.
func appendBody(dst []byte, rec *capture.Record) []byte {
	b := rec.Body()
	if len(b) == 0 {
		return dst
	}
	return append(AppendSafe(append(dst, "      "...), b), '\n')
}

func writeHeading(w io.Writer, s *Session, in *Input) {
	sum := s.Summary()
	fmt.Fprintf(w, "session %s\n", Safe(s.ID))
	field := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %-9s %s\n", name, Safe(value))
		}
	}
	field("label", sum.Label)
	field("transport", sum.Transport.String())
	field("command", strings.Join(sum.Meta.Command, " "))
	field("target", sum.Meta.Target)
	field("folder", sum.Meta.Cwd)
	for _, c := range sum.Clients {
		field("client", strings.TrimSpace(c.Client+" "+c.ClientVersion))
		field("server", strings.TrimSpace(c.Server+" "+c.ServerVersion))
		field("protocol", c.Revision)
	}
	field("started", sum.Started.Format(time.RFC3339Nano))
	field("ended", endText(&sum.End, sum.Ended, sum.Newest))
	if s.picked != nil {
		field("filter", fmt.Sprintf("%s: %d of %d frames", in.Where, s.frameCount(), sum.FrameTotal()))
	}
	c := s.counts()
	field("calls", fmt.Sprintf("%d: %d ok, %d failed, %d cancelled, %d without an answer", c.Total, c.OK, c.Failed, c.Cancelled, c.Pending))
	if sum.Missing > 0 {
		field("missing", fmt.Sprintf("%d frames", sum.Missing))
	}
	fmt.Fprintln(w)
}

func endText(e *capture.EndInfo, ended bool, newest time.Time) string {
	if !ended {
		return ""
	}
	s := newest.Format(time.RFC3339Nano)
	switch {
	case e.Signal != "":
		s += ", by " + e.Signal
	case e.ExitCode != nil:
		s += fmt.Sprintf(", exit code %d", *e.ExitCode)
	}
	if e.Reason != "" {
		s += ", " + e.Reason
	}
	return s
}

// title writes the heading of a part, with its session where there are several.
func title(w io.Writer, what string, s *Session, several bool) {
	if several {
		what += " of " + Safe(s.ID)
	}
	fmt.Fprintf(w, "\n%s\n", what)
}

func writeFindings(w io.Writer, s *Session, several bool) {
	begun := false
	for _, f := range s.Findings {
		if !s.hasFinding(f) {
			continue
		}
		if !begun {
			title(w, "findings", s, several)
			begun = true
		}
		writeFinding(w, f)
	}
}

func writeFinding(w io.Writer, f *checks.Finding) {
	at := ""
	if f.Seq > 0 {
		at = fmt.Sprintf("#%d", f.Seq)
	}
	times := ""
	if f.Count > 1 {
		times = fmt.Sprintf(" (%d times)", f.Count)
	}
	fmt.Fprintf(w, "  %-11s %-28s %-6s %s%s\n", f.Signal, Safe(f.Rule.ID), at, Safe(f.Message), times)
}
