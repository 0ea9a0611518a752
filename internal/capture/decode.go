package capture

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

// ErrNotRecord says that a line is JSON but no line of a session log.
var ErrNotRecord = errors.New(`no log line: "direction" is missing`)

// ParseRecord reads one line, without its line feed, into r. Raw aliases line;
// every other field is a copy. Unknown members are skipped, unknown directions
// give DirUnknown. The error says what is wrong with the line.
func ParseRecord(line []byte, r *Record) error { return parseRecord(line, r, nil) }

// interned keeps what repeats on every line of a session.
type interned struct {
	session, label, conn, mcpSession string
	head                             lineHead
}

func (s *interned) string(last *string, v []byte) string {
	if len(v) >= 2 && string(v[1:len(v)-1]) == *last {
		return *last
	}
	t, _ := wire.Text(v)
	*last = t
	return t
}

func parseRecord(line []byte, r *Record, in *interned) error {
	*r = Record{}
	if in == nil {
		in = &interned{}
	} else if i := in.head.read(line, r); i > 0 {
		r.SessionID, r.Label = in.head.session, in.head.label
		return r.members(wire.MembersFrom(line, i), line, in, true)
	}
	err := r.members(wire.MembersOf(line), line, in, false)
	if err == nil {
		in.head.learn(line, r)
	}
	return err
}

// members reads the members that w walks over.
func (r *Record) members(w wire.Members, line []byte, in *interned, seen bool) error {
	for w.Next() {
		if err := r.member(&w, line, in); err != nil {
			return err
		}
		seen = seen || string(w.Key) == "direction"
	}
	if w.Err != nil {
		return w.Err
	}
	if rest := wire.TrimSpace(w.Rest()); len(rest) > 0 {
		return fmt.Errorf("%d bytes stand behind the record", len(rest))
	}
	if !seen {
		return ErrNotRecord
	}
	return nil
}

// member sets the field that one member of the line is for.
func (r *Record) member(w *wire.Members, line []byte, in *interned) error {
	v := w.Value
	switch string(w.Key) {
	case "session_id":
		r.SessionID = in.string(&in.session, v)
	case "server_label":
		r.Label = in.string(&in.label, v)
	case "seq":
		r.Seq = parseUint(v)
	case "ts":
		ts, err := parseTime(v)
		if err != nil {
			return err
		}
		r.TS = ts
	case "direction":
		r.Direction = parseDirection(inner(v))
	case "transport":
		r.Transport = parseTransport(inner(v))
	case "raw":
		r.Raw = line[w.Before():w.After()]
	case "text":
		r.Text, r.HasText = wire.Text(v)
	case "bytes":
		b, err := base64.StdEncoding.AppendDecode([]byte{}, inner(v))
		if err != nil {
			return fmt.Errorf("member bytes: %w", err)
		}
		r.Bytes = b
	case "size":
		r.Size = int64(parseUint(v))
	case "eol":
		r.EOL, _ = wire.Text(v)
	case "truncated":
		r.Truncated = isTrue(v)
	case "redacted":
		r.Redacted = isTrue(v)
	case "batch":
		r.Batch = isTrue(v)
	case "reflowed":
		r.Reflowed = isTrue(v)
	case "dropped":
		r.Dropped = parseUint(v)
	case "orig_seq":
		r.OrigSeq = parseUint(v)
	default:
		r.httpMember(w, in)
	}
	return nil
}

// httpMember sets the fields that only HTTP sessions have.
func (r *Record) httpMember(w *wire.Members, in *interned) {
	v := w.Value
	switch string(w.Key) {
	case "conn_id":
		r.ConnID = in.string(&in.conn, v)
	case "exchange":
		r.Exchange = parseUint(v)
	case "mcp_session":
		r.MCPSession = in.string(&in.mcpSession, v)
	case "mcp_method":
		r.MCPMethod, _ = wire.Text(v)
	case "mcp_name":
		r.MCPName, _ = wire.Text(v)
	case "mcp_protocol_version":
		r.MCPProtocolVersion, _ = wire.Text(v)
	case "mcp_param_headers":
		for e := wire.ElementsOf(v); e.Next(); {
			r.MCPParamHeaders = append(r.MCPParamHeaders, ParamHeader{
				wire.GetString(e.Value, "name"), wire.GetString(e.Value, "value"), isTrue(wire.Get(e.Value, "redacted")),
			})
		}
	case "http":
		r.HTTP = parseHTTP(v)
	case "status":
		r.Status = int(parseUint(v))
	case "auth_challenge":
		r.AuthChallenge = parseStrings(v)
	case "auth":
		r.Auth = parseAuth(v)
	}
}

