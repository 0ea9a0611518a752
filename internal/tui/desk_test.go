package tui

import (
	"context"
	"reflect"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// desk is a Model without a program: messages go in one by one, and whatever
// it starts is waited for.
type desk struct {
	t    testing.TB
	m    *Model
	msgs chan tea.Msg
	now  time.Time
	slow []time.Duration // steps that took longer than a key may wait
	most time.Duration   // that a step took

	clipboard []string // what was sent to it
}

var utf8Env = []string{"TERM=xterm-256color", "COLORTERM=truecolor", "LC_ALL=C.UTF-8"}

func sitDown(t testing.TB, src Source, w, h int, opts Options) *desk {
	t.Helper()
	d := &desk{t: t, msgs: make(chan tea.Msg, 1000), now: start.Add(52 * time.Second)}
	if opts.Env == nil {
		opts.Env = utf8Env
	}
	if opts.Now == nil {
		opts.Now = func() time.Time { return d.now }
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.m = New(ctx, src, opts).(*Model)
	t.Cleanup(cancel)
	d.run(d.m.Init())
	d.send(tea.WindowSizeMsg{Width: w, Height: h})
	return d
}

// run runs a command, and those of a batch.
func (d *desk) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				d.run(c)
			}
		default:
			select {
			case d.msgs <- msg:
			case <-d.m.ctx.Done():
			}
		}
	}()
}

// send gives the Model a message and waits until its work is done.
func (d *desk) send(msg tea.Msg) {
	_, cmd := d.m.Update(msg)
	d.run(cmd)
	d.settle()
}

func (d *desk) settle() {
	d.t.Helper()
	deadline := time.After(time.Minute)
	for d.m.working > 0 {
		select {
		case msg := <-d.msgs:
			d.take(msg)
		case <-deadline:
			d.t.Fatalf("%d pieces of work do not come back", d.m.working)
		}
	}
}

// take is what the program does with a message that a command brought.
func (d *desk) take(msg tea.Msg) {
	if v := reflect.ValueOf(msg); v.Kind() == reflect.String && v.Type().Name() == "setClipboardMsg" {
		d.clipboard = append(d.clipboard, v.String())
		return
	}
	begin := time.Now()
	_, cmd := d.m.Update(msg)
	took := time.Since(begin)
	d.most = max(d.most, took)
	if *timed && took > 50*time.Millisecond*slower {
		d.slow = append(d.slow, took)
	}
	d.run(cmd)
}

// keys presses keys: words like enter and ctrl+f, anything else is typed.
func (d *desk) keys(keys ...string) *desk {
	d.t.Helper()
	for _, k := range keys {
		if msg, ok := namedKeys[k]; ok {
			d.send(msg)
			continue
		}
		for _, r := range k {
			d.send(tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return d
}

var namedKeys = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab},
	"space": {Code: tea.KeySpace, Text: " "}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "backspace": {Code: tea.KeyBackspace},
	"ctrl+f": {Code: 'f', Mod: tea.ModCtrl}, "ctrl+b": {Code: 'b', Mod: tea.ModCtrl}, "ctrl+c": {Code: 'c', Mod: tea.ModCtrl},
	"ctrl+d": {Code: 'd', Mod: tea.ModCtrl}, "ctrl+l": {Code: 'l', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl},
	"ctrl+s":    {Code: 's', Mod: tea.ModCtrl},
	"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift},
}

// screen is what stands on the screen, without colours.
func (d *desk) screen() string {
	return plainScreen(d.m)
}

// check finds lines that do not have exactly the width of the screen.
func (d *desk) check(what string) {
	d.t.Helper()
	lines, _ := d.m.lines()
	if len(lines) != d.m.height && d.m.width > 0 {
		d.t.Errorf("%s at %dx%d: %d lines", what, d.m.width, d.m.height, len(lines))
	}
	plain := &theme{}
	for i, l := range lines {
		if n := d.m.d.w.of(Text(plain.render(nil, l))); n != d.m.width {
			d.t.Errorf("%s at %dx%d: line %d is %d cells wide: %q", what, d.m.width, d.m.height, i, n, plain.render(nil, l))
		}
	}
}
