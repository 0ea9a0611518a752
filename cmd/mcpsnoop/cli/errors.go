package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// The exit codes of commands. The shim and `mcpsnoop run` end as their child.
const (
	exitDone   = 0
	exitFound  = 1 // it ran and found something
	exitNotRun = 2 // usage, missing or unreadable input, not a session log

	exitNoCommand = 127 // over SSH, where a shell would say so
)

// errFound ends a command that ran and found something. What it found has
// been written.
var errFound = errors.New("found something")

// childExit ends a command with the exit code of the program it ran.
type childExit int

func (c childExit) Error() string { return fmt.Sprintf("exit status %d", int(c)) }

// usageError is a mistake on the command line.
type usageError struct {
	err  error
	hint string // what to do; "" when err says it
}

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// usagef makes a usageError.
func usagef(format string, args ...any) error { return &usageError{err: fmt.Errorf(format, args...)} }

// hinted is an error with what to do about it.
type hinted struct {
	err  error
	hint string
}

func (e *hinted) Error() string { return e.err.Error() }
func (e *hinted) Unwrap() error { return e.err }

// withHint says what to do about an error.
func withHint(err error, format string, args ...any) error {
	return &hinted{err, fmt.Sprintf(format, args...)}
}

// interrupted is the cause of a context that a signal ended.
type interrupted struct{ signal os.Signal }

func (e interrupted) Error() string { return "interrupted by " + e.signal.String() }

// exitCode is the one map from errors to exit codes.
func exitCode(err error) int {
	var child childExit
	var in interrupted
	var unknown errNoSuchCommand
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &unknown):
		return exitNoCommand
	case errors.Is(err, errFound):
		return exitFound
	case errors.As(err, &child):
		return int(child)
	case errors.As(err, &in):
		return signalCode(in.signal)
	}
	return exitNotRun
}

// message is what is said about an error, "" when all has been said.
func message(err error) string {
	var child childExit
	var in interrupted
	if err == nil || errors.Is(err, errFound) || errors.As(err, &child) || errors.As(err, &in) {
		return ""
	}
	var h *hinted
	var u *usageError
	switch {
	case errors.As(err, &h):
		return err.Error() + "; " + h.hint
	case errors.As(err, &u) && u.hint != "":
		return err.Error() + "; " + u.hint
	}
	return err.Error()
}

// cause gives the reason of a context's end in place of context.Canceled.
func cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return context.Cause(ctx)
	}
	return err
}
