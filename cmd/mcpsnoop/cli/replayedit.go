package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/tui"
)

// fileEditor lets the user edit a text with the program of their choice.
type fileEditor struct {
	command string // as VISUAL or EDITOR has it: words, or a script
	dir     string // for files of a moment
	env     []string
	os      string
	streams Streams
}

// editor is the user's editor, nil when none is set.
func (a *App) editor() tui.Editor {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if c := strings.TrimSpace(a.Getenv(name)); c != "" {
			return &fileEditor{command: c, dir: a.TempDir, env: a.Env, os: a.OS, streams: a.Streams}
		}
	}
	return nil
}

// Open puts the text into a file in a folder that only the user can read.
func (e *fileEditor) Open(text []byte) (*exec.Cmd, func() ([]byte, error), error) {
	dir, err := os.MkdirTemp(e.dir, "mcpsnoop-edit-*")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for the editor: %w", err)
	}
	path := filepath.Join(dir, "params.json")
	if err := os.WriteFile(path, append(bytes.Clone(text), '\n'), 0o600); err != nil {
		_ = os.RemoveAll(dir)
		return nil, nil, fmt.Errorf("write the params for the editor: %w", err)
	}
	cmd := e.program(path)
	cmd.Env, cmd.Stdout, cmd.Stderr = e.env, e.streams.Out, e.streams.Err
	tty, err := e.keyboard()
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, nil, fmt.Errorf("give the editor the terminal: %w", err)
	}
	cmd.Stdin = tty // itself, and not what reads its keys for the UI
	return cmd, func() ([]byte, error) {
		defer func() { _ = os.RemoveAll(dir) }()
		if tty != e.streams.In {
			_ = tty.Close() // it was opened for the editor
		}
		f, err := os.Open(path) //nolint:gosec // it was made above
		if err != nil {
			return nil, fmt.Errorf("read what was edited: %w", err)
		}
		defer f.Close()
		b, err := io.ReadAll(io.LimitReader(f, capture.DefaultMaxFrame+1))
		if err == nil && len(b) > capture.DefaultMaxFrame {
			err = fmt.Errorf("longer than %d bytes", capture.DefaultMaxFrame)
		}
		if err != nil {
			return nil, fmt.Errorf("read what was edited: %w", err)
		}
		return bytes.TrimSpace(b), nil
	}, nil
}

// keyboard is the terminal that the editor reads from: standard input, or that
// of the process when a log comes there.
func (e *fileEditor) keyboard() (*os.File, error) {
	if f, ok := e.streams.In.(*os.File); ok && e.streams.InTTY {
		return f, nil
	}
	return os.OpenFile("/dev/tty", os.O_RDWR, 0)
}

// program runs the editor on a file, as git does: the variable is a piece of a
// shell's command line.
func (e *fileEditor) program(path string) *exec.Cmd {
	if e.os == "windows" {
		words := append(strings.Fields(e.command), path)
		return exec.Command(words[0], words[1:]...) //nolint:gosec,noctx // the user's own editor, which ends when they end it
	}
	return exec.Command("/bin/sh", "-c", e.command+` "$@"`, e.command, path) //nolint:gosec,noctx // the user's own editor, which ends when they end it
}
