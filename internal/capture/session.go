package capture

import (
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// MaxLabel is the longest label, in bytes.
const MaxLabel = 64

// NewSessionID makes the id of a session, <label>-<pid>-<12 hex digits>, from
// six random bytes.
func NewSessionID(label string, pid int, random io.Reader) (string, error) {
	var b [6]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("make a session id: %w", err)
	}
	return label + "-" + strconv.Itoa(pid) + "-" + hex.EncodeToString(b[:]), nil
}

// CleanLabel turns s into a label: characters outside [A-Za-z0-9._-] become
// "-", and what is longer than MaxLabel is cut. It is never empty.
func CleanLabel(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
			return c
		}
		return '-'
	}, s)
	s = s[:min(len(s), MaxLabel)]
	if strings.Trim(s, ".-") == "" { // "", "." and ".." are no file names
		return "server"
	}
	return s
}

// MetaInfo is the raw member of a log's first line. What is empty is left out.
type MetaInfo struct {
	Command   []string
	Cwd       string
	Target    string // without userinfo and query values
	PID       int
	ClientPID int
	Host      string
	User      string
	Version   string // of the program that writes the log
	Segment   int    // 1 for the first file of a session
	Filter    string // of a filtered copy
}

func (m *MetaInfo) appendJSON(dst []byte) []byte {
	o := objectWriter{append(dst, '{'), true}
	if len(m.Command) > 0 {
		o.array("command", m.Command)
	}
	o.textIf("cwd", m.Cwd)
	o.textIf("target", m.Target)
	o.numIf("pid", int64(m.PID))
	o.numIf("client_pid", int64(m.ClientPID))
	o.textIf("host", m.Host)
	o.textIf("user", m.User)
	o.textIf("version", m.Version)
	if m.Segment > 1 {
		o.num("segment", int64(m.Segment))
	}
	o.textIf("filter", m.Filter)
	return append(o.b, '}')
}

// EndInfo is the raw member of a log's last line.
type EndInfo struct {
	ExitCode *int   // of the server, when it exited
	Signal   string // that ended the server, SIGKILL for example
	Reason   string // why the session ended, in a word or two
	Frames   uint64 // c2s, s2c and stderr lines; filled in by the recorder
	Dropped  uint64 // frames the recorder lost; filled in by the recorder
}

func (e *EndInfo) appendJSON(dst []byte) []byte {
	o := objectWriter{append(dst, '{'), true}
	if e.ExitCode != nil {
		o.num("exit_code", int64(*e.ExitCode))
	}
	o.textIf("signal", e.Signal)
	o.textIf("reason", e.Reason)
	o.num("frames", int64(e.Frames))
	o.num("dropped", int64(e.Dropped))
	return append(o.b, '}')
}

// ParseMeta reads the raw member of a meta line; what is not there stays empty.
func ParseMeta(raw []byte) MetaInfo {
	return MetaInfo{
		Command: parseStrings(wire.Get(raw, "command")), Cwd: wire.GetString(raw, "cwd"), Target: wire.GetString(raw, "target"),
		PID: int(parseUint(wire.Get(raw, "pid"))), ClientPID: int(parseUint(wire.Get(raw, "client_pid"))),
		Host: wire.GetString(raw, "host"), User: wire.GetString(raw, "user"), Version: wire.GetString(raw, "version"),
		Segment: int(parseUint(wire.Get(raw, "segment"))), Filter: wire.GetString(raw, "filter"),
	}
}

// ParseEnd reads the raw member of an end line.
func ParseEnd(raw []byte) EndInfo {
	e := EndInfo{
		Signal: wire.GetString(raw, "signal"), Reason: wire.GetString(raw, "reason"),
		Frames: parseUint(wire.Get(raw, "frames")), Dropped: parseUint(wire.Get(raw, "dropped")),
	}
	if v := wire.Get(raw, "exit_code"); wire.TypeOf(v) == wire.Number {
		if n, err := strconv.Atoi(string(v)); err == nil {
			e.ExitCode = &n
		}
	}
	return e
}
