package httpproxy

import "strings"

// hop is what the head of a message says about one connection alone: it is
// not passed on but said anew for the next (RFC 9110, section 7.6.1).
type hop struct {
	named    []string // fields that Connection names
	upgrade  bool
	trailers bool // TE: trailers
	close    bool
	keep     bool
}

// hopOf reads it.
func hopOf(h *head) hop {
	p := hop{close: !h.keepsAlive(), trailers: h.lists("TE", "trailers")}
	p.keep = h.minor == '0' && !p.close
	for _, f := range h.fields {
		if !is(f.name, "Connection") {
			continue
		}
		for part := range strings.SplitSeq(f.value, ",") {
			switch name := strings.ToLower(strings.Trim(part, " \t")); name {
			case "", "close", "keep-alive", "te", "host", "content-length", "transfer-encoding":
			case "upgrade":
				p.upgrade = upgradable(h)
			default:
				p.named = append(p.named, name)
			}
		}
	}
	return p
}

// upgradable reports whether there is a protocol that can be passed through. An
// upgrade to HTTP/2 would hide every message behind it, and any server may
// leave the offer alone, so it is not passed on.
func upgradable(h *head) bool {
	v, ok := h.get("Upgrade")
	return ok && !listHas(v, "h2c")
}

// ends reports whether a field goes no further than this connection.
func (p *hop) ends(name string) bool {
	switch len(name) {
	case len("TE"):
		if is(name, "TE") {
			return true
		}
	case len("Upgrade"):
		if is(name, "Upgrade") {
			return !p.upgrade
		}
	case len("Keep-Alive"):
		if is(name, "Keep-Alive") || is(name, "Connection") {
			return true
		}
	case len("Proxy-Connection"):
		if is(name, "Proxy-Connection") {
			return true
		}
	}
	for _, n := range p.named {
		if is(name, n) {
			return true
		}
	}
	return false
}

// connection is what is said to the next hop, "" for nothing.
func (p *hop) connection() string {
	var words []string
	switch {
	case p.close:
		words = append(words, "close")
	case p.keep:
		words = append(words, "keep-alive")
	}
	if p.trailers {
		words = append(words, "TE")
	}
	if p.upgrade {
		words = append(words, "Upgrade")
	}
	return strings.Join(words, ", ")
}

// write appends the fields that pass and those of the next hop. swap may change
// a value; framed says whether Transfer-Encoding is still how the body comes.
func (p *hop) write(k *sink, h *head, framed bool, swap func(field) string) {
	for _, f := range h.fields {
		if p.ends(f.name) || len(f.name) == len("Transfer-Encoding") && is(f.name, "Transfer-Encoding") && !framed {
			continue
		}
		k.text(f.name)
		k.text(": ")
		if swap != nil {
			k.text(swap(f))
		} else {
			k.text(f.value)
		}
		k.text("\r\n")
	}
	if c := p.connection(); c != "" {
		k.text("Connection: ")
		k.text(c)
		k.text("\r\n")
	}
	if p.trailers {
		k.text("TE: trailers\r\n")
	}
}
