package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/shim"
)

// captureOptions are the flags that all commands which record have.
type captureOptions struct {
	Label      string
	TraceFile  string
	NoTrace    bool
	MaxFrame   size
	MaxLogSize size
	Grace      time.Duration
	Redact     redactOptions
	OTLP       otlpOptions
}

func (o *captureOptions) addFlags(fs *pflag.FlagSet) {
	o.MaxFrame, o.Grace = capture.DefaultMaxFrame, shim.DefaultGrace
	fs.StringVar(&o.Label, "label", "", "`NAME` of the server in sessions and baselines; without it, made from the command")
	fs.StringVar(&o.TraceFile, "trace-file", "", "record to `PATH` in place of a file in the state folder; a log there is appended to")
	fs.BoolVar(&o.NoTrace, "no-trace", false, "pass on and record nothing")
	fs.Var(&o.MaxFrame, "max-frame", "longest copy of a frame that is kept; what passes through is never cut")
	fs.Var(&o.MaxLogSize, "max-log-size", "begin a new segment of the log at this size; 0 means never")
	fs.DurationVar(&o.Grace, "grace", shim.DefaultGrace, "`TIME` a server gets to end before it is killed")
	o.Redact.addFlags(fs)
	o.OTLP.addFlags(fs)
}

// configure adds what .mcpsnoop.toml says, and judges the values.
func (o *captureOptions) configure(app *App, flags *pflag.FlagSet) error {
	config, err := app.readConfig()
	if err != nil {
		return err
	}
	if err := applyConfig(config, flags); err != nil {
		return err
	}
	app.unused(config, flags)
	switch {
	case o.MaxFrame < 1 || o.MaxFrame > 1<<30:
		return usagef("--max-frame %s: want 1 to 1GiB", o.MaxFrame.String())
	case o.MaxLogSize != 0 && o.MaxLogSize < 4096:
		return usagef("--max-log-size %s: want at least 4KiB", o.MaxLogSize.String())
	case o.Grace <= 0:
		return usagef("--grace %s: want more than nothing", o.Grace)
	case o.NoTrace && o.TraceFile != "" && flags.Changed("no-trace") == flags.Changed("trace-file"):
		return usagef("--no-trace and --trace-file exclude each other")
	}
	if o.NoTrace && flags.Changed("trace-file") {
		o.NoTrace = false // the flag wins over the file
	}
	return nil
}

// shimOptions are those of the program without a command.
type shimOptions struct {
	captureOptions
	Command []string
}

func runShim(ctx context.Context, app *App, o *shimOptions, flags *pflag.FlagSet) error {
	if err := o.configure(app, flags); err != nil {
		return err
	}
	engine, err := o.Redact.engine()
	if err != nil {
		return err
	}
	in, out, errs, err := app.files()
	if err != nil {
		return err
	}
	var signals <-chan os.Signal
	if app.Notify != nil {
		var stop func()
		signals, stop = app.Notify()
		defer stop()
	}
	warn := shim.Warner(errs, "mcpsnoop")
	sender, err := o.OTLP.sender(ctx, app, warn)
	if err != nil {
		return err
	}
	rec := app.recorder(&o.captureOptions, engine, o.Command, warn)
	send := o.send(ctx, app, sender, warn)
	send.follow(rec, o.TraceFile)
	if app.Tune != nil {
		forgetStart()
	}
	code, err := shim.Run(ctx, shim.Options{
		Argv: o.Command, Env: app.Env, Stdin: in, Stdout: out, Stderr: errs, Grace: o.Grace,
		Recorder: rec,
		Signals:  signals, Self: app.Self, Warn: warn,
	})
	send.finish()
	var start *shim.StartError
	if errors.As(err, &start) {
		app.note("%v", start)
		return childExit(start.Code)
	}
	if err != nil {
		return err
	}
	if code == 0 {
		return nil
	}
	return childExit(code)
}

// recorder makes the recorder of a stdio session, nil for none. That it cannot
// be made is no reason not to run the server.
func (a *App) recorder(o *captureOptions, engine *redact.Engine, argv []string, warn func(string)) *capture.Recorder {
	if o.NoTrace {
		return nil
	}
	meta := capture.MetaInfo{
		Command: argv, Cwd: a.Dir, PID: a.Process.PID, ClientPID: a.Process.Parent,
		Host: a.Process.Host, User: a.Process.User, Version: version,
	}
	meta.Command, _ = engine.Argv(argv)
	label := o.Label
	if label == "" {
		label = capture.LabelFromCommand(argv)
	}
	rec, err := a.newRecorder(o, engine, capture.CleanLabel(label), meta, capture.Stdio, warn)
	if err != nil {
		warn(fmt.Sprintf("nothing is recorded: %v", err))
		return nil
	}
	return rec
}

// newRecorder makes the recorder of any session.
func (a *App) newRecorder(o *captureOptions, engine *redact.Engine, label string, meta capture.MetaInfo, t capture.Transport, warn func(string)) (*capture.Recorder, error) {
	id, err := capture.NewSessionID(label, a.Process.PID, rand.Reader)
	if err != nil {
		return nil, err
	}
	opts := capture.Options{
		File:  capture.FileOptions{SessionID: id, TraceFile: a.abs(o.TraceFile), MaxSize: int64(o.MaxLogSize), Now: a.Clock.Now, Warn: warn},
		Label: label, Transport: t, Meta: meta, MaxFrame: int(o.MaxFrame), Clock: a.Clock, Warn: warn,
	}
	state, err := a.stateDir()
	if err != nil && o.TraceFile == "" {
		return nil, err
	}
	if err == nil {
		opts.File.Dir = filepath.Join(state, sessionsDir)
	}
	if engine.Active() {
		opts.Redact = recordRedactor{engine}
	}
	return capture.NewRecorder(opts), nil
}
