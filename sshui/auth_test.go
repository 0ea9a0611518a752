package sshui

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

var (
	here = &net.TCPAddr{IP: net.IPv4(10, 1, 2, 3), Port: 5}
	noon = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
)

// role is what a key in a file with these options is let in as, "" for nobody.
func role(t *testing.T, own bool, options string) (string, bool) {
	t.Helper()
	key := newKey(t)
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "keys"), strings.TrimLeft(options+" ", " ")+line(key.PublicKey())+line(newKey(t).PublicKey()))
	files := KeyFiles{Zone: time.UTC}
	if own {
		files.Own = path
	} else {
		files.Authorized = []string{path}
	}
	a, err := NewAuthorizer(files)
	if err != nil {
		t.Fatalf("%s: %v", options, err)
	}
	g, err := a.Check(key.PublicKey(), here, noon)
	if err != nil {
		return "", false
	}
	return g.Role.String(), g.NoPTY
}

func TestOptions(t *testing.T) {
	for _, tt := range []struct {
		options, own, given string // roles in one's own file, and in another one
		noPTY               bool
	}{
		{options: "", own: "operator", given: "viewer"},
		{options: "no-port-forwarding,No-X11-Forwarding,no-agent-forwarding,no-user-rc", own: "operator", given: "viewer"},
		{options: `command="echo \"a, b\" # c"`, own: "viewer", given: "viewer"},
		{options: "restrict", own: "viewer", given: "viewer", noPTY: true},
		{options: "restrict,pty", own: "viewer", given: "viewer"},
		{options: "no-pty", own: "viewer", given: "viewer", noPTY: true},
		{options: "pty", own: "operator", given: "viewer"},
		{options: `from="10.0.0.0/8"`, own: "operator", given: "viewer"},
		{options: `from="10.1.2.*,!10.1.2.4"`, own: "operator", given: "viewer"},
		{options: `from="10.1.2.*,!10.1.2.3"`},
		{options: `from="192.168.0.0/16"`},
		{options: `from="*.example.org"`},
		{options: `from=""`},
		{options: `from="10.0.0.0/33"`},
		{options: `from="10.0.0.0/8",from="*"`},
		{options: `expiry-time="20260616"`, own: "operator", given: "viewer"},
		{options: `expiry-time="202606151201Z"`, own: "operator", given: "viewer"},
		{options: `expiry-time="20260615120000Z"`},
		{options: `expiry-time="20260615"`},
		{options: `expiry-time="tomorrow"`},
		{options: `environment="A=B",permitopen="h:1",permitlisten="1",tunnel="0"`, own: "operator", given: "viewer"},
		{options: "unheard-of"},
		{options: `unheard-of="x"`},
		{options: "no-touch-required"},
		{options: "verify-required"},
		{options: `restrict="x"`},
		{options: "command"},
		{options: "command=ls"},
		{options: `command="ls`},
		{options: `command="ls"x`},
		{options: "restrict,"},
		{options: ",restrict"},
		{options: `principals="me"`},
		{options: "cert-authority"}, // the key itself is not let in
	} {
		for _, own := range []bool{true, false} {
			want := tt.given
			if own {
				want = tt.own
			}
			got, noPTY := role(t, own, tt.options)
			if got != want || noPTY != tt.noPTY {
				t.Errorf("%s, own %v: %q, no terminal %v; want %q, %v", tt.options, own, got, noPTY, want, tt.noPTY)
			}
		}
	}
}

