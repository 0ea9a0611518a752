package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/export"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// exporting is what e is about: some sessions, and of them what the filter of
// the stream lets through.
type exporting struct {
	sessions []*store.Session
	where    string
}

// manyShown is a screen that shows several sessions at once.
type manyShown interface {
	several() []*store.Session
	where() string
}

// toExport is what the screen shows.
func (m *Model) toExport() exporting {
	switch top := m.top().(type) {
	case *sessions:
		return exporting{sessions: top.targets()}
	case *stream:
		if top.s != nil {
			return exporting{[]*store.Session{top.s}, top.view.text}
		}
	case manyShown:
		return exporting{top.several(), top.where()}
	case interface{ session() string }:
		if x := m.session(top.session()); x != nil {
			return exporting{sessions: []*store.Session{x}}
		}
	}
	return exporting{}
}

// what says it in a few words.
func (x *exporting) what(m *Model) Text {
	t := m.naming(x.sessions)
	if x.where != "" {
		t += " " + m.d.g.dot + " only the calls of " + m.d.safe(x.where)
	}
	return t
}

// fileEnd is how the name of a file ends that a format is written to.
func fileEnd(format string) string {
	if f, ok := export.ByName(format); ok && len(f.Ends) > 0 {
		return f.Ends[0]
	}
	return "." + format
}

// file is the name that an export gets when none is given.
func (x *exporting) file(format string) string {
	name := ""
	for _, r := range x.sessions[0].ID { // made for any file system
		if strings.ContainsRune(`/\:*?"<>| `, r) || r < 0x20 || r > 0x7e {
			r = '_'
		}
		name += string(r)
	}
	name = name[:min(len(name), 100)]
	if n := len(x.sessions) - 1; n > 0 {
		name += "+" + string(count(n))
	}
	return name + fileEnd(format)
}

// request is the export in a format to a file.
func (x *exporting) request(format, path string) ExportRequest {
	if path == "" {
		path = x.file(format)
	}
	return ExportRequest{Sessions: x.sessions, Format: format, Where: x.where, Path: path}
}

// export asks for format and file; where nothing can be written, it copies
// the command that does it.
func (m *Model) export() tea.Cmd {
	x := m.toExport()
	switch {
	case len(x.sessions) == 0:
		m.say(inkWarn, "no session to export")
		return nil
	case m.opts.Actions.Export == nil:
		return m.copyExport(&x, "html")
	}
	m.prompt = m.exportPrompt(&x)
	return nil
}

// exportAs exports at once, as :export does.
func (m *Model) exportAs(format, path string) tea.Cmd {
	x := m.toExport()
	switch {
	case len(x.sessions) == 0:
		m.say(inkWarn, "no session to export")
		return nil
	case m.opts.Actions.Export == nil:
		return m.copyExport(&x, format)
	}
	return m.write(x.request(format, path))
}

// copyExport copies the command for the viewer's own machine. Over SSH the
// hub writes no file: what it prints goes into one there.
func (m *Model) copyExport(x *exporting, format string) tea.Cmd {
	t := m.prog() + " export -T " + Text(format)
	if x.where != "" {
		t += " --where " + m.word(m.d.safe(x.where))
	}
	file := quote(m.d.safe(x.file(format)))
	if !m.farCommands() {
		t += " -o " + file
	}
	for _, s := range x.sessions {
		t += " " + m.word(m.d.safe(s.ID))
	}
	if m.farCommands() {
		t += " > " + file
	}
	return m.copy(string(t), "the export command", t)
}

// exportPrompt asks for "FORMAT FILE".
func (m *Model) exportPrompt(x *exporting) *prompt {
	p := &prompt{kind: promptExport, sign: "export ", chosen: -1, what: x.what(m)}
	p.input.set("html " + x.file("html"))
	p.cancel = func() tea.Cmd { return nil }
	p.accept = func(text string) (tea.Cmd, *store.QueryError) {
		format, path := splitExport(text)
		if _, ok := export.ByName(format); !ok {
			return nil, badFormat(1)
		}
		return m.write(x.request(format, path)), nil
	}
	p.offer = func(text string, _ int) []store.Completion {
		format, path := splitExport(text)
		own := path != "" && path != x.file(format) && !isDefault(x, path)
		var out []store.Completion
		for _, f := range formatsHTMLFirst() {
			line := f.Name + " " + x.file(f.Name)
			if own {
				line = f.Name + " " + path
			}
			out = append(out, store.Completion{To: len([]rune(text)), Text: line, Help: f.About})
		}
		return out
	}
	p.offers = p.offer(p.input.text(), 0)
	return p
}

// isDefault reports whether a path is one that was proposed.
func isDefault(x *exporting, path string) bool {
	return slices.ContainsFunc(export.Formats(), func(f export.Format) bool { return x.file(f.Name) == path })
}

// formatsHTMLFirst are the formats, beginning with the one that is proposed.
func formatsHTMLFirst() []export.Format {
	list := slices.Clone(export.Formats())
	slices.SortStableFunc(list, func(a, b export.Format) int {
		return strings.Compare(before(a.Name), before(b.Name))
	})
	return list
}

func before(format string) string {
	if format == "html" {
		return ""
	}
	return "then"
}

func splitExport(text string) (format, path string) {
	format, path, _ = strings.Cut(strings.TrimSpace(text), " ")
	return format, strings.TrimSpace(path)
}

func badFormat(column int) *store.QueryError {
	return &store.QueryError{Column: column, Msg: "formats are " + strings.Join(exportFormats(nil), ", ")}
}

// write writes the file beside Update and says where it is.
func (m *Model) write(e ExportRequest) tea.Cmd {
	to := m.opts.Actions.Export
	command := to.Command(e)
	m.say(inkNote, "writing "+m.d.safe(e.Path))
	return m.work(func(ctx context.Context) done {
		out, err := to.Export(ctx, e)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.say(inkError, "not exported: "+m.d.safe(err.Error()))
				return nil
			}
			m.say(inkOK, "wrote "+m.d.safe(out.Path)+", "+size(out.Bytes))
			for _, n := range out.Notes {
				m.notice.put(inkWarn, "; "+m.d.g.warn+" "+m.d.safe(n))
			}
			m.sayCommand(m.d.safe(command))
			return nil
		}
	})
}