func parseHTTP(v []byte) *HTTPFacts {
	if wire.TypeOf(v) != wire.Object {
		return nil
	}
	h := &HTTPFacts{}
	texts := h.texts()
	for m := wire.MembersOf(v); m.Next(); {
		switch string(m.Key) {
		case "content_length":
			n := int64(parseUint(m.Value))
			h.ContentLength = &n
		case "session":
			h.Session = &SessionHeader{int(parseUint(wire.Get(m.Value, "len"))), isTrue(wire.Get(m.Value, "ascii"))}
		case "sse":
			h.SSE = parseSSE(m.Value)
		case "query_token":
			h.QueryToken = isTrue(m.Value)
		case "repeated":
			h.Repeated = parseStrings(m.Value)
		case "mapped":
			for e := wire.ElementsOf(m.Value); e.Next(); {
				h.Mapped = append(h.Mapped, Mapping{
					wire.GetString(e.Value, "what"), wire.GetString(e.Value, "from"), wire.GetString(e.Value, "to"),
				})
			}
		default:
			for _, t := range texts {
				if string(m.Key) == t.name {
					*t.value, _ = wire.Text(m.Value)
				}
			}
		}
	}
	return h
}

func parseSSE(v []byte) *SSEFacts {
	s := &SSEFacts{Event: wire.GetString(v, "event")}
	if id := wire.Get(v, "id"); id != nil {
		s.ID, s.HasID = wire.Text(id)
	}
	if retry := wire.Get(v, "retry"); retry != nil {
		s.Retry, s.HasRetry = int64(parseUint(retry)), true
	}
	return s
}

func parseAuth(v []byte) *AuthFacts {
	if wire.TypeOf(v) != wire.Object {
		return nil
	}
	a := &AuthFacts{
		Present: isTrue(wire.Get(v, "present")),
		Scheme:  wire.GetString(v, "scheme"),
		SHA256:  wire.GetString(v, "sha256_16"),
		InBody:  isTrue(wire.Get(v, "in_body")),
	}
	if j := wire.Get(v, "jwt"); wire.TypeOf(j) == wire.Object {
		a.JWT = &JWTFacts{
			Aud: parseStrings(wire.Get(j, "aud")), Iss: wire.GetString(j, "iss"), Scope: wire.GetString(j, "scope"),
			Sub: wire.GetString(j, "sub"), Exp: int64(parseUint(wire.Get(j, "exp"))),
		}
	}
	return a
}

// parseStrings reads a string or an array of strings.
func parseStrings(v []byte) []string {
	if s, ok := wire.Text(v); ok {
		return []string{s}
	}
	var out []string
	for e := wire.ElementsOf(v); e.Next(); {
		if s, ok := wire.Text(e.Value); ok {
			out = append(out, s)
		}
	}
	return out
}

func inner(v []byte) []byte {
	if len(v) < 2 || v[0] != '"' {
		return nil
	}
	return v[1 : len(v)-1]
}

func isTrue(v []byte) bool { return string(v) == "true" }

func parseUint(v []byte) uint64 {
	n, err := strconv.ParseUint(string(v), 10, 63)
	if err != nil {
		return 0
	}
	return n
}

func parseTransport(v []byte) Transport {
	switch string(v) {
	case "stdio":
		return Stdio
	case "http":
		return HTTP
	}
	return TransportUnknown
}

func parseTime(v []byte) (time.Time, error) {
	s := inner(v)
	if t, ok := fastTime(s); ok {
		return t, nil
	}
	t, err := time.Parse(time.RFC3339Nano, string(s))
	if err != nil {
		return t, fmt.Errorf("member ts: want an RFC 3339 time, have %.40q", s)
	}
	return t.UTC(), nil
}

// fastTime reads the form that this program writes, YYYY-MM-DDTHH:MM:SS[.fraction]Z.
func fastTime(s []byte) (time.Time, bool) {
	if len(s) < len("2006-01-02T15:04:05Z") || s[4] != '-' || s[7] != '-' {
		return time.Time{}, false
	}
	year, ok1 := digits(s[0:4])
	month, ok2 := digits(s[5:7])
	day, ok3 := digits(s[8:10])
	hour, minute, second, nanos, ok4 := clock(s[10:])
	if !(ok1 && ok2 && ok3 && ok4) || month < 1 || month > 12 || day < 1 || day > 28 && day > daysIn(month, year) {
		return time.Time{}, false
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC), true
}

// clock reads THH:MM:SS[.fraction]Z.
func clock(s []byte) (hour, minute, second, nanos int, ok bool) {
	if len(s) < len("T15:04:05Z") || s[0] != 'T' || s[3] != ':' || s[6] != ':' || s[len(s)-1] != 'Z' {
		return 0, 0, 0, 0, false
	}
	hour, ok1 := digits(s[1:3])
	minute, ok2 := digits(s[4:6])
	second, ok3 := digits(s[7:9])
	if !(ok1 && ok2 && ok3) || hour > 23 || minute > 59 || second > 59 {
		return 0, 0, 0, 0, false
	}
	if frac := s[9 : len(s)-1]; len(frac) > 0 {
		n, ok := digits(frac[1:])
		if frac[0] != '.' || !ok || len(frac) > 10 || len(frac) < 2 {
			return 0, 0, 0, 0, false
		}
		for range 10 - len(frac) {
			n *= 10
		}
		nanos = n
	}
	return hour, minute, second, nanos, true
}

func daysIn(month, year int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func digits(s []byte) (int, bool) {
	n := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