func TestWeakKeys(t *testing.T) {
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	pub, err := gossh.NewPublicKey(&weak.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = parseAuthLine(line(pub), time.UTC)
	if err == nil || !strings.Contains(err.Error(), "2048") {
		t.Errorf("RSA of 1024 bits: %v", err)
	}
	for _, bad := range []string{"ssh-ed25519 AAAA", "ssh-rsa " + strings.Fields(line(newKey(t).PublicKey()))[1], "hello", strings.Repeat("x", maxKeyLine+1)} {
		if _, ok, err := parseAuthLine(bad, time.UTC); ok || err == nil {
			t.Errorf("%.40q was taken", bad)
		}
	}
}

func TestRolesByFile(t *testing.T) {
	dir := t.TempDir()
	me, ops, team := newKey(t), newKey(t), newKey(t)
	own := write(t, filepath.Join(dir, "own"), line(me.PublicKey()))
	files := KeyFiles{
		Own: own, Operators: []string{write(t, filepath.Join(dir, "ops"), line(ops.PublicKey()))},
		Authorized: []string{own, write(t, filepath.Join(dir, "team"), "# the team\r\n\n"+line(team.PublicKey())+line(ops.PublicKey()))},
	}
	a, err := NewAuthorizer(files)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[gossh.Signer]Role{me: Operator, ops: Operator, team: Viewer} {
		if g, err := a.Check(key.PublicKey(), here, noon); err != nil || g.Role != want {
			t.Errorf("%s: %v, %v; want %v", g.Where, g.Role, err, want)
		}
	}
	write(t, files.Authorized[1], "")
	if err := a.Reload(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Check(team.PublicKey(), here, noon); err == nil {
		t.Error("a key that was taken out is let in after Reload")
	}
	if err := os.Chmod(files.Authorized[1], 0o666); err != nil {
		t.Fatal(err)
	}
	if err := a.Reload(); err == nil {
		t.Error("a file that everybody may write is read")
	}
	if _, err := a.Check(me.PublicKey(), here, noon); err != nil {
		t.Errorf("after an error the old keys must stand: %v", err)
	}
	if _, err := NewAuthorizer(KeyFiles{Own: filepath.Join(dir, "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := NewAuthorizer(KeyFiles{Own: files.Authorized[1]}); err == nil {
		t.Error("an empty list is no error")
	}
}

func TestCertificates(t *testing.T) {
	ca, other, user := newKey(t), newKey(t), newKey(t)
	dir := t.TempDir()
	caFile := write(t, filepath.Join(dir, "ca"), line(ca.PublicKey()))
	team := write(t, filepath.Join(dir, "team"), `cert-authority,principals="ops,dev" `+line(other.PublicKey()))
	own := write(t, filepath.Join(dir, "own"), "cert-authority "+line(other.PublicKey()))
	make := func(by gossh.Signer, edit func(*gossh.Certificate)) gossh.PublicKey {
		c := &gossh.Certificate{
			Key: user.PublicKey(), CertType: gossh.UserCert, KeyId: "alice", ValidPrincipals: []string{"dev"},
			ValidAfter: uint64(noon.Add(-time.Hour).Unix()), ValidBefore: uint64(noon.Add(time.Hour).Unix()),
			Permissions: gossh.Permissions{Extensions: map[string]string{"permit-pty": ""}},
		}
		if edit != nil {
			edit(c)
		}
		if err := c.SignCert(rand.Reader, by); err != nil {
			t.Fatal(err)
		}
		return c
	}
	byCA := KeyFiles{CAs: []string{caFile}}
	for _, tt := range []struct {
		name  string
		files KeyFiles
		key   gossh.PublicKey
		want  Role
		noPTY bool
	}{
		{"trusted", byCA, make(ca, nil), Viewer, false},
		{"another authority", byCA, make(other, nil), NoRole, false},
		{"for hosts", byCA, make(ca, func(c *gossh.Certificate) { c.CertType = gossh.HostCert }), NoRole, false},
		{"expired", byCA, make(ca, func(c *gossh.Certificate) { c.ValidBefore = uint64(noon.Unix()) }), NoRole, false},
		{"not yet", byCA, make(ca, func(c *gossh.Certificate) { c.ValidAfter = uint64(noon.Add(time.Minute).Unix()) }), NoRole, false},
		{"no terminal", byCA, make(ca, func(c *gossh.Certificate) { c.Extensions = nil }), Viewer, true},
		{"from here", byCA, make(ca, func(c *gossh.Certificate) { c.CriticalOptions = map[string]string{"source-address": "10.0.0.0/8"} }), Viewer, false},
		{"from elsewhere", byCA, make(ca, func(c *gossh.Certificate) { c.CriticalOptions = map[string]string{"source-address": "11.0.0.0/8"} }), NoRole, false},
		{"an unknown demand", byCA, make(ca, func(c *gossh.Certificate) { c.CriticalOptions = map[string]string{"moon": "full"} }), NoRole, false},
		{"the authority's own key", byCA, ca.PublicKey(), NoRole, false},
		{"one of the names", KeyFiles{Authorized: []string{team}}, make(other, nil), Viewer, false},
		{"none of the names", KeyFiles{Authorized: []string{team}}, make(other, func(c *gossh.Certificate) { c.ValidPrincipals = []string{"guest"} }), NoRole, false},
		{"own file, own name", KeyFiles{Own: own, User: "dev"}, make(other, nil), Operator, false},
		{"own file, forced command", KeyFiles{Own: own, User: "dev"}, make(other, func(c *gossh.Certificate) { c.CriticalOptions = map[string]string{"force-command": "ls"} }), Viewer, false},
		{"own file, another name", KeyFiles{Own: own, User: "root"}, make(other, nil), NoRole, false},
	} {
		a, err := NewAuthorizer(tt.files)
		if err != nil {
			t.Fatal(err)
		}
		g, err := a.Check(tt.key, here, noon)
		if g.Role != tt.want || g.NoPTY != tt.noPTY || (err == nil) != (tt.want != NoRole) {
			t.Errorf("%s: %v, no terminal %v, %v; want %v", tt.name, g.Role, g.NoPTY, err, tt.want)
		}
	}
}

func TestFromMatchesMappedAddresses(t *testing.T) {
	for _, tt := range []struct {
		pattern, addr string
		want          bool
	}{
		{"10.0.0.0/8", "::ffff:10.1.1.1", true},
		{"::1", "::1", true},
		{"fe80::/10", "fe80::1%eth0", true},
		{"2001:DB8::*", "2001:db8::7", true},
		{"*", "1.2.3.4", true},
		{"!1.2.3.4", "1.2.3.5", false},
		{"1.2.3.?", "1.2.3.45", false},
	} {
		if got := fromMatches([]string{tt.pattern}, netip.MustParseAddr(tt.addr)); got != tt.want {
			t.Errorf("%s, %s: %v", tt.pattern, tt.addr, got)
		}
	}
}

func TestHostKeyIsMadeOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ssh")
	prints := make([]string, 16)
	var wg sync.WaitGroup
	for i := range prints {
		wg.Go(func() {
			s, err := HostKey(context.Background(), dir)
			if err != nil {
				t.Error(err)
				return
			}
			prints[i] = gossh.FingerprintSHA256(s.PublicKey())
		})
	}
	wg.Wait()
	for _, p := range prints {
		if p == "" || p != prints[0] {
			t.Fatalf("several keys: %q", prints)
		}
	}
	path := filepath.Join(dir, hostKeyName)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"cut": string(good[:40]), "empty": "", "words": "not a key\n"} {
		write(t, path, text)
		if _, err := HostKey(t.Context(), dir); err == nil {
			t.Errorf("%s: a damaged key is taken", name)
		}
		if now, _ := os.ReadFile(path); string(now) != text {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

func FuzzAuthLine(f *testing.F) {
	key := line(newKey(f).PublicKey())
	for _, s := range []string{key, "restrict " + key, `command="a \"b\" c",from="10.*" ` + key, `expiry-time="20270101Z" ` + key, "# x", `a="b`, `"," ` + key} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, ok, err := parseAuthLine(s, time.UTC)
		if ok && err == nil && l.key == nil {
			t.Errorf("%q: let in without a key", s)
		}
		// Whatever stands in front of a key that is let in is understood.
		with, ok, err := parseAuthLine(s+" "+key, time.UTC)
		if ok && err == nil && s != "" && !with.options.restricted && strings.Contains(s, "restrict") && !strings.ContainsAny(s, "\"# ") {
			t.Errorf("%q: restrict was overlooked", s)
		}
	})
}
