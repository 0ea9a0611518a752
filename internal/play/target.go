package play

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
	"github.com/mcpsnoop/mcpsnoop/internal/redact"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// Target is where calls are sent: a command that is started, or an address that
// is dialled. One of both is set.
type Target struct {
	Command []string
	Dir     string   // working directory of the command
	Env     []string // its environment, KEY=VALUE

	URL    string
	Header http.Header // of every HTTP request, and the only credential
}

// open begins to talk to the target.
func (t *Target) open(o *Options, p *Peer) (link, error) {
	if t.URL != "" {
		return newHTTPLink(t, o, p)
	}
	return startProcess(t, o)
}

// ErrNoCommand says that a session has no command to start.
var ErrNoCommand = errors.New("the session was captured over HTTP, so there is no command to start, and its recorded address is stripped of what may be secret")

// Recorded is the target that a session was recorded from: the command in its
// log. The error says why that cannot be started.
func Recorded(s *store.Session) (Target, error) {
	sum := s.Summary()
	m := &sum.Meta
	switch {
	case sum.Transport == capture.HTTP:
		return Target{}, ErrNoCommand
	case len(m.Command) == 0:
		return Target{}, errors.New("the log names no command to start")
	case s.Origin != "":
		return Target{}, fmt.Errorf("its command was recorded on %s and means nothing here", s.Origin)
	}
	for _, a := range m.Command {
		if redact.HasMark(a) {
			return Target{}, errors.New("redaction hid an argument of the recorded command")
		}
	}
	return Target{Command: m.Command, Dir: m.Cwd}, nil
}

// String is the command line or the address, for people.
func (t *Target) String() string {
	if t.URL != "" {
		return t.URL
	}
	return strings.Join(t.Command, " ")
}

// CheckURL refuses addresses that a replay does not dial.
func CheckURL(target string) error {
	u, err := url.Parse(target)
	switch {
	case err != nil:
		return fmt.Errorf("%q is no address", target)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("%q is no http or https address", target)
	case u.User != nil:
		return errors.New("the address holds a user name or a password; a credential is given as a header")
	}
	return nil
}

// CheckHeader refuses headers that a replay derives from what it sends.
func CheckHeader(name string) error {
	switch n := strings.ToLower(name); n {
	case mcp.HeaderSession, mcp.HeaderVersion, mcp.HeaderMethod, mcp.HeaderName, "content-type", "content-length", "accept", mcp.HeaderLastEventID:
		return fmt.Errorf("the header %s is made from what is sent and cannot be given", name)
	default:
		if strings.HasPrefix(n, mcp.HeaderParamPrefix) {
			return fmt.Errorf("the header %s is made from what is sent and cannot be given", name)
		}
	}
	return nil
}
