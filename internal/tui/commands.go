package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/export"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// command is a word of the command line.
type command struct {
	name  Text
	takes Text // what follows, for the help
	help  Text
	run   func(m *Model, arg string) (tea.Cmd, *store.QueryError)
	offer func(m *Model) []string // what may follow
}

// commands are all words of the command line, in the order of the help. A
// number alone goes to that frame.
func commands() []command {
	return []command{
		{"sessions", "", "the list of sessions", runSessions, nil},
		{"open", "SESSION", "the stream of a session", runOpen, sessionNames},
		{"compare", "BEFORE AFTER", "two sessions: the marked ones, or those named", runCompare, sessionNames},
		{"merge", "SESSION...", "sessions as one stream by time: the marked ones, else all", runMerge, sessionNames},
		{"search", "WORDS", "all sessions, with the words of the filter", runSearch, nil},
		{"filter", "WORDS", "filter this list", runFilter, nil},
		{"filters", "", "the filters with names; @NAME in a filter stands for one", runFilters, nil},
		{"save", "NAME [WORDS]", "keep the filter of this list, or these words, under a name", runSave, savedNames},
		{"forget", "NAME", "forget a filter with a name", runForget, savedNames},
		{"goto", "SEQ", "the frame with this number; :SEQ does too", runGoto, nil},
		{"findings", "", "what the rules found in the session", runSheet(actFindings), nil},
		{"tools", "", "its tools", runSheet(actTools), nil},
		{"calls", "", "its calls over time", runSheet(actCalls), nil},
		{"capabilities", "", "what both sides can do", runSheet(actCaps), nil},
		{"elicitations", "", "what the server asked the user", runSheet(actElicits), nil},
		{"export", "FORMAT [FILE]", "export what is shown to a file; over SSH, copy the command that does", runExport, exportFormats},
		{"replay", "", "send the call again, and see its answer beside the recorded one", runAct(actReplay), nil},
		{"edit", "", "edit the params of the call, and send it then", runAct(actEdit), nil},
		{"theme", "NAME", "auto, dark, light, contrast or none", runTheme, themes},
		{"help", "", "all keys", func(m *Model, _ string) (tea.Cmd, *store.QueryError) { return m.act(actHelp), nil }, nil},
		{"quit", "", "quit", func(m *Model, _ string) (tea.Cmd, *store.QueryError) { return m.quit(), nil }, nil},
	}
}

func themes(*Model) []string { return themeNames[:] }

func exportFormats(*Model) []string {
	var out []string
	for _, f := range export.Formats() {
		out = append(out, f.Name)
	}
	return out
}

func sessionNames(m *Model) []string {
	var out []string
	for _, s := range m.src.Sessions() {
		out = append(out, s.ID)
	}
	return out
}

// commandPrompt asks for a command.
func commandPrompt(m *Model) *prompt {
	p := &prompt{kind: promptCommand, sign: ": ", chosen: -1}
	p.cancel = func() tea.Cmd { return nil }
	p.accept = func(text string) (tea.Cmd, *store.QueryError) {
		m.prompt = nil
		cmd, wrong := m.run(text)
		if wrong != nil {
			m.prompt = p
		}
		return cmd, wrong
	}
	p.offer = func(text string, _ int) []store.Completion { return offers(m, text) }
	p.offers = offers(m, "")
	return p
}

// run does what a line of the command line says.
func (m *Model) run(text string) (tea.Cmd, *store.QueryError) {
	text = strings.TrimSpace(text)
	name, arg, _ := strings.Cut(text, " ")
	arg = strings.TrimSpace(arg)
	if name == "" {
		return nil, nil
	}
	if _, err := strconv.ParseUint(name, 10, 64); err == nil {
		return runGoto(m, name)
	}
	var found *command
	all := commands()
	for i := range all {
		c := &all[i]
		if string(c.name) == name {
			return c.run(m, arg)
		}
		if strings.HasPrefix(string(c.name), name) {
			if found != nil {
				return nil, &store.QueryError{Column: 1, Msg: name + " may be " + string(found.name) + " or " + string(c.name)}
			}
			found = c
		}
	}
	if found == nil {
		return nil, &store.QueryError{Column: 1, Msg: "no command " + name + "; tab lists them"}
	}
	return found.run(m, arg)
}

