package clientconf

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"strings"
)

// Errors of Find, beside those of broken files.
var (
	// ErrNoServer says that there is no entry of that name.
	ErrNoServer = errors.New("no such server in this file")
	// ErrAmbiguous says that several entries fit.
	ErrAmbiguous = errors.New("several servers of that name")
	// ErrRemote says that the entry is reached by HTTP and has no command.
	ErrRemote = errors.New("the entry has a url and no command: it is an HTTP server; put mcpsnoop http in front of it")
	// ErrNotWrapped says that there is nothing to take away.
	ErrNotWrapped = errors.New("the entry does not start through mcpsnoop")
)

// span is a stretch of the file.
type span struct{ from, to int }

// Entry is one server of a file, by where its parts stand.
type Entry struct {
	Name  string
	Scope string // "user", or the folder of a project
	Line  int    // from 1, of its command

	file    []byte
	toml    bool
	command span   // the value of command, quotes included
	text    string // of the command
	args    span   // the array of args, brackets included; zero when there is none
	items   []span // its elements
	texts   []string
}

// Command is the command line of the entry. Arguments that are no strings are
// given as they are spelled.
func (e *Entry) Command() []string { return append([]string{e.text}, e.texts...) }

// program is the name of a command's program, whatever the platform.
func program(command string) string {
	name := path.Base(strings.ReplaceAll(command, `\`, "/"))
	return strings.TrimSuffix(strings.ToLower(name), ".exe")
}

// Wrapped reports whether the entry starts through the program self.
func (e *Entry) Wrapped(self string) bool {
	name := program(e.text)
	return (name == "mcpsnoop" || name == program(self)) && e.dashes() >= 0
}

// dashes is the index of the argument that ends the program's own ones.
func (e *Entry) dashes() int {
	for i, t := range e.texts {
		if t == "--" {
			return i
		}
	}
	return -1
}

// Wrap returns the file with self in front of the entry's command. The
// spelling of what was there stays.
func (e *Entry) Wrap(self string) []byte {
	original := string(e.file[e.command.from:e.command.to])
	var out bytes.Buffer
	out.Write(e.file[:e.command.from])
	out.WriteString(quote(self))
	rest := e.file[e.command.to:]
	switch {
	case e.args == span{}:
		out.WriteString(e.added(original))
	case e.args.from < e.command.from: // the arguments stand first
		return e.wrapBehind(self, original)
	default:
		at := e.insertAt()
		out.Write(e.file[e.command.to:at])
		out.WriteString(e.inserted(original))
		rest = e.file[at:]
	}
	out.Write(rest)
	return out.Bytes()
}

func (e *Entry) wrapBehind(self, original string) []byte {
	at := e.insertAt()
	var out bytes.Buffer
	out.Write(e.file[:at])
	out.WriteString(e.inserted(original))
	out.Write(e.file[at:e.command.from])
	out.WriteString(quote(self))
	out.Write(e.file[e.command.to:])
	return out.Bytes()
}

// insertAt is where the program's arguments go: before the first element.
func (e *Entry) insertAt() int {
	if len(e.items) > 0 {
		return e.items[0].from
	}
	return e.args.from + 1
}

func (e *Entry) inserted(original string) string {
	s := `"--", ` + original
	if len(e.items) > 0 {
		s += ", "
	}
	return s
}

// added is the member that is added where there were no arguments. It has no
// blanks, which tells it from one that was there.
func (e *Entry) added(original string) string {
	if e.toml {
		return "\nargs=[\"--\"," + original + "]"
	}
	return `,"args":["--",` + original + `]`
}

// Unwrap returns the file as it was before Wrap. It takes away everything up
// to the argument --, so that arguments that were added by hand go, too.
func (e *Entry) Unwrap() ([]byte, error) {
	k := e.dashes()
	if k < 0 || k+1 >= len(e.items) {
		return nil, ErrNotWrapped
	}
	original := string(e.file[e.items[k+1].from:e.items[k+1].to])
	cut := span{e.items[0].from, e.items[k+1].to}
	if k+2 < len(e.items) {
		cut.to = e.items[k+2].from
	}
	if add := e.added(original); k == 0 && len(e.items) == 2 {
		if from := e.args.to - len(add); from == e.command.to && string(e.file[from:e.args.to]) == add {
			cut = span{from, e.args.to}
		}
	}
	var out bytes.Buffer
	edits := []struct {
		at   span
		text string
	}{{e.command, original}, {cut, ""}}
	if cut.from < e.command.from {
		edits[0], edits[1] = edits[1], edits[0]
	}
	last := 0
	for _, d := range edits {
		out.Write(e.file[last:d.at.from])
		out.WriteString(d.text)
		last = d.at.to
	}
	out.Write(e.file[last:])
	return out.Bytes(), nil
}

// quote writes a path as a string that JSON and TOML both read.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// choose takes the one entry that was found.
func choose(found []*Entry, name string) (*Entry, error) {
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("%q: %w", name, ErrNoServer)
	case 1:
		return found[0], nil
	}
	where := make([]string, len(found))
	for i, e := range found {
		where[i] = fmt.Sprintf("line %d (%s)", e.Line, e.Scope)
	}
	return nil, fmt.Errorf("%q: %w: %s; say which with --scope user or --scope project", name, ErrAmbiguous, strings.Join(where, ", "))
}
