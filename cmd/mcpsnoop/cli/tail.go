package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpsnoop/mcpsnoop/checks"
	"github.com/mcpsnoop/mcpsnoop/export"
	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/store"
)

type tailOptions struct {
	Follow  bool
	Format  *choice
	Limit   int
	Where   string
	Session []string
	Style   export.Style
}

func newTailCmd(app *App) *cobra.Command {
	o := &tailOptions{Format: newChoice("text", "text", "jsonl")}
	cmd := &cobra.Command{
		Use:   "tail [-f] [flags] [SESSION]",
		Short: "Print a session, one line a frame",
		Long: `Print a session, one line a frame: number, time (UTC), direction, kind, what it
is about, how it ended. With -f, go on with what comes until interrupted.

With --where it prints the frames that match, as the filter of the user
interface shows them. With -f they are judged as they come: a request that
matches by what becomes of it stands before the frame that decided.`,
		Example: `  mcpsnoop tail -f files
  mcpsnoop tail --where 'status:err OR dur>2s' files`,
		Args:              atMostOne("session"),
		ValidArgsFunction: app.completeSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Session, o.Style = args, app.style(cmd)
			return runTail(cmd.Context(), app, o)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&o.Follow, "follow", "f", false, "go on with what comes")
	f.Var(o.Format, "format", "lines for reading, or lines of the log")
	f.StringVar(&o.Where, "where", "", "only the frames that match this `FILTER`")
	f.IntVarP(&o.Limit, "limit", "n", 0, "print `N` frames at most: the last ones, with -f the first ones, and then end; 0 means all")
	return cmd
}

func runTail(ctx context.Context, app *App, o *tailOptions) error {
	if o.Limit < 0 {
		return usagef("--limit %d: want 0 or more", o.Limit)
	}
	where, err := compileWhere(app, o.Where)
	if err != nil {
		return err
	}
	list, err := app.sources(o.Session)
	if err != nil {
		return err
	}
	s := list[0]
	if app.Tune != nil {
		app.Tune(collectAt)
	}
	if o.Follow && !s.Stdin {
		var remove func()
		if s, remove, err = app.lined(ctx, s); err != nil {
			return err
		}
		defer remove()
	}
	p := newPrinter(app, s, o)
	switch {
	case !where.All() && !o.Follow:
		err = printMatching(ctx, app, s, p, where)
	case o.Follow && !s.Stdin:
		p.filter(where)
		err = follow(ctx, app, s, p)
	default:
		p.filter(where)
		err = printAll(ctx, app, s, p, o.Follow)
	}
	var in interrupted
	if o.Follow && errors.As(err, &in) {
		err = nil // that is how following ends
	}
	if errors.Is(err, errEnough) {
		err = nil
	}
	return errors.Join(err, p.flush())
}

// printAll prints a log that is read once. A stream is printed as it comes.
func printAll(ctx context.Context, app *App, s source, p *printer, live bool) error {
	r, err := app.open(s)
	if err != nil {
		return err
	}
	defer r.Close()
	var it capture.Item
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.Next(&it); err != nil {
			return readError(s, err)
		}
		if err := p.item(&it); err != nil {
			return err
		}
		if live {
			if err := p.show(); err != nil {
				return err
			}
		}
	}
}

// How often a log that is followed is looked at: often while something comes,
// and seldom enough to cost nothing while nothing does.
const (
	busyTick = 20 * time.Millisecond
	idleTick = 200 * time.Millisecond
	maxQuiet = 5 // busy looks that find nothing, before it counts as idle
)

// follow prints what a log holds and what comes. It needs no file events: the
// truth is a stat and a read.
func follow(ctx context.Context, app *App, s source, p *printer) error {
	t := capture.NewTailer(app.FS, s.Log.Path, capture.TailOptions{})
	defer t.Close()
	told := ""
	quiet := 0
	for {
		n, more, err := t.Poll(ctx, p.item)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, errEnough) || errors.Is(err, capture.ErrNotLog) {
			return readError(s, err)
		}
		if err := errors.Join(p.err(), p.show()); err != nil {
			return err
		}
		if err != nil && err.Error() != told { // said once, and tried again
			told = err.Error()
			app.note("%v; trying again", err)
		}
		if more {
			continue
		}
		if quiet++; n > 0 {
			quiet = 0
		}
		tick := idleTick
		if quiet < maxQuiet {
			tick = busyTick
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-app.Clock.After(tick):
		}
	}
}

// errEnough ends a tail that has printed its limit.
var errEnough = errors.New("enough")

