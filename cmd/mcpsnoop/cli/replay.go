package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcpsnoop/mcpsnoop/httpproxy"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/play"
	"github.com/mcpsnoop/mcpsnoop/store"
)

type replayOptions struct {
	Target  string
	Headers []string
	Command []string
	Ignore  []string
	Where   string
	Timeout time.Duration
	Format  *choice
	Session []string
}

func newReplayCmd(app *App) *cobra.Command {
	o := &replayOptions{Format: newChoice("text", "text", "json")}
	cmd := &cobra.Command{
		Use:   "replay [flags] [SESSION] (--target URL | -- CMD [ARG...])",
		Short: "Send the captured client calls to a server and compare the answers",
		Long: `Send what the client asked in a session to a server again, in order, and compare
the answers with the recorded ones: to a server that is started for it, or to an
address. Handshake, metadata and headers are made for the revision of the
session. Exit code 0: nothing got worse. 1: the status of a call did. 2: nothing
was sent.

A call in which redaction hid a value, or that was recorded cut, is skipped and
said so. No redirect is followed, and no credential is sent but --replay-header.`,
		Example: `  mcpsnoop replay files -- node build/index.js
  mcpsnoop replay --where seq:12 files -- node build/index.js
  mcpsnoop replay --target http://localhost:3000/mcp --ignore-path '$..timestamp' files`,
		ValidArgsFunction: app.completeSessions,
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				args = args[:dash]
			}
			return atMostOne("session")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Session = args
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				o.Session, o.Command = args[:dash], args[dash:]
			}
			return runReplay(cmd.Context(), app, o)
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

func (o *replayOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Target, "target", "", "send the calls to the server at this `URL`")
	f.StringArrayVar(&o.Headers, "replay-header", nil, "`'K: V'` to set on each HTTP request, the only credential; may be repeated")
	f.StringArrayVar(&o.Ignore, "ignore-path", nil, "leave this `PATH` of an answer ($.result.content[0].text, $..time, /result/content) out of the comparison; may be repeated")
	f.StringVar(&o.Where, "where", "", "only calls that match this `FILTER`; seq:12 is one of them")
	f.DurationVar(&o.Timeout, "timeout", play.DefaultTimeout, "wait this `TIME` for an answer")
	f.Var(o.Format, "format", "how to report")
}

func runReplay(ctx context.Context, app *App, o *replayOptions) error {
	run, err := o.prepare(app)
	if err != nil {
		return err
	}
	list, err := app.sources(o.Session)
	if err != nil {
		return err
	}
	s, remove, err := app.spool(ctx, list[0])
	if err != nil {
		return err
	}
	defer remove()
	s, unline, err := app.lined(ctx, s)
	if err != nil {
		return err
	}
	defer unline()
	sessions, err := app.load(ctx, s, loadOptions{})
	if err != nil {
		return err
	}
	if len(sessions) == 0 {
		return readError(s, capture.ErrEmpty)
	}
	session := sessions[len(sessions)-1].Session
	if run.target.URL == "" && len(run.target.Command) == 0 {
		return noTarget(session)
	}
	bodies := capture.NewBodies(app.FS)
	defer bodies.Close()
	run.session, run.read = session, frameReader(bodies)
	if err := run.all(ctx); err != nil {
		return cause(ctx, err)
	}
	write := run.writeText
	if o.Format.value == "json" {
		write = run.writeJSON
	}
	if err := write(app.Out); err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	if run.count[replayWorse] > 0 {
		return errFound
	}
	return nil
}

// prepare reads the flags.
func (o *replayOptions) prepare(app *App) (*replayRun, error) {
	run := &replayRun{o: play.Options{Timeout: o.Timeout, Clock: app.Clock}}
	switch {
	case o.Target != "" && len(o.Command) > 0:
		return nil, usagef("--target and a command exclude each other: the calls go to one server")
	case len(o.Headers) > 0 && o.Target == "":
		return nil, usagef("--replay-header goes with --target")
	case o.Timeout <= 0:
		return nil, usagef("--timeout %s: want a time above 0", o.Timeout)
	}
	var err error
	if run.where, err = compileWhere(app, o.Where); err != nil {
		return nil, err
	}
	if run.ignore, err = parseIgnored(o.Ignore); err != nil {
		return nil, err
	}
	if o.Target != "" {
		run.target, err = replayTarget("--target", o.Target, o.Headers)
		return run, err
	}
	run.target = play.Target{Command: o.Command, Dir: app.Dir, Env: app.Env}
	return run, nil
}

// replayTarget is an address that was named on the command line.
func replayTarget(flag, target string, headers []string) (play.Target, error) {
	t := play.Target{URL: target, Header: http.Header{}}
	if err := play.CheckURL(target); err != nil {
		return t, &usageError{fmt.Errorf("%s: %w", flag, err), "a credential goes into --replay-header"}
	}
	for _, text := range headers {
		h, err := httpproxy.ParseHeader(text)
		if err == nil {
			err = play.CheckHeader(h.Name)
		}
		if err != nil {
			name, _, _ := strings.Cut(text, ":") // the value may be a secret
			return t, usagef("--replay-header %q: %w", name, err)
		}
		t.Header.Add(h.Name, h.Value)
	}
	return t, nil
}

// noTarget says what a replay of the session needs.
func noTarget(s *store.Session) error {
	t, err := play.Recorded(s)
	switch {
	case errors.Is(err, play.ErrNoCommand):
		return &usageError{fmt.Errorf("no server to send the calls to: %w", err), "name one with --target URL"}
	case err != nil:
		return &usageError{fmt.Errorf("no server to send the calls to: %w", err), "give one behind --, or with --target URL"}
	}
	return &usageError{errors.New("no server to send the calls to"), "give one with --target URL, or start the recorded one: mcpsnoop replay " + shellWords([]string{s.ID}) + " -- " + shellWords(t.Command)}
}

// frameReader reads frames of sessions from their logs.
func frameReader(bodies store.Bodies) play.ReadFunc {
	return func(s *store.Session, frame uint32) (capture.Record, error) {
		var rec capture.Record
		_, err := store.ReadFrame(s, frame, bodies, &rec, nil)
		return rec, err
	}
}

// shellWords writes a command line for a shell.
func shellWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = shellWord(w)
	}
	return strings.Join(out, " ")
}

func shellWord(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("@%+=:,./_-", r)
	}
	if w != "" && strings.TrimFunc(w, plain) == "" && strings.IndexFunc(w, func(r rune) bool { return !plain(r) }) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
