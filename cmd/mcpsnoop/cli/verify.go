package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"

	"github.com/mcpsnoop/mcpsnoop/internal/redact"
)

type verifyOptions struct {
	Redact redactOptions
	File   string
}

func newVerifyCmd(app *App) *cobra.Command {
	o := &verifyOptions{}
	cmd := &cobra.Command{
		Use:   "verify [flags] FILE",
		Short: "Prove that no known secret is left in a file",
		Long: `Prove that no known secret is left in a file, whatever it is: a log, an export.
Looks for everything --redact-secrets means, for what the flags name, and for
other forms of what it finds (base64, percent-encoded, ...). Strings that look
random are listed too: they may be secrets, or ids. No secret is printed. Exit
code 1 means that secrets are left.`,
		Example: `  mcpsnoop export --redact-secrets -o shared.json && mcpsnoop verify shared.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("verify takes one file, and got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.File = args[0]
			return runVerify(cmd.Context(), app, o)
		},
	}
	o.Redact.addFlags(cmd.Flags())
	return cmd
}

func runVerify(ctx context.Context, app *App, o *verifyOptions) error {
	engine, err := o.Redact.engine()
	if err != nil {
		return err
	}
	path, remove, err := app.verifiable(ctx, o.File)
	if err != nil {
		return err
	}
	defer remove()
	// What the first pass learns, the second finds wherever it stands.
	for _, w := range []io.Writer{io.Discard, app.Out} {
		v := &verifier{engine: engine, name: o.File, out: bufio.NewWriter(w)}
		if err := app.verify(ctx, v, path); err != nil {
			return cause(ctx, fmt.Errorf("verify %s: %w", o.File, plain(err)))
		}
		if w == app.Out {
			return v.verdict()
		}
	}
	return nil
}

// verifiable gives the path of a file that can be read twice.
func (a *App) verifiable(ctx context.Context, file string) (path string, remove func(), err error) {
	if file == stdinArg {
		f, err := os.CreateTemp(a.TempDir, "mcpsnoop-*")
		if err != nil {
			return "", nil, fmt.Errorf("keep standard input for a second reading: %w", err)
		}
		remove = func() { _ = os.Remove(f.Name()) }
		_, err = io.Copy(f, contextReader{ctx, a.In})
		if err = errors.Join(err, f.Close()); err != nil {
			remove()
			return "", nil, fmt.Errorf("keep standard input for a second reading: %w", err)
		}
		return f.Name(), remove, nil
	}
	info, err := a.FS.Stat(a.abs(file))
	switch {
	case err == nil && info.IsDir():
		return "", nil, withHint(fmt.Errorf("verify %s: it is a folder", file), "name a file in it")
	case err == nil:
		return a.abs(file), func() {}, nil
	}
	list, err := a.sources([]string{file})
	if err != nil {
		return "", nil, err
	}
	return lastSegment(list[0].Log), func() {}, nil
}

func (a *App) verify(ctx context.Context, v *verifier, path string) error {
	f, err := a.FS.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	const magic = "\x28\xb5\x2f\xfd"
	if head, _ := r.Peek(len(magic)); string(head) == magic {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
		if err != nil {
			return err
		}
		defer z.Close()
		return v.read(ctx, z)
	}
	return v.read(ctx, r)
}

// verifier looks for secrets in a file, line by line. It holds one line, and
// of a longer one a window that is moved on.
type verifier struct {
	engine *redact.Engine
	name   string
	out    *bufio.Writer

	line    int
	secrets int
	random  int
}

const (
	window  = 16 << 20 // bytes of a line that are searched at once
	overlap = 64 << 10 // and searched again, where a line is cut for it
)

func (v *verifier) read(ctx context.Context, r io.Reader) error {
	b := bufio.NewReaderSize(r, window)
	var held []byte // the end of what was searched of this line, and what follows
	column := 0     // where that stands in the line
	for v.line = 1; ; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		piece, err := b.ReadSlice('\n')
		cut := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !cut && !errors.Is(err, io.EOF) {
			return err
		}
		text, seen := bytes.TrimSuffix(piece, []byte("\n")), len(held)
		if seen > 0 {
			held = append(held, text...)
			text = held
		}
		v.search(text, column, seen)
		if cut {
			from := len(text) - overlap
			column += from
			held = append(held[:0], text[from:]...)
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		held, column = held[:0], 0
		v.line++
	}
}

// search lists what is found behind the bytes that were searched before.
func (v *verifier) search(b []byte, column, seen int) {
	for _, l := range v.engine.Leaks(b) {
		if l.Offset+l.Length <= seen || ofPolicy(b, l) {
			continue
		}
		word := ""
		if l.Kind == redact.HighEntropy {
			v.random++
			word = ", begins " + safe(string(b[l.Offset:l.Offset+min(4, l.Length/4)])) // enough to find it, too little to use it
		} else {
			v.secrets++
		}
		fmt.Fprintf(v.out, "%s:%d:%d: %s (%d bytes%s)\n", safe(v.name), v.line, column+l.Offset+1, l.Kind, l.Length, word)
	}
}

// ofPolicy reports whether a random string is a hash in the policy of a page.
func ofPolicy(b []byte, l redact.Leak) bool {
	const mark = "sha256-"
	return l.Kind == redact.HighEntropy && (bytes.HasPrefix(b[l.Offset:], []byte(mark)) || bytes.HasSuffix(b[:l.Offset], []byte(mark)))
}

// verdict writes the sum of it.
func (v *verifier) verdict() error {
	tail := ""
	if v.random > 0 {
		tail = fmt.Sprintf("; %d strings look random: see for yourself", v.random)
	}
	if v.secrets == 0 {
		fmt.Fprintf(v.out, "no known secret is left%s\n", tail)
		return v.out.Flush()
	}
	fmt.Fprintf(v.out, "%d secrets are left%s\n", v.secrets, tail)
	if err := v.out.Flush(); err != nil {
		return err
	}
	return errFound
}
