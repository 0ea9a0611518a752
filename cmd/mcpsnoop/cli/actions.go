package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/mcpsnoop/mcpsnoop/internal/trash"
	"github.com/mcpsnoop/mcpsnoop/internal/tui"
	"github.com/mcpsnoop/mcpsnoop/remote"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// trashDir lies beside the sessions, so that a move is a change of name.
const trashDir = "trash"

// uiExport writes exports for the UI of this terminal, by what the command
// export does.
type uiExport struct {
	app    *App
	redact redactOptions // those of the view: what is hidden there is not written
	pipe   bool          // the log came from standard input
}

// Export is that of tui.Exporter.
func (x *uiExport) Export(ctx context.Context, e tui.ExportRequest) (tui.Exported, error) {
	full := x.app.abs(x.app.untilde(e.Path))
	if err := reserve(full); err != nil {
		return tui.Exported{}, fmt.Errorf("write %s: %w", e.Path, err)
	}
	var notes bytes.Buffer
	quiet := *x.app // nothing may be written over the screen
	quiet.Streams = Streams{In: strings.NewReader(""), Out: io.Discard, Err: &notes}
	quiet.Tune, quiet.Ask = nil, nil
	o := &exportOptions{Format: e.Format, Out: full, Where: e.Where, Redact: x.redact}
	for _, s := range e.Sessions {
		o.Sessions = append(o.Sessions, s.Path)
	}
	err := runExport(ctx, &quiet, o)
	if err != nil {
		_ = os.Remove(full) // it was made for this alone
		return tui.Exported{}, errors.New(message(err))
	}
	info, err := os.Stat(full)
	if err != nil {
		return tui.Exported{}, fmt.Errorf("write %s: %w", e.Path, plain(err))
	}
	out := tui.Exported{Path: full, Bytes: info.Size()}
	for l := range strings.Lines(notes.String()) {
		out.Notes = append(out.Notes, strings.TrimPrefix(strings.TrimSpace(l), "mcpsnoop: "))
	}
	return out, nil
}

// reserve makes an empty file in the place of the export: what is there is
// never replaced, also when it appears while the export is written.
func reserve(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newFileMode)
	switch {
	case errors.Is(err, fs.ErrExist):
		return errors.New("there is a file of this name already, which is not overwritten; give another name")
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("its folder is not there")
	case err != nil:
		return plain(err)
	}
	return f.Close()
}

// untilde reads ~/ as a shell would: what is typed into the UI has none.
func (a *App) untilde(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && a.home() != "" {
		return filepath.Join(a.home(), rest)
	}
	return path
}

// Command is that of tui.Exporter.
func (x *uiExport) Command(e tui.ExportRequest) string {
	words := []string{"mcpsnoop", "export", "-T", e.Format, "-o", e.Path}
	if e.Where != "" {
		words = append(words, "--where", e.Where)
	}
	words = append(words, x.redact.words()...)
	if x.pipe {
		return shellLine(append(words, stdinArg))
	}
	for _, s := range e.Sessions {
		words = append(words, x.app.argOf(s))
	}
	return shellLine(words)
}

// words are the flags as they were given.
func (o *redactOptions) words() []string {
	var out []string
	if o.Secrets {
		out = append(out, "--redact-secrets")
	}
	if o.Keys != nil && len(o.Keys.list) > 0 {
		out = append(out, "--redact-key", strings.Join(o.Keys.list, ","))
	}
	for _, v := range o.Values {
		out = append(out, "--redact-value", v)
	}
	for _, p := range o.Paths {
		out = append(out, "--redact-path", p)
	}
	return out
}

// argOf names a session on a command line: by its id where that finds its log.
func (a *App) argOf(s *store.Session) string {
	state, err := a.stateDir()
	if err == nil && s.Path == filepath.Join(state, sessionsDir, s.ID+".jsonl") {
		return s.ID
	}
	return s.Path
}

func shellLine(words []string) string {
	for i, w := range words {
		words[i] = remote.ShellQuote(w)
	}
	return strings.Join(words, " ")
}

// uiTrash deletes sessions of this machine for the viewers of a hub.
type uiTrash struct {
	src *hubSource
	bin trash.Bin

	mu    sync.Mutex
	moved map[string]trash.Moved // by the id of the session
}

func (a *App) newTrash(src *hubSource) *uiTrash {
	return &uiTrash{src: src, moved: map[string]trash.Moved{}, bin: trash.Bin{
		FS: a.FS, Logs: filepath.Join(src.state, sessionsDir), Trash: filepath.Join(src.state, trashDir),
	}}
}

// Delete is that of tui.Trash.
func (t *uiTrash) Delete(_ context.Context, s *store.Session) error {
	if s.Origin != "" {
		return fmt.Errorf("delete %s: it is a copy from %s, which would come again; delete it there", s.ID, s.Origin)
	}
	t.src.Aside(s.Path) // so that nobody reads what is on its way out
	m, err := t.bin.Put(s.Path)
	if err != nil {
		t.src.Back(s.Path)
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.moved[s.ID] = m
	return nil
}

// Restore is that of tui.Trash.
func (t *uiTrash) Restore(_ context.Context, id string) error {
	t.mu.Lock()
	m, ok := t.moved[id]
	t.mu.Unlock()
	if !ok {
		return fmt.Errorf("bring %s back: it is not in the trash", id)
	}
	if err := t.bin.Back(m); err != nil {
		return err
	}
	t.mu.Lock()
	delete(t.moved, id)
	t.mu.Unlock()
	t.src.Back(m.Path)
	return nil
}

// Command is that of tui.Trash.
func (t *uiTrash) Command(list []*store.Session) string {
	words := []string{"mv"}
	for _, s := range list {
		words = append(words, remote.ShellQuote(strings.TrimSuffix(s.Path, ".jsonl"))+".*")
	}
	return strings.Join(append(words, remote.ShellQuote(t.bin.Trash)+"/"), " ")
}
