package shim

import (
	"errors"
	"fmt"
)

// Exit codes of a server that could not be started, as shells give them.
const (
	ExitNotFound      = 127
	ExitNotExecutable = 126
)

// StartError says why the server could not be started.
type StartError struct {
	Name string // the first word of the command line
	Path string // what it led to; "" when nothing was found
	Code int    // ExitNotFound or ExitNotExecutable
	Hint string // what to do
	Err  error  // why
}

// Error says what was tried, why it failed and what to do, in one line.
func (e *StartError) Error() string {
	what := fmt.Sprintf("cannot start %q", e.Name)
	if e.Path != "" && e.Path != e.Name {
		what += fmt.Sprintf(" (%s)", e.Path)
	}
	return fmt.Sprintf("%s: %v; %s", what, e.Err, e.Hint)
}

// Unwrap returns the reason.
func (e *StartError) Unwrap() error { return e.Err }

// codeOf is the exit code that an error of start stands for.
func codeOf(err error) int {
	var se *StartError
	if errors.As(err, &se) {
		return se.Code
	}
	return ExitNotExecutable
}
