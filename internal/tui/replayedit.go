package tui

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// editCall lets the user change the params of a call before it is sent: in
// their own editor where there is one, else here.
func (m *Model) editCall(s *store.Session, op uint32) tea.Cmd {
	replay := m.opts.Actions.Replay
	return m.work(func(context.Context) done {
		params, err := replay.Params(s, op)
		var text []byte
		if err == nil {
			text = indentJSON(nil, params, 0, m.d.ascii)
		}
		return func(m *Model) tea.Cmd {
			switch {
			case err != nil:
				m.say(inkWarn, "not edited: "+m.d.safe(err.Error()))
				return nil
			case m.opts.Actions.Editor != nil:
				return m.editOutside(s, op, text)
			case len(text) > maxEdit:
				m.say(inkWarn, "the params are "+size(len(text))+", too long to be edited here; set EDITOR to a program that can")
				return nil
			}
			return m.push(newEditScreen(m, s, op, string(text)))
		}
	})
}

// editOutside runs the user's editor on a copy of the params. What it leaves
// behind that is no JSON is edited further here.
func (m *Model) editOutside(s *store.Session, op uint32, text []byte) tea.Cmd {
	editor := m.opts.Actions.Editor
	return m.work(func(context.Context) done {
		program, finish, err := editor.Open(text)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.say(inkError, "not edited: "+m.d.safe(err.Error()))
				return nil
			}
			m.working++
			return tea.ExecProcess(program, func(failed error) tea.Msg {
				edited, err := finish()
				return done(func(m *Model) tea.Cmd { return m.edited(s, op, text, edited, errors.Join(failed, err)) })
			})
		}
	})
}

func (m *Model) edited(s *store.Session, op uint32, before, after []byte, err error) tea.Cmd {
	switch {
	case err != nil:
		m.say(inkError, "not sent: the editor ended with "+m.d.safe(err.Error()))
		return nil
	case bytes.Equal(bytes.TrimSpace(before), bytes.TrimSpace(after)):
		m.say(inkNote, "nothing was changed, and nothing sent; r sends the call as it is")
		return nil
	}
	return m.planReplay(s, op, after, func(err error) tea.Cmd {
		if len(after) > maxEdit {
			m.say(inkWarn, "not sent: "+m.d.safe(err.Error()))
			return nil
		}
		e := newEditScreen(m, s, op, string(after))
		e.before = string(before)
		e.refuse(err)
		return m.push(e)
	})
}

// indentJSON writes a value over several lines for editing. It stays the same
// value: strings and numbers as they stand, but characters that no terminal
// should get as escapes.
func indentJSON(dst, v []byte, depth int, ascii bool) []byte {
	line := func() { dst = append(append(dst, '\n'), bytes.Repeat([]byte("  "), min(depth+1, 40))...) }
	closing := func(c byte) {
		dst = append(append(dst, '\n'), bytes.Repeat([]byte("  "), min(depth, 40))...)
		dst = append(dst, c)
	}
	n := 0
	switch wire.TypeOf(v) {
	case wire.Object:
		dst = append(dst, '{')
		for m := wire.MembersOf(v); m.Next(); n++ {
			if n > 0 {
				dst = append(dst, ',')
			}
			line()
			dst = append(escapeJSON(dst, wire.AppendString(nil, m.Key), ascii), ": "...)
			dst = indentJSON(dst, m.Value, depth+1, ascii)
		}
		if n == 0 {
			return append(dst, '}')
		}
		closing('}')
	case wire.Array:
		dst = append(dst, '[')
		for e := wire.ElementsOf(v); e.Next(); n++ {
			if n > 0 {
				dst = append(dst, ',')
			}
			line()
			dst = indentJSON(dst, e.Value, depth+1, ascii)
		}
		if n == 0 {
			return append(dst, ']')
		}
		closing(']')
	default:
		dst = escapeJSON(dst, wire.TrimSpace(v), ascii)
	}
	return dst
}

// escapeJSON writes what is not shown as it is in the way of JSON: \u and four
// digits.
func escapeJSON(dst, v []byte, ascii bool) []byte {
	for _, r := range string(v) {
		if r >= 0x20 && r < 0x7f || string(Safe(string(r), ascii)) == string(r) {
			dst = append(dst, string(r)...)
			continue
		}
		for _, u := range utf16Units(r) {
			hex := strconv.FormatUint(uint64(u), 16)
			dst = append(append(dst, `\u0000`[:6-len(hex)]...), hex...)
		}
	}
	return dst
}

// utf16Units are the units of a character in UTF-16.
func utf16Units(r rune) []uint16 {
	if r < 0x10000 {
		return []uint16{uint16(r)}
	}
	r -= 0x10000
	return []uint16{uint16(0xd800 + r>>10), uint16(0xdc00 + r&0x3ff)}
}

