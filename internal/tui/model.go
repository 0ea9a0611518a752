package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcpsnoop/mcpsnoop/store"
)

// Model is the UI of one viewer.
type Model struct {
	ctx  context.Context
	stop context.CancelFunc
	src  Source
	opts Options
	now  func() time.Time

	d       dress
	profile colorprofile.Profile
	dark    bool
	named   string // the theme that was asked for
	width   int
	height  int
	hasEnv  bool
	hasSize bool

	stack   []screen
	prompt  *prompt
	saved   []SavedFilter
	recent  []string   // filters that were used, the newest last
	deleted []deletion // what u brings back, the newest last
	turn    copyTurn
	// mayReplay are the sessions and targets for which sending was allowed.
	mayReplay map[string]bool
	notice    line // what the last action did; the next key takes it away
	ticking   bool
	rules     Findings
	working   int // pieces of work that have not come back
	changes   <-chan struct{}
	unsub     func()

	dirty bool
	drawn tea.View
}

// screen is one of the screens of the stack.
type screen interface {
	place() place
	crumb() Text              // its part of the path
	facts() (line, line)      // of the title line: what is shown, and its state
	status() (line, line)     // of the line below: counts or filter, and what is special
	command() Text            // what prints the same without the UI
	draw(w, h int) []line     // exactly h lines, each w cells wide
	refresh() tea.Cmd         // the source has changed, or the screen is new
	do(act action) tea.Cmd    // an action that is not the Model's
	sort(letter byte) tea.Cmd // shift and a letter
	mouse(x, y int, e mouse) tea.Cmd
	ages(now time.Time) bool // something on it gets older by the second
}

// mouse is what the mouse did.
type mouse uint8

const (
	mouseClick mouse = iota
	mouseWheelUp
	mouseWheelDown
)

// done is a piece of work that comes back into Update.
type done func(*Model) tea.Cmd

type changedMsg struct{}

type tickMsg struct{}

// minPause is the shortest time between two looks at a source that changes
// without end: at most twenty redraws a second.
const minPause = 50 * time.Millisecond

// New makes the UI of a viewer who looks at src. It ends its subscription and
// all its work when ctx ends.
func New(ctx context.Context, src Source, opts Options) tea.Model {
	m := &Model{src: src, opts: opts, now: opts.Now, dark: true, named: opts.Theme, profile: colorprofile.TrueColor, dirty: true}
	m.ctx, m.stop = context.WithCancel(ctx)
	if m.now == nil {
		m.now = time.Now
	}
	if m.opts.Zone == nil {
		m.opts.Zone = time.UTC
	}
	if m.opts.Command == "" {
		m.opts.Command = "mcpsnoop"
	}
	if m.rules, _ = src.(Findings); m.rules == nil {
		m.rules = newMarkFindings(opts.Messages)
	}
	m.d.g = &unicodeGlyphs
	m.setTheme()
	m.setEnv(opts.Env)
	if opts.Open != "" {
		m.stack = []screen{newStream(m, opts.Open)}
	} else {
		m.stack = []screen{newSessions(m)}
	}
	m.changes, m.unsub = src.Subscribe()
	return m
}

// setEnv takes over the environment of the viewer's terminal.
func (m *Model) setEnv(env []string) {
	if len(env) == 0 {
		return
	}
	m.hasEnv = true
	get := func(name string) string { return lookup(env, name) }
	m.d.g, m.d.ascii = &unicodeGlyphs, false
	if !isUTF8(get) {
		m.d.g, m.d.ascii = &asciiGlyphs, true
	}
	m.profile = Profile(env)
	m.setTheme()
}

// lookup finds a variable; the last one counts.
func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, ok := strings.Cut(env[i], "="); ok && k == name {
			return v
		}
	}
	return ""
}

// Profile is how many colours a terminal with this environment shows.
// NO_COLOR counts with any value but an empty one; nothing is executed and no
// database of terminals is asked, so it holds for a viewer from elsewhere too.
func Profile(env []string) colorprofile.Profile {
	p := colorprofile.Env(env)
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "NO_COLOR="); ok && v != "" && p > colorprofile.ASCII {
			p = colorprofile.ASCII
		}
	}
	return p
}

func (m *Model) setTheme() { m.d.theme = newTheme(m.named, m.profile, m.dark) }

// Init asks for what the terminal can tell and begins to wait for changes.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.wait(0), m.work(func(context.Context) done { return func(m *Model) tea.Cmd { return m.top().refresh() } })}
	if load := m.loadFilters(); load != nil {
		cmds = append(cmds, load)
	}
	if m.profile > colorprofile.ASCII && (m.named == "" || m.named == "auto" || m.named == "contrast") {
		cmds = append(cmds, tea.RequestBackgroundColor)
	}
	return tea.Batch(cmds...)
}

