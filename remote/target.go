package remote

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Target is a far end as a user names it: [user@]host[:port].
type Target struct {
	User string // "" when not said
	Host string // a name, an alias of ssh_config, or an address
	Port int    // 0 when not said
}

// ParseTarget reads [user@]host[:port], [user@][v6]:port and ssh:// URLs.
func ParseTarget(s string) (t Target, err error) {
	rest := strings.TrimSuffix(strings.TrimPrefix(s, "ssh://"), "/")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		t.User, rest = rest[:i], rest[i+1:]
		if t.User == "" {
			return t, fmt.Errorf("%q: no user in front of the @", s)
		}
	}
	t.Host = rest
	if strings.HasPrefix(rest, "[") || strings.Count(rest, ":") == 1 {
		host, port, err := net.SplitHostPort(rest)
		if err != nil && strings.HasSuffix(rest, "]") {
			host, port, err = strings.Trim(rest, "[]"), "", nil
		}
		if err != nil || strings.HasSuffix(rest, ":") {
			return t, fmt.Errorf("%q: want [user@]host[:port]", s)
		}
		t.Host = host
		if port != "" {
			n, err := strconv.ParseUint(port, 10, 16)
			if err != nil || n == 0 {
				return t, fmt.Errorf("%q: %q is no port", s, port)
			}
			t.Port = int(n)
		}
	}
	if t.Host == "" || t.Host[0] == '-' || strings.ContainsAny(t.Host+t.User, " \t\r\n\x00") {
		return t, fmt.Errorf("%q: want [user@]host[:port]", s)
	}
	return t, nil
}

// Dir is the name of the folder of the target's mirror.
func (t Target) Dir() string {
	name := t.Host
	if t.Port != 0 && t.Port != 22 {
		name += "_" + strconv.Itoa(t.Port)
	}
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, name)
	if strings.HasPrefix(name, ".") {
		name = "_" + name[1:]
	}
	return name
}

// SSHArgs are the arguments of ssh that lead to the target, aliases as they
// were given.
func (t Target) SSHArgs() []string {
	var args []string
	if t.Port != 0 {
		args = append(args, "-p", strconv.Itoa(t.Port))
	}
	dest := t.Host
	if t.User != "" {
		dest = t.User + "@" + dest
	}
	return append(args, dest)
}

// String is the target as it can be given again.
func (t Target) String() string {
	s := t.Host
	if t.Port != 0 {
		s = net.JoinHostPort(s, strconv.Itoa(t.Port))
	}
	if t.User != "" {
		s = t.User + "@" + s
	}
	return s
}

// ShellQuote writes a word for a POSIX shell.
func ShellQuote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