// editScreen edits the params of a call in place.
type editScreen struct {
	m      *Model
	s      *store.Session
	op     uint32
	edit   textEdit
	before string // the text as it was
	wrong  Text   // what is wrong with it
	warned bool   // that changes are dropped
}

func newEditScreen(m *Model, s *store.Session, op uint32, text string) *editScreen {
	return &editScreen{m: m, s: s, op: op, edit: newTextEdit(text), before: text}
}

func (e *editScreen) place() place    { return inEdit }
func (e *editScreen) session() string { return e.s.ID }
func (e *editScreen) crumb() Text     { return "edit #" + requestSeq(e.s, e.op) }

func (e *editScreen) facts() (line, line) {
	o := e.s.Op(store.OpIndex(e.op))
	return of(span{"params of " + e.m.d.safe(e.s.OpMethod(o)) + " " + e.m.d.safe(e.s.OpName(o)), inkDim}), line{}
}

func (e *editScreen) status() (line, line) {
	at := of(span{"line " + count(e.edit.row+1) + " column " + count(e.edit.col+1) + " ", inkDim})
	if e.wrong != "" {
		return of(span{e.wrong, inkError}), line{}
	}
	return of(span{"ctrl-s", inkKey}, span{" sends it, ", inkDim}, span{"esc", inkKey}, span{" goes back", inkDim}), at
}

func (e *editScreen) command() Text       { return "" }
func (e *editScreen) refresh() tea.Cmd    { return nil }
func (e *editScreen) sort(byte) tea.Cmd   { return nil }
func (e *editScreen) ages(time.Time) bool { return false }
func (e *editScreen) do(action) tea.Cmd   { return nil }
func (e *editScreen) mouse(_, y int, k mouse) tea.Cmd {
	switch k {
	case mouseWheelUp:
		e.edit.to(e.edit.row-3, e.edit.col)
	case mouseWheelDown:
		e.edit.to(e.edit.row+3, e.edit.col)
	case mouseClick:
		e.edit.to(e.edit.top+y, e.edit.col)
	}
	return nil
}

// typed takes every key but those that end the program.
func (e *editScreen) typed(msg tea.KeyPressMsg) tea.Cmd {
	switch msg.String() {
	case "ctrl+s":
		return e.send()
	case "esc":
		if e.edit.text() != e.before && !e.warned {
			e.warned = true
			e.m.say(inkWarn, "esc again drops what was changed")
			return nil
		}
		return e.m.pop()
	case "ctrl+l":
		return tea.ClearScreen
	}
	e.warned = false
	if e.edit.key(msg) {
		e.wrong = ""
	}
	return nil
}

func (e *editScreen) pasted(text string) {
	e.edit.insert(text)
	e.wrong, e.warned = "", false
}

// send sends the call with what stands here, when that is JSON.
func (e *editScreen) send() tea.Cmd {
	text := []byte(e.edit.text())
	return e.m.planReplay(e.s, e.op, text, func(err error) tea.Cmd {
		e.refuse(err)
		return nil
	})
}

// refuse says what is wrong, and moves to the place where that is known.
func (e *editScreen) refuse(err error) {
	e.wrong = e.m.d.safe(err.Error())
	var bad *wire.SyntaxError
	if errors.As(err, &bad) {
		e.edit.at(bad.Offset)
		e.wrong = "line " + count(e.edit.row+1) + " column " + count(e.edit.col+1) + ": want " + e.m.d.safe(bad.Want)
	}
	e.m.say(inkError, "not sent: "+e.wrong)
}

// numbers is the width of the line numbers.
func (e *editScreen) numbers() int { return max(len(strconv.Itoa(len(e.edit.lines))), 2) + 2 }

func (e *editScreen) draw(w, h int) []line {
	d := &e.m.d
	e.edit.show(h)
	room := max(1, w-e.numbers()-1)
	var out []line
	for i := e.edit.top; i < len(e.edit.lines) && len(out) < h; i++ {
		l := of(span{d.w.padLeft(count(i+1), e.numbers()-1) + " ", inkDim})
		in := input{runes: e.edit.lines[i]}
		if i == e.edit.row {
			in.at = e.edit.col
			l.spans[0].ink = inkStrong
		}
		t, _ := in.draw(d, room)
		l.put(inkText, t)
		out = append(out, d.w.fit(l, w, d.g.dots))
	}
	return pad(d, out, w, h)
}

// cursor is where the next character goes.
func (e *editScreen) cursor(w int) (x, y int) {
	in := input{runes: e.edit.lines[e.edit.row], at: e.edit.col}
	_, x = in.draw(&e.m.d, max(1, w-e.numbers()-1))
	return min(e.numbers()+x, w-1), e.edit.row - e.edit.top
}
