package sshui

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// Role is what a viewer may do.
type Role uint8

// The roles. A Viewer looks; an Operator may also replay and delete.
const (
	NoRole Role = iota
	Viewer
	Operator
)

// String is the role in a word.
func (r Role) String() string { return [...]string{"nobody", "viewer", "operator"}[r] }

// Grant is what a key is let in as.
type Grant struct {
	Role        Role
	NoPTY       bool
	Fingerprint string // of the key; of the certified key for a certificate
	Comment     string // of the line, or the id of the certificate
	Where       string // file:line that lets it in
	Note        string // options that matter: "from=…", "certificates"
}

// KeyFiles are the files that say who is let in, in the format of
// authorized_keys.
type KeyFiles struct {
	Own        string   // authorized_keys of the user who runs the hub: operators; "" for none
	Authorized []string // viewers
	Operators  []string
	CAs        []string // keys whose certificates are viewers

	User string         // who runs the hub; certificates of authorities in Own must name it
	Zone *time.Location // of times without one; nil is that of this machine
}

// Authorizer decides who is let in. Its methods are safe for concurrent use.
type Authorizer struct {
	files KeyFiles
	set   atomic.Pointer[keySet]
}

// keySet is what the files say at a time.
type keySet struct {
	entries  []keyEntry
	problems []string // lines that let nobody in, and why
}

type keyEntry struct {
	authLine
	role Role
	own  bool
}

// maxKeyFile bounds a file of keys.
const maxKeyFile = 4 << 20

// NewAuthorizer reads the files. Lines that cannot be used are in Problems; a
// file that cannot be read is an error, and so is it when nobody is let in.
func NewAuthorizer(files KeyFiles) (*Authorizer, error) {
	if files.Zone == nil {
		files.Zone = time.Local
	}
	a := &Authorizer{files: files}
	return a, a.Reload()
}

// Reload reads the files again. After an error the old keys stand.
func (a *Authorizer) Reload() error {
	set := &keySet{}
	for _, path := range a.files.Operators {
		if err := set.read(path, Operator, false, false, a.files.Zone); err != nil {
			return err
		}
	}
	for _, path := range a.files.Authorized {
		own := sameFile(path, a.files.Own)
		role := Viewer
		if own {
			role = Operator
		}
		if err := set.read(path, role, own, false, a.files.Zone); err != nil {
			return err
		}
	}
	if len(a.files.Authorized) == 0 && a.files.Own != "" {
		err := set.read(a.files.Own, Operator, true, false, a.files.Zone)
		others := len(set.entries) > 0 || len(a.files.CAs) > 0
		if err != nil && !(errors.Is(err, fs.ErrNotExist) && others) {
			return err
		}
	}
	for _, path := range a.files.CAs {
		if err := set.read(path, Viewer, false, true, a.files.Zone); err != nil {
			return err
		}
	}
	if len(set.entries) == 0 {
		why := ""
		if len(set.problems) > 0 {
			why = ": " + set.problems[0]
		}
		return fmt.Errorf("the files of keys let nobody in%s", why)
	}
	a.set.Store(set)
	return nil
}

func sameFile(a, b string) bool {
	if a == b || b == "" {
		return a == b
	}
	ia, err := os.Stat(a)
	if err != nil {
		return false
	}
	ib, err := os.Stat(b)
	return err == nil && os.SameFile(ia, ib)
}

// read adds the keys of a file.
func (set *keySet) read(path string, role Role, own, authorities bool, zone *time.Location) error {
	data, err := readKeyFile(path)
	if err != nil {
		return fmt.Errorf("read the keys: %w", err)
	}
	for n, line := range bytes.Split(data, []byte("\n")) {
		l, ok, err := parseAuthLine(string(line), zone)
		l.where = fmt.Sprintf("%s:%d", path, n+1)
		if _, cert := l.key.(*gossh.Certificate); cert && err == nil {
			err = errors.New("a certificate is no key of a list: give the key that signs it")
		}
		if err != nil {
			set.problems = append(set.problems, fmt.Sprintf("%s: %v; the key is not let in", l.where, err))
			continue
		}
		if ok {
			l.options.authority = l.options.authority || authorities
			set.entries = append(set.entries, keyEntry{l, role, own})
		}
	}
	return nil
}

// readKeyFile reads a file that nobody else may write.
func readKeyFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s can be written by others (mode %04o); chmod go-w %s", path, info.Mode().Perm(), path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err == nil && len(data) > maxKeyFile {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxKeyFile)
	}
	return data, err
}

// Problems are the lines that let nobody in, each with its reason.
func (a *Authorizer) Problems() []string { return slices.Clone(a.set.Load().problems) }

// Grants lists who is let in.
func (a *Authorizer) Grants() []Grant {
	var out []Grant
	for _, e := range a.set.Load().entries {
		out = append(out, e.grant())
	}
	return out
}

func (e *keyEntry) grant() Grant {
	g := Grant{Role: e.role, NoPTY: e.options.noPTY, Fingerprint: gossh.FingerprintSHA256(e.key), Comment: e.comment, Where: e.where}
	if e.options.restricted {
		g.Role = Viewer
	}
	var notes []string
	if e.options.authority {
		notes = append(notes, "certificates it signs")
		if e.options.principals != nil {
			notes = append(notes, "for "+strings.Join(e.options.principals, ","))
		}
	}
	if g.NoPTY {
		notes = append(notes, "no terminal")
	}
	if e.options.from != nil {
		notes = append(notes, "from "+strings.Join(e.options.from, ","))
	}
	if !e.options.expires.IsZero() {
		notes = append(notes, "until "+e.options.expires.Format(time.RFC3339))
	}
	g.Note = strings.Join(notes, ", ")
	return g
}

// Check says what a key that comes from an address is let in as, or why not.
// The first line that fits counts, as in sshd.
func (a *Authorizer) Check(key gossh.PublicKey, from net.Addr, now time.Time) (Grant, error) {
	if err := allowedKey(key); err != nil {
		return Grant{}, err
	}
	addr := addrOf(from)
	why := errors.New("the key is not in the lists")
	cert, isCert := key.(*gossh.Certificate)
	for i := range a.set.Load().entries {
		e := &a.set.Load().entries[i]
		match := key
		if isCert {
			match = cert.SignatureKey
		}
		if e.options.authority != isCert || !bytes.Equal(e.key.Marshal(), match.Marshal()) {
			continue
		}
		g := e.grant()
		err := e.fits(addr, now)
		if err == nil && isCert {
			err = a.checkCert(e, cert, addr, now, &g)
		}
		if err == nil {
			return g, nil
		}
		why = fmt.Errorf("%s: %w", e.where, err)
	}
	return Grant{}, why
}

// fits checks what the options say about place and time.
func (e *keyEntry) fits(addr netip.Addr, now time.Time) error {
	if o := &e.options; o.from != nil && !fromMatches(o.from, addr) {
		return fmt.Errorf("from= does not let %s in", addr)
	} else if !o.expires.IsZero() && !now.Before(o.expires) {
		return fmt.Errorf("the key has expired (expiry-time=%s)", o.expires.Format(time.RFC3339))
	}
	return nil
}

func addrOf(a net.Addr) netip.Addr {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.AddrPort().Addr().Unmap().WithZone("")
	}
	if a == nil {
		return netip.Addr{}
	}
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}
