package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// stdinArg names the log on standard input.
const stdinArg = "-"

// source is a log that an argument named.
type source struct {
	Name   string // for messages
	Log    capture.Log
	Stdin  bool
	Origin string
}

var errNoSession = errors.New("no session has been recorded yet")

// sources finds the logs that arguments name; none means the newest session.
func (a *App) sources(args []string) ([]source, error) {
	if len(args) == 0 {
		args = []string{""}
	}
	var out []source
	var saved []savedLog
	listed := false
	for _, arg := range args {
		if arg != stdinArg && !isPath(arg) && !listed {
			var err error
			if saved, err = a.savedLogs(); err != nil {
				return nil, err
			}
			listed = true
		}
		s, err := a.source(arg, saved)
		if err != nil {
			return nil, err
		}
		if s.Stdin && slices.ContainsFunc(out, func(o source) bool { return o.Stdin }) {
			return nil, usagef("standard input (-) can be read only once")
		}
		if !slices.ContainsFunc(out, func(o source) bool { return !s.Stdin && !o.Stdin && o.Log.Path == s.Log.Path }) {
			out = append(out, s)
		}
	}
	return out, nil
}

// source finds one log: "" is the newest one.
func (a *App) source(arg string, saved []savedLog) (source, error) {
	switch {
	case arg == stdinArg:
		return source{Name: "standard input", Stdin: true}, nil
	case isPath(arg):
		return a.pathSource(arg)
	case arg == "" && len(saved) == 0:
		return source{}, withHint(errNoSession, "record one with: mcpsnoop -- CMD, or name a log")
	case arg == "":
		return savedSource(saved[0]), nil
	}
	var starts []savedLog
	for _, l := range saved {
		if l.ID == arg {
			return savedSource(l), nil
		}
		if strings.HasPrefix(l.ID, arg) {
			starts = append(starts, l)
		}
	}
	for _, l := range saved { // newest first
		if l.Label == arg {
			return savedSource(l), nil
		}
	}
	switch len(starts) {
	case 1:
		return savedSource(starts[0]), nil
	case 0:
		if _, err := a.FS.Stat(a.abs(arg)); err == nil {
			return a.pathSource(arg)
		}
		return source{}, a.noSuchSession(arg, saved)
	}
	return source{}, withHint(fmt.Errorf("session %q is ambiguous: %s", arg, candidates(starts)), "give more of the id")
}

func savedSource(l savedLog) source { return source{Name: l.ID, Log: l.Log, Origin: l.Origin} }

func (a *App) pathSource(arg string) (source, error) {
	if info, err := a.FS.Stat(a.abs(arg)); err == nil && info.IsDir() {
		return source{}, withHint(fmt.Errorf("read %s: it is a folder", arg), "name a log in it")
	}
	log, err := capture.Locate(a.FS, a.abs(arg))
	if err != nil {
		hint := `"mcpsnoop sessions" lists what is saved`
		if errors.Is(err, fs.ErrPermission) {
			hint = "its owner can make it readable"
		}
		return source{}, withHint(fmt.Errorf("read %s: %w", arg, plain(err)), "%s", hint)
	}
	return source{Name: arg, Log: log}, nil
}

// plain takes operation and path out of an error of the file system: the
// message that it becomes part of has them.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

func (a *App) noSuchSession(arg string, saved []savedLog) error {
	var names []string
	for _, l := range saved {
		names = append(names, l.Label)
	}
	if name := nearest(arg, names); name != "" {
		return withHint(fmt.Errorf("no session %q", arg), "did you mean %q", name)
	}
	return withHint(fmt.Errorf("no session %q and no such file", arg), `"mcpsnoop sessions" lists what is saved`)
}

// candidates lists the first few ids that a prefix may stand for.
func candidates(logs []savedLog) string {
	const shown = 6
	var ids []string
	for _, l := range logs[:min(len(logs), shown)] {
		ids = append(ids, l.ID)
	}
	s := strings.Join(ids, ", ")
	if n := len(logs) - shown; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

func sortNewestFirst(logs []savedLog) {
	slices.SortStableFunc(logs, func(a, b savedLog) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(a.Origin, b.Origin))
	})
}

// open begins to read a log.
func (a *App) open(s source) (*capture.Reader, error) {
	if s.Stdin {
		return capture.NewReader(a.In, "stdin"), nil
	}
	r, err := capture.OpenLog(a.FS, s.Log)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.Name, plain(err))
	}
	return r, nil
}

// readError makes the message for a log that could not be read to its end.
func readError(s source, err error) error {
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, capture.ErrNotLog):
		return fmt.Errorf("read %s: %w", s.Name, err)
	case errors.Is(err, capture.ErrEmpty):
		return withHint(fmt.Errorf("read %s: %w", s.Name, err), "nothing was captured, or the log is still to come")
	}
	return fmt.Errorf("read %s: %w", s.Name, plain(err))
}
