package checks

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// WriteText writes the report for people: a line on each session, a line on
// each finding, and the verdict. Nothing of the wire reaches the terminal
// unescaped.
func (r *Report) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, s := range r.Sessions {
		s.writeText(b)
	}
	for _, a := range r.Assertions {
		word := "ok"
		if !a.OK {
			word = "failed"
		}
		fmt.Fprintf(b, "%s %s %s: %s\n", a.Flag, Plain(a.Value), word, Plain(a.Message))
	}
	fmt.Fprintln(b, r.verdict())
	return b.Flush()
}

// verdict is the last line of a report for people.
func (r *Report) verdict() string {
	if len(r.Failed) > 0 {
		return "check failed: " + strings.Join(r.Failed, ",")
	}
	return "check passed"
}

func (s *SessionReport) writeText(b *bufio.Writer) {
	n := &s.Signals
	fmt.Fprintf(b, "session %s: errors=%d invalid=%d warnings=%d mismatches=%d pending=%d late_results=%d deprecated=%d missing_frames=%d schema_findings=%d",
		Plain(s.name()), n.Of(Error), n.Of(Invalid), n.Of(Warn), n.Of(Mismatch), n.Of(Pending), n.Of(LateResult), n.Of(Deprecated), s.Missing, n.Of(Schema))
	for _, more := range []Signal{Drift, Incomplete, Auth, Info} {
		if n.Of(more) > 0 {
			fmt.Fprintf(b, " %s=%d", more, n.Of(more))
		}
	}
	fmt.Fprintln(b)
	signal, rule, seq := 0, 0, 0
	for _, f := range s.Findings {
		signal, rule, seq = max(signal, len(f.Signal)), max(rule, len(f.Rule.ID)), max(seq, len(f.place()))
	}
	for _, f := range s.Findings {
		fmt.Fprintf(b, "  %-*s  %-*s %-*s  %s%s\n", signal, f.Signal, rule, f.Rule.ID, seq, f.place(), Plain(f.text()), f.times())
	}
	if c := s.Client; c != nil {
		fmt.Fprintf(b, "  %s: %d of %d tools are lost", c.Client, len(c.Lost), c.Tools)
		if len(c.Lost) > 0 {
			fmt.Fprint(b, ": ", Plain(c.names()))
		}
		fmt.Fprintln(b)
	}
}

// place names the frame, else the line of the log.
func (f *Finding) place() string {
	switch {
	case f.Seq > 0:
		return fmt.Sprintf("#%d", f.Seq)
	case f.Line > 0:
		return fmt.Sprintf("line %d", f.Line)
	}
	return "-"
}

// text is the message with the tool it is about in front, where the message
// does not name it.
func (f *Finding) text() string {
	switch {
	case f.Tool != "" && !names(f.Message, f.Tool):
		return f.Tool + ": " + f.Message
	case f.Tool == "" && f.Method != "" && !names(f.Message, f.Method):
		return f.Method + ": " + f.Message
	}
	return f.Message
}

// names reports whether a name stands in a text by itself, and not as a part
// of another word.
func names(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(name)
		before, _ := utf8.DecodeLastRuneInString(text[:from])
		after, _ := utf8.DecodeRuneInString(text[to:])
		if !inWord(before) && !inWord(after) {
			return true
		}
		at = from + 1
	}
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-'
}

// Plain makes text from the wire safe for a terminal: control characters, and
// those that reorder or hide others, become visible escapes; line feeds too.
func Plain(s string) string {
	clean := true
	for _, r := range s {
		clean = clean && !unsafeRune(r)
	}
	if clean && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unsafeRune(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unsafeRune reports whether a rune could do anything to a terminal but show
// one character.
func unsafeRune(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError ||
		r == '\u2028' || r == '\u2029' || r == '\uFEFF' || r >= 0xE0000 && r < 0xE0080
}
