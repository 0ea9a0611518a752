package store

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// Term is an entry of the table of filter words: for help and completion.
type Term struct {
	Name    string // as it is typed, without what follows
	Kind    TermKind
	Of      TermScope
	Values  []string // the words that may follow, for Choice
	Help    string   // what it matches, in a few words
	Example string

	build func(v value) (*leaf, error)
}

// TermKind says what may follow the name of a term.
type TermKind uint8

// The kinds of terms.
const (
	Substring TermKind = iota // name:text, name:=exact
	Exact                     // name:text
	Choice                    // name:one-of-Values
	Number                    // name>3, also >= < <= =
	Size                      // as Number, with B KB MB GB KiB MiB GiB
	Span                      // as Number, with a duration
	Moment                    // name:time or name:duration
	FreeText                  // no name: a word, "words" or /expression/
)

// TermScope says what a term is about.
type TermScope uint8

// The scopes of terms.
const (
	OfOperation TermScope = iota // all frames of the operation and its retries match
	OfFrame
)

// value is what follows the name of a term.
type value struct {
	term *Term
	op   string // : := < <= > >= =
	text string
	now  time.Time
}

func (v *value) bad(msg string) error { return &QueryError{Msg: msg} } // the parser knows the column

// Terms lists the words of the filter language, for help and completion. The
// caller does not change them.
func Terms() []Term { return terms }

// terms is the one table behind the parser, the help and the completion.
var terms = []Term{
	{Name: "tool", Kind: Substring, Help: "the name of the tool that is called", Example: "tool:read", build: toolLeaf},
	{Name: "method", Kind: Substring, Help: "the method of the frame or of its operation", Example: "method:tools/call", build: methodLeaf},
	{Name: "label", Kind: Substring, Help: "the label of the session", Example: "label:filesystem", build: labelLeaf},
	{Name: "id", Kind: Exact, Help: "the request id, as a number or a string, with all retries", Example: "id:7", build: idLeaf},
	{Name: "task", Kind: Substring, Help: "the id of the task that a call became", Example: "task:01J8", build: taskLeaf},
	{Name: "conn", Kind: Exact, Help: "the client connection (HTTP)", Example: "conn:c3", build: connLeaf},
	{Name: "rule", Kind: Substring, Help: "a rule that has found something", Example: "rule:tool-input-root-type", build: ruleLeaf},
	{Name: "signal", Kind: Choice, Values: signalNames[:], Help: "a signal of a finding", Example: "signal:warn", build: signalLeaf},
	{Name: "rev", Kind: Substring, Help: "the revision of the protocol", Example: "rev:2025-11-25", build: revLeaf},
	{
		Name: "status", Kind: Choice, Values: statusWords, Example: "status:error", build: statusLeaf,
		Help: "the outcome of the call, or an HTTP status such as 401",
	},
	{Name: "dur", Kind: Span, Help: "how long the call took with its retries, or has been waiting", Example: "dur>2s", build: durLeaf},
	{Name: "trips", Kind: Number, Help: "how many requests the call took", Example: "trips>1", build: tripsLeaf},
	{
		Name: "kind", Kind: Choice, Of: OfFrame, Values: []string{"req", "resp", "notify", "stderr", "invalid", "http", "repeat"},
		Help: "what the frame is; repeat is a notification like the frame before it", Example: "kind:invalid", build: kindLeaf,
	},
	{Name: "dir", Kind: Choice, Of: OfFrame, Values: []string{"c2s", "s2c"}, Help: "which way the frame went", Example: "dir:s2c", build: dirLeaf},
	{Name: "size", Kind: Size, Of: OfFrame, Help: "the size of the frame on the wire", Example: "size>=1MB", build: sizeLeaf},
	{Name: "seq", Kind: Number, Of: OfFrame, Help: "the number of the frame in the log", Example: "seq<500", build: seqLeaf},
	{Name: "since", Kind: Moment, Of: OfFrame, Help: "frames from that time on, or of the last while", Example: "since:10m", build: sinceLeaf},
	{Name: "until", Kind: Moment, Of: OfFrame, Help: "frames before that time", Example: "until:15:04:05", build: untilLeaf},
	{
		Kind: FreeText, Of: OfFrame, Example: `"connection refused" /time(d )?out/`,
		Help: "a word, words in quotation marks or an expression in slashes: in method, tool, id or payload, whatever the case",
	},
}

var statusWords = []string{"ok", "error", "err", "cancel", "late", "cancelled", "pending", "bad", "warn", "mismatch"}

func lookupTerm(name string) *Term {
	for i := range terms {
		if terms[i].Name != "" && strings.EqualFold(terms[i].Name, name) {
			return &terms[i]
		}
	}
	return nil
}

// nearestTerm is the name of a term at most distance typing mistakes away.
func nearestTerm(name string, distance int) string {
	names := make([]string, 0, len(terms))
	for _, t := range terms {
		if t.Name != "" {
			names = append(names, t.Name)
		}
	}
	return nearest(strings.ToLower(name), names, distance)
}

