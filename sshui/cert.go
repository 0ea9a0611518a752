package sshui

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// checkCert checks a certificate that the authority of e is said to have
// signed: kind, signature, time, names, and what it demands of the server.
func (a *Authorizer) checkCert(e *keyEntry, cert *gossh.Certificate, addr netip.Addr, now time.Time, g *Grant) error {
	if cert.CertType != gossh.UserCert {
		return errors.New("the certificate is one for hosts")
	}
	if len(cert.ValidPrincipals) == 0 {
		return errors.New("the certificate names nobody (ssh-keygen -n)")
	}
	if err := allowedKey(cert.SignatureKey); err != nil {
		return fmt.Errorf("the authority: %w", err)
	}
	checker := gossh.CertChecker{
		SupportedCriticalOptions: []string{"force-command", "source-address"},
		IsUserAuthority:          func(k gossh.PublicKey) bool { return bytes.Equal(k.Marshal(), e.key.Marshal()) },
		Clock:                    func() time.Time { return now },
	}
	if err := checker.CheckCert(cert.ValidPrincipals[0], cert); err != nil {
		return fmt.Errorf("the certificate: %w", err)
	}
	names := e.options.principals
	if names == nil && e.own {
		names = []string{a.files.User}
	}
	if names != nil && !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(cert.ValidPrincipals, n) }) {
		return fmt.Errorf("the certificate is for %q; wanted is one of %q", cert.ValidPrincipals, names)
	}
	if list, ok := cert.CriticalOptions["source-address"]; ok {
		patterns, err := parseFrom(list)
		if err != nil || !fromMatches(patterns, addr) {
			return fmt.Errorf("the certificate does not let %s in (source-address)", addr)
		}
	}
	if _, ok := cert.CriticalOptions["force-command"]; ok {
		g.Role = Viewer
	}
	if _, ok := cert.Extensions["permit-pty"]; !ok {
		g.NoPTY = true
	}
	g.Fingerprint = gossh.FingerprintSHA256(cert.Key)
	if cert.KeyId != "" {
		g.Comment = cert.KeyId
	}
	return nil
}