// wait waits for the next change of the source, at least for pause.
func (m *Model) wait(pause time.Duration) tea.Cmd {
	return func() tea.Msg {
		if !m.sleep(pause) {
			m.unsub()
			return nil
		}
		select {
		case <-m.ctx.Done():
			m.unsub()
			return nil
		case <-m.changes:
			return changedMsg{}
		}
	}
}

// sleep reports false when the context has ended.
func (m *Model) sleep(d time.Duration) bool {
	if d <= 0 {
		return m.ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-m.ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// work runs f beside Update and brings what it returns back into it.
func (m *Model) work(f func(ctx context.Context) done) tea.Cmd {
	m.working++
	return func() tea.Msg {
		if m.ctx.Err() == nil {
			if d := f(m.ctx); d != nil {
				return d
			}
		}
		return done(func(*Model) tea.Cmd { return nil })
	}
}

func (m *Model) top() screen { return m.stack[len(m.stack)-1] }

// push shows a screen above the others.
func (m *Model) push(s screen) tea.Cmd {
	m.stack = append(m.stack, s)
	return s.refresh()
}

// pop goes back to the screen below; the last one stays.
func (m *Model) pop() tea.Cmd {
	if len(m.stack) == 1 {
		return nil
	}
	if c, ok := m.top().(interface{ close() }); ok {
		c.close()
	}
	m.stack = m.stack[:len(m.stack)-1]
	return m.top().refresh()
}

// Update takes a message. It never waits for anything.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	if tick := m.tick(); tick != nil {
		cmd = tea.Batch(cmd, tick)
	}
	return m, cmd
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	was := m.dirty
	m.dirty = true
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height, m.hasSize = msg.Width, msg.Height, true
		return m.top().refresh()
	case tea.EnvMsg:
		if !m.hasEnv {
			m.setEnv(msg)
			m.hasEnv = true
		}
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
		m.setTheme()
	case tea.ModeReportMsg:
		if msg.Mode == ansi.ModeUnicodeCore && (msg.Value == ansi.ModeReset || msg.Value == ansi.ModeSet || msg.Value == ansi.ModePermanentlySet) {
			m.d.w.method = ansi.GraphemeWidth // as the renderer does from now on
		}
	case changedMsg:
		return tea.Batch(m.top().refresh(), m.wait(minPause))
	case tickMsg:
		m.ticking = false
		return m.top().refresh()
	case done:
		m.working--
		return msg(m)
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		if m.prompt != nil {
			return m.prompt.insert(m, msg.Content)
		}
		if t, ok := m.top().(typist); ok {
			t.pasted(msg.Content)
		}
	case tea.MouseClickMsg:
		if msg.Button == tea.MouseLeft {
			return m.mouse(msg.X, msg.Y, mouseClick)
		}
	case tea.MouseWheelMsg:
		return m.wheel(msg)
	default:
		m.dirty = was
	}
	return nil
}

func (m *Model) wheel(msg tea.MouseWheelMsg) tea.Cmd {
	switch msg.Button {
	case tea.MouseWheelUp:
		return m.mouse(msg.X, msg.Y, mouseWheelUp)
	case tea.MouseWheelDown:
		return m.mouse(msg.X, msg.Y, mouseWheelDown)
	}
	return nil
}

// tick asks for a redraw in a second when something on the screen gets older.
func (m *Model) tick() tea.Cmd {
	if m.ticking || !m.hasSize || !m.top().ages(m.now()) {
		return nil
	}
	m.ticking = true
	return func() tea.Msg {
		if !m.sleep(time.Second) {
			return nil
		}
		return tickMsg{}
	}
}

// quit ends the program and all work of the Model.
func (m *Model) quit() tea.Cmd {
	m.stop()
	return tea.Quit
}

// session finds a session of the source by its id.
func (m *Model) session(id string) *store.Session {
	for _, s := range m.src.Sessions() {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// say shows what an action did, until the next key.
func (m *Model) say(i ink, t Text) {
	m.notice = line{}
	m.notice.put(i, t)
}

// sayDone shows what an action did and the command that does the same.
func (m *Model) sayDone(t, command Text) {
	m.say(inkNote, t)
	m.sayCommand(command)
}

// sayCommand adds a command to what was said.
func (m *Model) sayCommand(command Text) {
	if command == "" {
		return
	}
	if len(m.notice.spans) > 0 {
		m.notice.put(inkText, "   ")
	}
	m.notice.put(promptSign.ink, promptSign.text)
	m.notice.put(inkText, command)
}

// prog is how commands begin.
func (m *Model) prog() Text { return m.d.safe(m.opts.Command) }
