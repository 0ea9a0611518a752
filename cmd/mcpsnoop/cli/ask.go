package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// askTerminal asks the user something on a terminal; secret answers are not
// shown. Ending ctx does not end the waiting: the program's end does.
func askTerminal(tty *os.File, out io.Writer) func(ctx context.Context, question string, secret bool) (string, error) {
	return func(ctx context.Context, question string, secret bool) (string, error) {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		type answer struct {
			text string
			err  error
		}
		fmt.Fprint(out, safeLines(question))
		before, _ := term.GetState(int(tty.Fd()))
		got := make(chan answer, 1)
		go func() { // ends with the answer, or with the program
			var a answer
			if secret {
				var b []byte
				b, a.err = term.ReadPassword(int(tty.Fd()))
				a.text = string(b)
				fmt.Fprintln(out)
			} else {
				a.text, a.err = bufio.NewReaderSize(tty, 1).ReadString('\n')
			}
			got <- a
		}()
		select {
		case <-ctx.Done():
			if before != nil {
				_ = term.Restore(int(tty.Fd()), before) // it was hiding what is typed
			}
			return "", context.Cause(ctx)
		case a := <-got:
			if errors.Is(a.err, io.EOF) {
				a.err = errors.New("no answer")
			}
			return strings.TrimRight(a.text, "\r\n"), a.err
		}
	}
}

// safeLines escapes what came from outside, line by line.
func safeLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = safe(l)
	}
	return strings.Join(lines, "\n")
}
