package httpproxy

import (
	"errors"
	"strings"
)

// field is one header field as it stood.
type field struct{ name, value string }

// head is the first line and the header fields of a message (RFC 9112), in the
// order in which they stood.
type head struct {
	method, target string // of a request
	status         int    // of a response
	reason         string
	minor          byte // '0' or '1': HTTP/1.x

	fields []field
}

// badMessage says what is wrong with a message that is not let through.
type badMessage struct{ why string }

func (e *badMessage) Error() string { return e.why }

func bad(why string) error { return &badMessage{why} }

func isBad(err error) bool {
	var b *badMessage
	return errors.As(err, &b) || errors.Is(err, errHeadTooLong)
}

// parseRequest reads the head of a request. fields is reused.
func parseRequest(text string, fields []field) (head, error) {
	line, rest := cutLine(text)
	var h head
	var version string
	var ok1, ok2 bool
	h.method, line, ok1 = strings.Cut(line, " ")
	h.target, version, ok2 = strings.Cut(line, " ")
	if !ok1 || !ok2 || !isToken(h.method) || h.target == "" || strings.IndexByte(version, ' ') >= 0 {
		return h, bad("the request line is not METHOD TARGET VERSION")
	}
	if len(version) != len("HTTP/1.1") || !strings.HasPrefix(version, "HTTP/1.") || version[7] < '0' || version[7] > '9' {
		return h, bad("the version in the request line is not HTTP/1.0 or HTTP/1.1")
	}
	h.minor = min(version[7], '1')
	var err error
	h.fields, err = parseFields(rest, fields, true)
	return h, err
}

// parseResponse reads the head of a response. fields is reused.
func parseResponse(text string, fields []field) (head, error) {
	line, rest := cutLine(text)
	var h head
	version, line, _ := strings.Cut(line, " ")
	code, reason, _ := strings.Cut(line, " ")
	if len(version) != len("HTTP/1.1") || !strings.HasPrefix(version, "HTTP/1.") || len(code) != 3 {
		return h, bad("the answer does not begin with an HTTP/1 status line")
	}
	for _, c := range []byte(code) {
		if c < '0' || c > '9' {
			return h, bad("the status code is not a number of three digits")
		}
		h.status = h.status*10 + int(c-'0')
	}
	if h.status < 100 {
		return h, bad("the status code is below 100")
	}
	h.minor, h.reason = min(version[7], '1'), reason
	var err error
	h.fields, err = parseFields(rest, fields, false)
	return h, err
}

func cutLine(s string) (line, rest string) {
	line, rest, _ = strings.Cut(s, "\n")
	return strings.TrimSuffix(line, "\r"), rest
}

// parseFields reads header or trailer fields up to the empty line. Folded
// lines become one, with a space in between, as RFC 9112 (section 5.2) asks of
// a proxy; what could be read in two ways is refused.
func parseFields(text string, fields []field, request bool) ([]field, error) {
	fields = fields[:0]
	for {
		var line string
		line, text = cutLine(text)
		if line == "" {
			return fields, nil
		}
		if strings.IndexByte(line, '\r') >= 0 || strings.IndexByte(line, 0) >= 0 {
			return fields, bad("a header field holds a CR or NUL")
		}
		if line[0] == ' ' || line[0] == '\t' {
			if len(fields) == 0 {
				return fields, bad("the first header line begins with a space")
			}
			f := &fields[len(fields)-1]
			f.value = strings.Trim(f.value+" "+strings.Trim(line, " \t"), " \t")
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok || name == "" {
			return fields, bad("a header line has no name and colon")
		}
		if strings.ContainsAny(name, " \t") {
			if request || strings.ContainsAny(strings.TrimRight(name, " \t"), " \t") {
				return fields, bad("there is a space in the name of a header field")
			}
			name = strings.TrimRight(name, " \t") // RFC 9112, section 5.1
		}
		fields = append(fields, field{name, strings.Trim(value, " \t")})
	}
}

func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// is compares names of header fields, whose case does not count.
func is(a, b string) bool { return len(a) == len(b) && strings.EqualFold(a, b) }

// get is the value of the first field of that name.
func (h *head) get(name string) (string, bool) {
	for i := range h.fields {
		if is(h.fields[i].name, name) {
			return h.fields[i].value, true
		}
	}
	return "", false
}

// lists reports whether a comma separated field holds the word.
func (h *head) lists(name, word string) bool {
	for i := range h.fields {
		if is(h.fields[i].name, name) && listHas(h.fields[i].value, word) {
			return true
		}
	}
	return false
}

func listHas(list, word string) bool {
	for part := range strings.SplitSeq(list, ",") {
		if is(strings.Trim(part, " \t"), word) {
			return true
		}
	}
	return false
}

// keepsAlive reports whether the sender will keep the connection (RFC 9112, section 9.3).
func (h *head) keepsAlive() bool {
	if h.minor == '0' {
		return h.lists("Connection", "keep-alive")
	}
	return !h.lists("Connection", "close")
}