// printer prints items as they come. It keeps an index, so that an answer can
// say what it answers and how long that took.
type printer struct {
	app    *App
	source source
	o      *tailOptions
	out    *bufio.Writer
	to     *errWriter
	byID   map[string]*indexed
	last   *indexed
	shown  int
	line   []byte
	where  *liveWhere // nil for all frames
	ring   [][]byte   // the last lines, where only those are wanted
	next   int
}

// indexed is the index of a session that is printed.
type indexed struct {
	*store.Session
	appender *store.Appender
	rules    *checks.Engine // nil where no filter may ask for what they find
	frame    *store.Frame
	at       uint32 // its index
}

// Observe notes the row of the record that was appended.
func (x *indexed) Observe(ev *store.Event) {
	x.frame, x.at = ev.Frame, ev.Index
	if x.rules != nil {
		x.rules.Observe(ev)
	}
}

func newPrinter(app *App, s source, o *tailOptions) *printer {
	w := app.Out
	if app.OutTTY && o.Format.value == "jsonl" {
		w = export.TerminalJSON(w)
	}
	p := &printer{app: app, source: s, o: o, to: &errWriter{w: w}, byID: map[string]*indexed{}}
	p.out = bufio.NewWriterSize(p.to, 64<<10)
	return p
}

func (p *printer) err() error { return p.to.err }

// item prints one item.
func (p *printer) item(it *capture.Item) error {
	if it.Problem != nil {
		return p.problem(it)
	}
	rec := &it.Record
	if p.last == nil || p.last.ID != rec.SessionID {
		p.last = p.session(rec.SessionID)
	}
	x := p.last
	x.frame = nil
	x.appender.Append(it)
	if x.frame == nil {
		if p.o.Format.value == "jsonl" && p.o.Limit == 0 && p.where == nil {
			return p.print(capture.AppendRecord(p.line[:0], rec))
		}
		return nil
	}
	x.appender.Publish()
	line := p.format(x.Session, x.frame, rec)
	if p.where != nil {
		return p.where.take(x.Session, x.at, rec, line, p.frame)
	}
	return p.frame(line)
}

// format writes a frame the way that was asked for. The line is good until the
// next one.
func (p *printer) format(s *store.Session, f *store.Frame, rec *capture.Record) []byte {
	if p.o.Format.value == "jsonl" {
		p.line = capture.AppendRecord(p.line[:0], rec)
	} else {
		p.line = append(export.AppendLine(p.line[:0], s, f, rec, p.o.Style), '\n')
	}
	return p.line
}

// filter makes the printer leave out what does not match.
func (p *printer) filter(where *store.Query) {
	if !where.All() {
		p.where = newLiveWhere(where)
	}
}

func (p *printer) session(id string) *indexed {
	if x := p.byID[id]; x != nil {
		return x
	}
	x := &indexed{}
	x.Session, x.appender = store.NewSession(id, p.source.Log.Path, store.Limits{}, x)
	if p.where != nil {
		x.rules = checks.NewEngine(checks.Options{Mark: x.appender.Mark})
	}
	p.byID[id] = x
	return x
}

// problem says what is wrong with a line, or what happened to the log.
func (p *printer) problem(it *capture.Item) error {
	err := p.show() // what stands before it comes first
	p.app.note("%s: %v", p.source.Name, it.Problem)
	return err
}

// frame prints a line, or keeps it until it is known to be one of the last.
func (p *printer) frame(line []byte) error {
	if p.o.Limit == 0 {
		return p.print(line)
	}
	if !p.o.Follow {
		if len(p.ring) < p.o.Limit {
			p.ring = append(p.ring, append([]byte(nil), line...))
			return nil
		}
		p.ring[p.next] = append(p.ring[p.next][:0], line...)
		p.next = (p.next + 1) % p.o.Limit
		return nil
	}
	if err := p.print(line); err != nil {
		return err
	}
	if p.shown++; p.shown == p.o.Limit {
		return errEnough
	}
	return nil
}

func (p *printer) print(line []byte) error {
	_, err := p.out.Write(line)
	return err
}

// show writes what was printed.
func (p *printer) show() error { return p.out.Flush() }

// flush writes all that is left.
func (p *printer) flush() error {
	for i := range p.ring {
		_ = p.print(p.ring[(p.next+i)%len(p.ring)])
	}
	if err := p.out.Flush(); err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	if p.where != nil && p.where.missed > 0 {
		p.app.note("--where: requests that were open for too long to be kept: %d; tail without -f looks at all of them", p.where.missed)
	}
	return nil
}
