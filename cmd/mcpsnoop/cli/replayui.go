package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/mcpsnoop/mcpsnoop/internal/play"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/internal/tui"
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// replayer sends calls again for viewers of the UI: to a server that the user
// named, else to a copy of the one that the session was recorded from. The copy
// runs on this machine, with the environment of this program; the UI asks
// before the first time. Over SSH it is for operators alone.
type replayer struct {
	app    *App
	read   play.ReadFunc  // frames as the viewer sees them
	target *play.Target   // nil for recorded commands
	engine *redact.Engine // what comes back is shown through it; nil shows all
	name   string         // of the session on a command line, "" for its id
	pipe   bool           // nothing names the session, or the viewer has no such command line
}

// newReplayer is what a hub's viewers replay with. read is that of the Source
// they look at; far says that they are on another machine, where the command
// that does the same is of no use.
func (a *App) newReplayer(read play.ReadFunc, far bool) tui.Replayer {
	return &replayer{app: a, read: read, pipe: far}
}

// Plan says what would be sent and to whom.
func (r *replayer) Plan(s *store.Session, op uint32, params []byte) (tui.ReplayPlan, error) {
	call, err := play.Prepare(s, store.OpIndex(op), r.read, params)
	if err != nil {
		return tui.ReplayPlan{}, err
	}
	target, err := r.targetOf(s)
	if err != nil {
		return tui.ReplayPlan{}, err
	}
	id := int64(1)
	if !call.Peer.Revision.Modern() {
		id = 2 // behind the handshake
	}
	p := tui.ReplayPlan{
		Session: s, Op: op, Target: target.String(), Starts: target.URL == "", Dir: target.Dir,
		Method: call.Method, Name: call.Name(), Request: call.Request(id), Edited: call.Edited, Notes: call.Notes,
		Recorded: tui.ReplayEnd{Message: call.Recorded.Message, State: call.Recorded.State, Took: call.Recorded.Took, Cut: call.Recorded.Cut},
		Call:     prepared{call, target},
	}
	if here, there := r.app.Process.Host, s.Summary().Meta.Host; p.Starts && here != "" && there != "" && here != there {
		p.Notes = append(p.Notes, "the command was recorded on "+there+", and this is "+here)
	}
	if !call.Edited && !r.pipe {
		p.Command = r.command(s, call, &target)
	}
	return p, nil
}

// prepared is what Plan keeps for Send.
type prepared struct {
	call   *play.Call
	target play.Target
}

func (r *replayer) targetOf(s *store.Session) (play.Target, error) {
	if r.target != nil {
		return *r.target, nil
	}
	t, err := play.Recorded(s)
	if errors.Is(err, play.ErrNoCommand) {
		err = fmt.Errorf("%w; say where to send it: mcpsnoop open --replay-target URL %s", err, shellWord(s.ID))
	}
	t.Env = r.app.Env
	return t, err
}

// command is the command line that does the same. The value of a header may be
// a secret and is left out.
func (r *replayer) command(s *store.Session, call *play.Call, t *play.Target) string {
	name := r.name
	if name == "" {
		name = s.ID
	}
	text := "mcpsnoop replay --where seq:" + strconv.FormatUint(call.Seq, 10)
	if t.URL != "" {
		text += " --target " + shellWord(t.URL)
		for _, k := range slices.Sorted(maps.Keys(t.Header)) {
			text += " --replay-header " + shellWord(k+": ...")
		}
		return text + " " + shellWord(name)
	}
	if t.Dir != "" && t.Dir != r.app.Dir {
		text = "cd " + shellWord(t.Dir) + " && " + text
	}
	return text + " " + shellWord(name) + " -- " + shellWords(t.Command)
}

// Params are those of the captured call.
func (r *replayer) Params(s *store.Session, op uint32) ([]byte, error) {
	o := s.Op(store.OpIndex(op))
	if !o.Client {
		return nil, play.ErrNotClient
	}
	rec, err := r.read(s, o.Request)
	switch {
	case err != nil:
		return nil, err
	case rec.Truncated:
		return nil, errors.New("the request was recorded cut: what is missing cannot be sent")
	}
	if p := wire.ParseMessage(rec.Raw).Params; p != nil {
		return p, nil
	}
	return []byte("{}"), nil
}

// Send sends a call that Plan has made.
func (r *replayer) Send(ctx context.Context, p tui.ReplayPlan) (tui.ReplayAnswer, error) {
	it, ok := p.Call.(prepared)
	if !ok {
		return tui.ReplayAnswer{}, errors.New("the call was not prepared")
	}
	if !r.app.replays.begin() {
		return tui.ReplayAnswer{}, context.Canceled
	}
	defer r.app.replays.end()
	a, err := play.Once(ctx, it.target, it.call, play.Options{Clock: r.app.Clock})
	out := tui.ReplayAnswer{ReplayEnd: tui.ReplayEnd{Message: a.Message, State: a.State, Took: a.Took}, Notes: a.Notes}
	if r.engine.Active() && out.Message != nil {
		out.Message, _ = r.engine.Payload(nil, out.Message)
	}
	for i, n := range out.Notes {
		out.Notes[i], _ = r.engine.Text(n)
	}
	if err != nil { // it may hold what the server said
		if text, changed := r.engine.Text(err.Error()); changed {
			err = errors.New(text)
		}
	}
	return out, err
}

// replayTo are the flags that say where calls are sent again.
type replayTo struct {
	Target  string
	Headers []string
}

// parse gives the target that was named, nil for none.
func (o *replayTo) parse() (*play.Target, error) {
	if o.Target == "" {
		if len(o.Headers) > 0 {
			return nil, usagef("--replay-header goes with --replay-target")
		}
		return nil, nil //nolint:nilnil // no target is no mistake: the recorded command is one
	}
	t, err := replayTarget("--replay-target", o.Target, o.Headers)
	return &t, err
}
