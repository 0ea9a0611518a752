package sshui

import (
	"fmt"
	"net"
	"strings"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// Announce is what a hub says when it starts: where it listens, how clients
// can know it, and who is let in. names are those of this machine.
func Announce(l net.Addr, key gossh.PublicKey, auth *Authorizer, names []string) string {
	var b strings.Builder
	_, port, _ := net.SplitHostPort(l.String())
	fmt.Fprintf(&b, "ssh: listening on %s\n", l)
	fmt.Fprintf(&b, "ssh: host key %s %s\n", key.Type(), gossh.FingerprintSHA256(key))
	var hosts []string
	for _, n := range names {
		hosts = append(hosts, net.JoinHostPort(n, port))
	}
	fmt.Fprintf(&b, "ssh: known_hosts line: %s\n", knownhosts.Line(hosts, key))
	for _, g := range auth.Grants() {
		fmt.Fprintf(&b, "ssh: lets in %s %s (%s", g.Fingerprint, visible(g.Comment), g.Role)
		if g.Note != "" {
			fmt.Fprintf(&b, ", %s", visible(g.Note))
		}
		fmt.Fprintf(&b, ") by %s\n", g.Where)
	}
	for _, p := range auth.Problems() {
		fmt.Fprintf(&b, "ssh: %s\n", visible(p))
	}
	return b.String()
}

// visible takes out of a comment what a terminal would act on.
func visible(s string) string {
	if s == "" {
		return "(no comment)"
	}
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}
