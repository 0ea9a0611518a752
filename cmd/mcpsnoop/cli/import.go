package cli

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

func newImportCmd(app *App) *cobra.Command {
	return &cobra.Command{
		Use:   "import FILE...",
		Short: "Keep logs from elsewhere among the saved sessions",
		Long: `Copy logs into the folder of saved sessions: logs of this program, mcp-tape v1,
and HAR files with MCP traffic; "-" reads one from standard input. A session
keeps its id where it has one of this program; else it gets one out of what the
file holds, so that importing a file twice changes nothing. The file stays.`,
		Example: `  mcpsnoop import trace.jsonl browser.har`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("import takes the files to import")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runImport(cmd.Context(), app, args) },
	}
}

func runImport(ctx context.Context, app *App, files []string) error {
	if app.ReadOnly {
		return usagef("import: nothing is written here")
	}
	state, err := app.stateDir()
	if err != nil {
		return err
	}
	dir := filepath.Join(state, sessionsDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of sessions %s: %w", dir, plain(err))
	}
	for _, file := range files {
		if err := app.importFile(ctx, dir, file); err != nil {
			return cause(ctx, err)
		}
	}
	return nil
}

// importFile copies the sessions of one file: all of them, or none.
func (a *App) importFile(ctx context.Context, dir, file string) error {
	s := source{Name: "standard input", Stdin: true}
	if file != stdinArg {
		var err error
		if s, err = a.pathSource(file); err != nil {
			return err
		}
	}
	s, remove, err := a.spool(ctx, s)
	if err != nil {
		return err
	}
	defer remove()
	in := &importer{app: a, dir: dir, file: s.Name, hash: sha256.New(), byID: map[string]*imported{}}
	defer in.discard()
	if err := in.read(ctx, s); err != nil {
		return err
	}
	return in.commit()
}

// importer writes the sessions of a file beside the saved ones, and then puts
// them among them.
type importer struct {
	app  *App
	dir  string
	file string
	hash hash.Hash // of all records
	list []*imported
	byID map[string]*imported
	bad  int
}

// imported is one session that is being copied.
type imported struct {
	id, label string // as in the file
	temp      string
	buf       []byte
	frames    int
}

// importBuffer is what of a session is held before it is written, in bytes.
// Files are not held open: a log may hold any number of sessions.
const importBuffer = 256 << 10

func (in *importer) read(ctx context.Context, s source) error {
	r, err := in.app.open(s)
	if err != nil {
		return err
	}
	defer r.Close()
	bar := in.app.newProgress("import", s.Log.Size)
	defer bar.end()
	var it capture.Item
	var line []byte
	for n := 0; ; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := r.Next(&it)
		if errors.Is(err, io.EOF) {
			return in.flush()
		}
		if err != nil {
			return readError(s, err)
		}
		bar.add(it.Ref.Length)
		if it.Problem != nil {
			in.bad++
			continue
		}
		line = capture.AppendRecord(line[:0], &it.Record)
		in.hash.Write(line)
		one, err := in.session(&it.Record)
		if err != nil {
			return err
		}
		if it.Record.Direction.IsFrame() {
			one.frames++
		}
		if one.buf = append(one.buf, line...); len(one.buf) >= importBuffer {
			if err := one.flush(); err != nil {
				return err
			}
		}
	}
}

func (in *importer) session(rec *capture.Record) (*imported, error) {
	if one := in.byID[rec.SessionID]; one != nil {
		return one, nil
	}
	f, err := os.CreateTemp(in.dir, ".import-*")
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", in.file, plain(err))
	}
	one := &imported{id: rec.SessionID, label: rec.Label, temp: f.Name()}
	in.byID[one.id] = one
	in.list = append(in.list, one)
	return one, f.Close()
}

func (o *imported) flush() error {
	f, err := os.OpenFile(o.temp, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write an imported session: %w", err)
	}
	_, err = f.Write(o.buf)
	o.buf = o.buf[:0]
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write an imported session: %w", err)
	}
	return nil
}

func (in *importer) flush() error {
	for _, one := range in.list {
		if err := one.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (in *importer) discard() {
	for _, one := range in.list {
		if one.temp != "" {
			_ = os.Remove(one.temp)
		}
	}
}

// ownID is how this program names sessions.
var ownID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}-[0-9]+-[0-9a-f]{12}$`)

// idFor is the id that a session gets: its own, or one out of what the file holds.
func (in *importer) idFor(n int, one *imported) string {
	if ownID.MatchString(one.id) && !strings.HasPrefix(one.id, ".") {
		return one.id
	}
	label := one.label
	if label == "" {
		label = one.id
	}
	sum := sha256.Sum256(fmt.Appendf(in.hash.Sum(nil), "/%d", n))
	return fmt.Sprintf("%s-0-%s", capture.CleanLabel(label), hex.EncodeToString(sum[:6]))
}

// commit puts the sessions among the saved ones.
func (in *importer) commit() error {
	out := bufio.NewWriter(in.app.Out)
	for n, one := range in.list {
		id := in.idFor(n, one)
		path := filepath.Join(in.dir, id+".jsonl")
		if _, err := os.Stat(path); err == nil {
			in.app.note("%s: %s is there already, and stays as it is", in.file, id)
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("import %s: %w", in.file, plain(err))
		}
		if id != one.id {
			if err := one.rename(id); err != nil {
				return fmt.Errorf("import %s: %w", in.file, err)
			}
		}
		if err := os.Rename(one.temp, path); err != nil {
			return fmt.Errorf("import %s: %w", in.file, plain(err))
		}
		one.temp = ""
		fmt.Fprintf(out, "%s: %d frames from %s\n", safe(id), one.frames, safe(in.file))
	}
	if in.bad > 0 {
		in.app.note("%s: lines that cannot be read and are left out: %d", in.file, in.bad)
	}
	return out.Flush()
}

// rename gives the records of a session its new id.
func (o *imported) rename(id string) (err error) {
	from, err := os.Open(o.temp)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.CreateTemp(filepath.Dir(o.temp), ".import-*")
	if err != nil {
		return err
	}
	old := o.temp
	o.temp = to.Name()
	defer func() { err = errors.Join(err, to.Close(), os.Remove(old)) }()
	r := capture.NewReader(from, o.id)
	w := bufio.NewWriterSize(to, importBuffer)
	label := capture.CleanLabel(o.label)
	if o.label == "" {
		label = capture.CleanLabel(o.id)
	}
	var it capture.Item
	var line []byte
	for {
		err := r.Next(&it)
		if errors.Is(err, io.EOF) {
			return w.Flush()
		}
		if err != nil {
			return err
		}
		if it.Problem != nil {
			continue
		}
		it.Record.SessionID, it.Record.Label = id, label
		line = capture.AppendRecord(line[:0], &it.Record)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
}
