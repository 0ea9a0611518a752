package redact

import (
	"encoding/base64"
	"strings"
)

// decodeHeader resolves the =?base64?...?= form of a header value.
func decodeHeader(v string) (text string, encoded bool) {
	s, ok := strings.CutPrefix(v, "=?base64?")
	if !ok {
		return v, false
	}
	if s, ok = strings.CutSuffix(s, "?="); !ok {
		return v, false
	}
	b, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return v, false
	}
	return string(b), true
}

// URL replaces user information and the values of the query and of a query-like
// fragment in s, which is a URL or a text that holds some. It does so whatever
// the flags are, also on a nil engine.
func (e *Engine) URL(s string) string {
	var b strings.Builder
	for {
		k := strings.Index(s, "://")
		if k < 0 {
			break
		}
		k += len("://")
		b.WriteString(s[:k])
		s = s[k:]
		end := strings.IndexAny(s, " \t\r\n\"'`<>")
		if end < 0 {
			end = len(s)
		}
		if next := strings.Index(s[:end], "://"); next >= 0 {
			end = urlStart(s, next)
		}
		b.WriteString(e.oneURL(s[:end]))
		s = s[end:]
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(s)
	return b.String()
}

// urlStart goes back from the :// at s[i] over its scheme. A URL in the query
// of another is a value of it.
func urlStart(s string, i int) int {
	q := strings.IndexAny(s[:i], "?#")
	if q >= 0 {
		if end := strings.IndexAny(s, " \t\r\n\"'`<>"); end >= 0 {
			return end
		}
		return len(s)
	}
	for i > 0 && isAlnum(s[i-1]) {
		i--
	}
	return i
}

// oneURL is URL for what stands behind the :// of one.
func (e *Engine) oneURL(s string) string {
	rest := strings.IndexAny(s, "/?#")
	if rest < 0 {
		rest = len(s)
	}
	at := strings.LastIndexByte(s[:rest], '@')
	if at < 0 && !validPort(s[:rest]) { // user:pa/ss@host
		at = strings.LastIndexByte(s, '@')
	}
	if at >= 0 {
		user := s[:at]
		if _, password, ok := strings.Cut(user, ":"); ok && password != "" && !IsMark(user) {
			user = password
		}
		s = e.markOnce(user) + s[at:]
	}
	q := strings.IndexAny(s, "?#")
	if q < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:q])
	for q < len(s) {
		sep := s[q]
		s = s[q+1:]
		if q = strings.IndexAny(s, "&;#?"); q < 0 {
			q = len(s)
		}
		b.WriteByte(sep)
		name, value, ok := strings.Cut(s[:q], "=")
		switch {
		case ok && value != "":
			b.WriteString(name + "=" + e.markOnce(value))
		case !ok && sep != '#' && len(name) >= plainKnown:
			b.WriteString(e.markOnce(name))
		default:
			b.WriteString(s[:q])
		}
	}
	return b.String()
}

// validPort reports whether host is a host with or without a port.
func validPort(host string) bool {
	k := strings.LastIndexByte(host, ':')
	return k < 0 || strings.HasSuffix(host[:k], "]") || strings.Trim(host[k+1:], "0123456789") == ""
}

// markOnce is Mark and keeps what is a mark already.
func (e *Engine) markOnce(v string) string {
	if IsMark(v) {
		return v
	}
	return e.Mark(v)
}