func nearest(s string, words []string, distance int) string {
	best := ""
	for _, w := range words {
		if d := editDistance(s, w); d <= distance && d < len(w) {
			best, distance = w, d-1
		}
	}
	return best
}

// editDistance counts the insertions, deletions, replacements and swaps of
// neighbours between two words.
func editDistance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			differs := 1
			if a[i-1] == b[j-1] {
				differs = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+differs)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}

// term reads the operator and the value behind the name of a term.
func (p *parser) term(t *Term, at int) (*leaf, error) {
	opAt := p.at
	op, err := p.operator(t, opAt)
	if err != nil {
		return nil, err
	}
	valueAt := p.at
	var text string
	if p.peek(0) == '"' {
		text, err = p.quoted()
	} else {
		text = p.raw()
	}
	switch {
	case err != nil:
		return nil, err
	case text == "":
		return nil, p.fail(valueAt, fmt.Sprintf("what should %s be? For example %s", t.Name, t.Example))
	}
	l, err := t.build(value{t, op, text, p.now})
	if err != nil {
		return nil, p.fail(valueAt, err.(*QueryError).Msg) //nolint:errorlint // build gives nothing else
	}
	if l.text == "" {
		l.text = t.Name + op + writeValue(text)
	}
	if l.key == "" {
		l.key = l.text
	}
	return l, nil
}

func writeValue(s string) string {
	if plainValue(s) {
		return s
	}
	return quote(s)
}

// operator takes what stands between name and value.
func (p *parser) operator(t *Term, at int) (string, error) {
	compares := t.Kind == Number || t.Kind == Size || t.Kind == Span
	op := ""
	for _, o := range []string{":>=", ":<=", ":>", ":<", ":=", ">=", "<=", ">", "<", "=", ":"} {
		if p.has(o) {
			op = o
			break
		}
	}
	switch {
	case op == "":
		return "", p.fail(at, fmt.Sprintf("to exclude something put - before the term: -%s", t.Example))
	case compares:
		p.at += len(op)
		if op = strings.TrimPrefix(op, ":"); op == "" {
			op = "="
		}
		return op, nil
	case t.Kind == Substring && (op == ":=" || op == "="):
		p.at += len(op)
		return ":=", nil
	case op == ":=" && t.Kind != Moment:
		p.at += len(op)
		return ":", nil
	case op[0] == ':' || op == "=" && t.Kind != Moment:
		p.at++ // < and > belong to the text
		return ":", nil
	}
	return "", p.fail(at, fmt.Sprintf("%s cannot be compared: for example %s", t.Name, t.Example))
}

func choose(v value) error {
	if slices.Contains(v.term.Values, v.text) {
		return nil
	}
	msg := fmt.Sprintf("%s is one of %s", v.term.Name, strings.Join(v.term.Values, " "))
	if near := nearest(strings.ToLower(v.text), v.term.Values, 2); near != "" {
		msg = fmt.Sprintf("there is no %s:%s; did you mean %s? It %s", v.term.Name, v.text, near, strings.TrimPrefix(msg, v.term.Name+" "))
	}
	return v.bad(msg)
}

func kindLeaf(v value) (*leaf, error) {
	if err := choose(v); err != nil {
		return nil, err
	}
	if v.text == "repeat" {
		return &leaf{test: func(m *matcher) bool { return m.f.Has(Repeat) }}, nil
	}
	want := [8]bool{}
	for k := range Kind(len(want)) {
		want[k] = k.String() == v.text
	}
	return &leaf{test: func(m *matcher) bool { return want[m.f.Kind] }}, nil
}

func dirLeaf(v value) (*leaf, error) {
	if err := choose(v); err != nil {
		return nil, err
	}
	want := capture.C2S
	if v.text == capture.S2C.String() {
		want = capture.S2C
	}
	return &leaf{test: func(m *matcher) bool { return m.f.dir == want }}, nil
}

func sizeLeaf(v value) (*leaf, error) {
	n, err := parseSize(v.text)
	if err != nil {
		return nil, v.bad(err.Error())
	}
	ok := comparison(v.op)
	return &leaf{test: func(m *matcher) bool { return ok(compareInt(int64(m.f.Size), n)) }}, nil
}

func seqLeaf(v value) (*leaf, error) {
	n, err := parseCount(v.text)
	if err != nil {
		return nil, v.bad(err.Error())
	}
	ok := comparison(v.op)
	return &leaf{test: func(m *matcher) bool { return ok(compareInt(int64(m.f.Seq), n)) }}, nil
}

func sinceLeaf(v value) (*leaf, error) {
	t, err := parseMoment(v.text, v.now)
	if err != nil {
		return nil, v.bad(err.Error())
	}
	return &leaf{key: fmt.Sprintf("since:%d", t), test: func(m *matcher) bool { return m.f.TS >= t }}, nil
}

func untilLeaf(v value) (*leaf, error) {
	t, err := parseMoment(v.text, v.now)
	if err != nil {
		return nil, v.bad(err.Error())
	}
	return &leaf{key: fmt.Sprintf("until:%d", t), test: func(m *matcher) bool { return m.f.TS < t }}, nil
}