// offers are the ways to complete a command line.
func offers(m *Model, text string) []store.Completion {
	name, arg, second := strings.Cut(strings.TrimLeft(text, " "), " ")
	lead := len([]rune(text)) - len([]rune(strings.TrimLeft(text, " ")))
	var out []store.Completion
	if !second {
		for _, c := range commands() {
			if strings.HasPrefix(string(c.name), name) {
				t := string(c.name)
				if c.takes != "" {
					t += " "
				}
				out = append(out, store.Completion{From: lead, To: lead + len([]rune(name)), Text: t, Help: string(c.help)})
			}
		}
		return out
	}
	for _, c := range commands() {
		if string(c.name) != name || c.offer == nil {
			continue
		}
		from := lead + len([]rune(name)) + 1
		for _, o := range c.offer(m) {
			if strings.HasPrefix(o, arg) {
				out = append(out, store.Completion{From: from, To: from + len([]rune(arg)), Text: o})
			}
		}
	}
	return out
}

func runSessions(m *Model, _ string) (tea.Cmd, *store.QueryError) {
	for len(m.stack) > 1 {
		m.pop()
	}
	if m.top().place() != inSessions {
		return m.push(newSessions(m)), nil
	}
	return m.top().refresh(), nil
}

func runOpen(m *Model, arg string) (tea.Cmd, *store.QueryError) {
	column := len("open ") + 1
	if arg == "" {
		return nil, &store.QueryError{Column: column, Msg: "which session? tab lists them"}
	}
	var found *store.Session
	for _, s := range m.src.Sessions() {
		switch {
		case s.ID == arg:
			m.src.Want(s.ID)
			return m.push(newStream(m, s.ID)), nil
		case s.Summary().Label == arg && found == nil, strings.HasPrefix(s.ID, arg) && found == nil:
			found = s
		}
	}
	if found == nil {
		return nil, &store.QueryError{Column: column, Msg: "no session begins like that"}
	}
	m.src.Want(found.ID)
	return m.push(newStream(m, found.ID)), nil
}

func runSheet(act action) func(m *Model, _ string) (tea.Cmd, *store.QueryError) {
	return func(m *Model, _ string) (tea.Cmd, *store.QueryError) { return m.openSheet(act), nil }
}

func runFilter(m *Model, arg string) (tea.Cmd, *store.QueryError) {
	f, ok := m.top().(interface{ filterPrompt() *prompt })
	if !ok {
		return nil, &store.QueryError{Column: 1, Msg: "there is no list here"}
	}
	cmd, wrong := f.filterPrompt().accept(arg)
	if wrong != nil {
		wrong.Column += len("filter ")
	}
	return cmd, wrong
}

func runGoto(m *Model, arg string) (tea.Cmd, *store.QueryError) {
	s, ok := m.top().(*stream)
	if !ok || s.s == nil {
		return nil, &store.QueryError{Column: 1, Msg: "open a session first"}
	}
	seq, err := strconv.ParseUint(strings.TrimPrefix(arg, "#"), 10, 64)
	if err != nil {
		return nil, &store.QueryError{Column: 1, Msg: "a frame has a number"}
	}
	i, ok := searchSeq(s.s, seq)
	if !ok {
		return nil, &store.QueryError{Column: 1, Msg: "no frame has the number " + strconv.FormatUint(seq, 10)}
	}
	return s.jump(i), nil
}

// searchSeq finds the frame with a number: they are in its order.
func searchSeq(s *store.Session, seq uint64) (uint32, bool) {
	lo, hi := uint32(0), s.Len()
	for lo < hi {
		mid := lo + (hi-lo)/2
		if s.Frame(mid).Seq < seq {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < s.Len() && s.Frame(lo).Seq == seq
}

func runExport(m *Model, arg string) (tea.Cmd, *store.QueryError) {
	format, path := splitExport(arg)
	if format == "" {
		return m.export(), nil
	}
	if _, ok := export.ByName(format); !ok {
		return nil, badFormat(len("export ") + 1)
	}
	return m.exportAs(format, path), nil
}

func runTheme(m *Model, arg string) (tea.Cmd, *store.QueryError) {
	for _, t := range themeNames {
		if t == arg {
			m.named = arg
			m.setTheme()
			return nil, nil
		}
	}
	return nil, &store.QueryError{Column: len("theme ") + 1, Msg: "themes are " + strings.Join(themeNames[:], ", ")}
}
