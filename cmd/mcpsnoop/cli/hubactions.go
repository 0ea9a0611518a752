package cli

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/mcpsnoop/mcpsnoop/internal/tui"
	"github.com/mcpsnoop/mcpsnoop/sshui"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// hubActions are what a viewer of a hub may do besides looking: nothing, or
// what operators may, each act of it written down with who did it. There is
// never an Export or an Editor: no file of a viewer is on the hub, and no
// program of one runs there.
func hubActions(v sshui.Visitor, logs *slog.Logger, trash tui.Trash, replay tui.Replayer) tui.Actions {
	if v.Role != sshui.Operator {
		return tui.Actions{Denied: "operators only; this key is a viewer's"}
	}
	who := logs.With("key", v.Fingerprint, "role", v.Role.String(), "addr", v.Addr.String())
	out := tui.Actions{Denied: "not on this hub"}
	if trash != nil {
		out.Trash = loggedTrash{trash, who}
	}
	if replay != nil {
		out.Replay = loggedReplay{replay, who}
	}
	return out
}

// wrote writes down what somebody did, and whether it was done.
func wrote(ctx context.Context, who *slog.Logger, what string, err error, args ...any) {
	if err != nil {
		who.WarnContext(ctx, what, append(args, "failed", err)...)
		return
	}
	who.InfoContext(ctx, what, args...)
}

// loggedTrash writes down what is deleted and brought back.
type loggedTrash struct {
	tui.Trash
	who *slog.Logger
}

// Delete is that of tui.Trash.
func (t loggedTrash) Delete(ctx context.Context, s *store.Session) error {
	err := t.Trash.Delete(ctx, s)
	wrote(ctx, t.who, "delete", err, "session", s.ID)
	return err
}

// Restore is that of tui.Trash.
func (t loggedTrash) Restore(ctx context.Context, id string) error {
	err := t.Trash.Restore(ctx, id)
	wrote(ctx, t.who, "bring back", err, "session", id)
	return err
}

// loggedReplay writes down what is sent again, before it is. Copies of logs of
// other machines are left alone: the command in them is one of those machines,
// and who sits at this one has not agreed to it.
type loggedReplay struct {
	tui.Replayer
	who *slog.Logger
}

// Plan is that of tui.Replayer.
func (r loggedReplay) Plan(s *store.Session, op uint32, params []byte) (tui.ReplayPlan, error) {
	if s.Origin != "" {
		return tui.ReplayPlan{}, fmt.Errorf("the session is a copy from %s; send the call again there", s.Origin)
	}
	return r.Replayer.Plan(s, op, params)
}

// Send is that of tui.Replayer.
func (r loggedReplay) Send(ctx context.Context, p tui.ReplayPlan) (tui.ReplayAnswer, error) {
	wrote(ctx, r.who, "replay", nil, "session", p.Session.ID, "operation", p.Op, "edited", p.Edited)
	a, err := r.Replayer.Send(ctx, p)
	if err != nil {
		wrote(ctx, r.who, "replay", err, "session", p.Session.ID, "operation", p.Op)
	}
	return a, err
}
