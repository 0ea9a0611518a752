package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/export"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

type exportOptions struct {
	Format   string
	Out      string
	Where    string
	Redact   redactOptions
	Sessions []string
}

func newExportCmd(app *App) *cobra.Command {
	o := &exportOptions{}
	cmd := &cobra.Command{
		Use:   "export [flags] [SESSION ...]",
		Short: "Write sessions as a file for other programs and people",
		Long: `Write sessions as a file for other programs and people. Several are merged by
time. Without a session, the newest; "-" reads a log from standard input.`,
		Example: `  mcpsnoop export -o session.json files
  mcpsnoop export -T text --redact-secrets | less`,
		ValidArgsFunction: app.completeSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Sessions = args
			return runExport(cmd.Context(), app, o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.Format, "type", "T", "", "`FORMAT`: "+formatList()+"; without it the ending of -o decides, else json")
	f.StringVarP(&o.Out, "output", "o", "-", "write to `FILE`, which appears when it is whole; - is standard output")
	f.StringVar(&o.Where, "where", "", "only what matches this `FILTER`, as whole operations")
	o.Redact.addFlags(f)
	return cmd
}

func formatNames() []string {
	var names []string
	for _, f := range export.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func formatList() string { return orList(formatNames()) }

// format decides what is written.
func (o *exportOptions) format() (export.Format, error) {
	if o.Format == "" {
		if f, ok := export.ByFile(o.Out); ok {
			return f, nil
		}
		return export.Formats()[0], nil
	}
	f, ok := export.ByName(o.Format)
	if ok {
		return f, nil
	}
	err := fmt.Errorf("-T %s: this version writes %s", o.Format, formatList())
	if name := nearest(o.Format, formatNames()); name != "" {
		return f, &usageError{err, fmt.Sprintf("did you mean %q", name)}
	}
	return f, &usageError{err: err}
}

func runExport(ctx context.Context, app *App, o *exportOptions) error {
	format, err := o.format()
	if err != nil {
		return err
	}
	engine, err := o.Redact.engine()
	if err != nil {
		return err
	}
	where, err := compileWhere(app, o.Where)
	if err != nil {
		return err
	}
	sources, err := app.sources(o.Sessions)
	if err != nil {
		return err
	}
	if app.sameFile(o.Out, sources) {
		return usagef("-o %s: that is a log which is exported; name another file", o.Out)
	}
	redact := export.Redactor(engine)
	bar := app.newProgress("export", work(sources, redact != nil))
	defer bar.end()
	in := &export.Input{Bodies: capture.NewBodies(app.FS), Version: version, Redact: redact, Where: where, Progress: bar.add}
	defer in.Bodies.Close()
	x := &exportLoader{app: app, redact: redact, bar: bar, judge: format.Judge || where != nil, marks: where != nil}
	for _, s := range sources {
		log, remove, err := x.log(ctx, s)
		if err != nil {
			return err
		}
		defer remove()
		in.Logs = append(in.Logs, log)
	}
	if err := in.Select(ctx); err != nil {
		return cause(ctx, fmt.Errorf("--where: %w", err))
	}
	if format.Page && redact == nil {
		if err := app.warnOfSecrets(ctx, in, bar); err != nil {
			return cause(ctx, err)
		}
	}
	return app.writeExport(ctx, format, o.Out, in)
}

// work is how many bytes are read in all: once to index, before that once
// more where secrets are looked for, and once to write.
func work(sources []source, redact bool) int64 {
	total, passes := int64(0), int64(2)
	if redact {
		passes++
	}
	for _, s := range sources {
		total += s.Log.Size * passes
	}
	return total
}

// warnOfSecrets says what looks like a secret in a file that is made to be
// handed on, when nothing was to be taken out.
func (a *App) warnOfSecrets(ctx context.Context, in *export.Input, bar *progress) error {
	list, err := in.Suspects(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	var places []string
	for _, s := range list {
		places = append(places, fmt.Sprintf("%s in %s", s.What, s.Where))
	}
	bar.end()
	a.note("nothing was redacted, and there is what looks like a secret: %s; --redact-secrets takes such out", strings.Join(places, ", "))
	return nil
}

// exportLoader indexes the logs of an export.
type exportLoader struct {
	app    *App
	redact func(*capture.Record)
	bar    *progress
	judge  bool // the format, or the filter, asks what rules find
	marks  bool // a filter may ask for rules, frame by frame
}

// log indexes and judges one log. remove takes away what was kept for it.
func (x *exportLoader) log(ctx context.Context, s source) (_ export.Log, remove func(), err error) {
	path := s.Log.Path
	if s.Stdin {
		path = stdinArg
	}
	s, remove, err = x.app.spool(ctx, s)
	if err != nil {
		return export.Log{}, nil, err
	}
	list, err := x.load(ctx, s)
	if err != nil {
		remove()
		return export.Log{}, nil, err
	}
	log := export.Log{Name: s.Name, Open: func() (*capture.Reader, error) { return x.app.open(s) }}
	bad := 0
	for _, one := range list {
		bad += one.Summary().ProblemCount
		exported := &export.Session{Session: one.Session, From: path}
		if j, ok := one.Observer.(*judge); ok {
			exported.Findings = j.finish(one)
		}
		log.Sessions = append(log.Sessions, exported)
	}
	if bad > 0 {
		x.bar.end()
		x.app.note("%s: lines that cannot be read and are left out: %d; check says which", s.Name, bad)
	}
	return log, remove, nil
}

// load indexes a log as if its secrets had never been in it.
func (x *exportLoader) load(ctx context.Context, s source) ([]*loadedSession, error) {
	var o loadOptions
	if x.judge {
		gone := writerGone(s)
		o.Observer = func(string) store.Observer { return newJudge(gone, x.marks) }
	}
	switch {
	case x.redact != nil:
		o.Edit = func(it *capture.Item) {
			x.bar.add(it.Ref.Length)
			if it.Problem == nil {
				x.redact(&it.Record)
			}
		}
		// A secret may be met before it is known to be one: what the engine
		// learns in a first pass, it finds everywhere in the second.
		if _, err := x.app.load(ctx, s, loadOptions{Edit: o.Edit}); err != nil {
			return nil, err
		}
	case x.bar != nil:
		o.Edit = func(it *capture.Item) { x.bar.add(it.Ref.Length) }
	}
	return x.app.load(ctx, s, o)
}

// judge is the rules on one session, with the marks that they make.
type judge struct {
	*checks.Engine
	marks []judgeMark
}

type judgeMark struct {
	frame uint32
	rule  string
	g     store.Signal
}

func newJudge(writerGone, marks bool) *judge {
	j := &judge{}
	o := checks.Options{WriterGone: writerGone}
	if marks {
		o.Mark = func(frame uint32, rule string, g store.Signal) { j.marks = append(j.marks, judgeMark{frame, rule, g}) }
	}
	j.Engine = checks.NewEngine(o)
	return j
}

// finish gives what was found, and puts the marks into the index.
func (j *judge) finish(s *loadedSession) []*checks.Finding {
	j.Finish(s.Session)
	for _, m := range j.marks {
		s.appender.Mark(m.frame, m.rule, m.g)
	}
	j.marks = nil
	s.appender.Publish()
	return j.Findings()
}

// writingHeadroom is by how much the heap may grow between collections while
// a format is written. The index does not grow any more then, and each
// collection walks over it.
const writingHeadroom = 64 << 20 // bytes

func (a *App) tuneForWriting(in *export.Input) {
	if a.Tune == nil {
		return
	}
	index := 1 << 20
	for _, s := range in.Sessions() {
		index += int(s.Len()) * frameCost
	}
	a.Tune(min(max(100*writingHeadroom/index, minPercent), maxPercent))
}

// writeExport writes everything, or nothing.
func (a *App) writeExport(ctx context.Context, format export.Format, path string, in *export.Input) error {
	out, err := a.create(path)
	if err != nil {
		return err
	}
	defer out.discard()
	a.tuneForWriting(in)
	var w io.Writer = out
	if format.JSON && a.OutTTY && out.Writer == a.Out {
		w = export.TerminalJSON(w)
	}
	if err := format.Write(ctx, w, in); err != nil {
		return cause(ctx, fmt.Errorf("export as %s: %w", format.Name, err))
	}
	if err := out.commit(); err != nil {
		return fmt.Errorf("write %s: %w", path, plain(err))
	}
	return nil
}
