package remote

import (
	"errors"
	"fmt"
)

// The steps on the way to a far end.
const (
	StepConfig  = "configuration"
	StepResolve = "resolve"
	StepConnect = "connect"
	StepHostKey = "host key"
	StepAuth    = "authentication"
	StepFarEnd  = "far end"
	StepCopy    = "copy"
)

// StepError says which step failed, on which host, why, and what to do.
type StepError struct {
	Step string
	Host string
	Err  error
	Hint string // "" when Err says it
}

// Error is the message without the hint.
func (e *StepError) Error() string { return fmt.Sprintf("%s: %s: %v", e.Host, e.Step, e.Err) }

// Unwrap gives Err.
func (e *StepError) Unwrap() error { return e.Err }

func step(name string, h *Host, err error, hint string, args ...any) error {
	if err == nil {
		return nil
	}
	var s *StepError
	if errors.As(err, &s) {
		return err // said already
	}
	return &StepError{name, h.Alias, err, fmt.Sprintf(hint, args...)}
}

// lasting reports whether it is of no use to try again.
func lasting(err error) bool {
	var s *StepError
	return errors.As(err, &s) && (s.Step == StepConfig || s.Step == StepHostKey || s.Step == StepAuth || s.Step == StepFarEnd)
}
