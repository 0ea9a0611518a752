package remote

import (
	"context"
	"errors"
	"fmt"
	"io"

	gossh "golang.org/x/crypto/ssh"
)

// Terminal is the terminal that a far UI is shown on.
type Terminal struct {
	In            io.Reader
	Out, Err      io.Writer
	Env           []string // KEY=VALUE, what the far end may know of it
	Term          string
	Width, Height int
	Resizes       <-chan [2]int // width, height; nil for none
}

// Attach shows the UI of the far end until it ends, and returns its exit code.
// The terminal must be in raw mode.
func Attach(ctx context.Context, c *Conn, w Where, t Terminal) (int, error) {
	s, err := c.NewSession()
	if err != nil {
		return 0, step(StepFarEnd, c.Host, err, "")
	}
	defer s.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Client.Close() })()
	for _, kv := range t.Env {
		for i := range kv {
			if kv[i] == '=' {
				_ = s.Setenv(kv[:i], kv[i+1:]) // many servers take none
				break
			}
		}
	}
	modes := gossh.TerminalModes{opIUTF8: 1}
	if err := s.RequestPty(t.Term, t.Height, t.Width, modes); err != nil {
		return 0, step(StepFarEnd, c.Host, fmt.Errorf("ask for a terminal: %w", err), "the key may be one without a terminal (no-pty)")
	}
	s.Stdout, s.Stderr = t.Out, t.Err
	in, err := s.StdinPipe()
	if err != nil {
		return 0, err
	}
	if isHub(c) {
		err = s.Shell()
	} else {
		err = s.Start(w.UICommand())
	}
	if err != nil {
		return 0, step(StepFarEnd, c.Host, err, "")
	}
	go func() { // ends with the next key after the session, or with the program
		_, _ = io.Copy(in, t.In)
		_ = in.Close()
	}()
	done := make(chan struct{})
	defer close(done)
	go follow(s, t.Resizes, done)
	err = s.Wait()
	var exit *gossh.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitStatus(), nil
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err != nil:
		return 0, step(StepCopy, c.Host, fmt.Errorf("the connection is gone: %w", err), "")
	}
	return 0, nil
}

// opIUTF8 says that the terminal takes UTF-8 (RFC 8160).
const opIUTF8 = 42

// UICommand starts the UI where there is no hub.
func (w Where) UICommand() string {
	cmd := w.command()
	return cmd[:len(cmd)-len(w.tail())]
}

// tail is what command puts behind the name of the program.
func (w Where) tail() string {
	if w.SessionsDir != "" {
		return " stream --sessions-dir " + ShellQuote(w.SessionsDir)
	}
	return " stream"
}

func follow(s *gossh.Session, sizes <-chan [2]int, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case wh, ok := <-sizes:
			if !ok {
				return
			}
			_ = s.WindowChange(wh[1], wh[0]) // the session may have ended
		}
	}
}
