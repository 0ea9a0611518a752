package sshui

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// parseFrom checks the patterns of from="...": addresses, networks (a/24), and
// patterns with * and ?, each with a ! in front to keep it out.
func parseFrom(s string) ([]string, error) {
	list := splitList(s)
	if len(list) == 0 {
		return nil, errors.New("option from names no address")
	}
	for _, p := range list {
		p = strings.TrimPrefix(p, "!")
		if strings.Contains(p, "/") {
			if _, err := netip.ParsePrefix(p); err != nil {
				return nil, fmt.Errorf("option from: %q is no network", p)
			}
		}
	}
	return list, nil
}

// fromMatches reports whether an address is let in by the patterns. One that
// matches a pattern behind ! is not, whatever else matches. Names are never
// looked up: a pattern of names matches nothing.
func fromMatches(patterns []string, addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	found := false
	for _, p := range patterns {
		p, not := strings.CutPrefix(p, "!")
		if !addrMatches(p, addr) {
			continue
		}
		if not {
			return false
		}
		found = true
	}
	return found
}

func addrMatches(pattern string, addr netip.Addr) bool {
	if !addr.IsValid() {
		return false
	}
	if strings.Contains(pattern, "/") {
		net, err := netip.ParsePrefix(pattern)
		return err == nil && net.Masked().Contains(addr)
	}
	if a, err := netip.ParseAddr(pattern); err == nil {
		return a.Unmap() == addr
	}
	return glob(strings.ToLower(pattern), addr.String())
}

// glob matches * and ? without going back further than the last *.
func glob(pattern, s string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
