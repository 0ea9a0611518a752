package remote

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// hostKeys checks the key of a host against known_hosts.
type hostKeys struct {
	ctx    context.Context
	h      *Host
	prompt Prompt
	check  gossh.HostKeyCallback
	name   string // under which the host is known: HOST:PORT
	notes  func(string)
}

func newHostKeys(ctx context.Context, h *Host, prompt Prompt, notes func(string)) (*hostKeys, error) {
	var files []string
	for _, f := range h.KnownHosts {
		if info, err := os.Stat(f); err == nil && info.Mode().IsRegular() {
			files = append(files, f)
		}
	}
	check, err := knownhosts.New(files...)
	if err != nil {
		return nil, step(StepHostKey, h, fmt.Errorf("read known_hosts: %w", err), "mend or remove that line")
	}
	k := &hostKeys{ctx: ctx, h: h, prompt: prompt, check: check, notes: notes}
	k.name = net.JoinHostPort(strings.ToLower(h.HostName), strconv.Itoa(h.RemotePort))
	if h.KeyAlias != "" {
		k.name = net.JoinHostPort(h.KeyAlias, "22")
	}
	return k, nil
}

// noAddr stands for the address of the host, which decides nothing.
type noAddr struct{}

func (noAddr) Network() string { return "tcp" }
func (noAddr) String() string  { return "0.0.0.0:0" }

// algorithms are the kinds of host keys to ask for: those that are known come
// first, or a host with several keys would seem to have changed.
func (k *hostKeys) algorithms() []string {
	plain := []string{
		gossh.KeyAlgoED25519, gossh.KeyAlgoECDSA256, gossh.KeyAlgoECDSA384, gossh.KeyAlgoECDSA521,
		gossh.KeyAlgoRSASHA512, gossh.KeyAlgoRSASHA256,
	}
	certs := []string{
		gossh.CertAlgoED25519v01, gossh.CertAlgoECDSA256v01, gossh.CertAlgoECDSA384v01, gossh.CertAlgoECDSA521v01,
		gossh.CertAlgoRSASHA512v01, gossh.CertAlgoRSASHA256v01,
	}
	probe, err := gossh.NewPublicKey(make(ed25519.PublicKey, ed25519.PublicKeySize))
	if err != nil {
		return plain
	}
	var known *knownhosts.KeyError
	var out []string
	if errors.As(k.check(k.name, noAddr{}, probe), &known) {
		for _, w := range known.Want {
			switch {
			case isAuthority(w):
				out = append(certs, out...)
			case w.Key.Type() == gossh.KeyAlgoRSA:
				out = append(out, gossh.KeyAlgoRSASHA512, gossh.KeyAlgoRSASHA256)
			default:
				out = append(out, w.Key.Type())
			}
		}
	}
	var once []string
	for _, a := range append(out, plain...) {
		if !slices.Contains(once, a) {
			once = append(once, a)
		}
	}
	return once
}

// isAuthority reports whether a line of known_hosts is one of an authority.
func isAuthority(k knownhosts.KnownKey) bool {
	f, err := os.Open(k.Filename)
	if err != nil {
		return false
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if n == k.Line {
			return strings.HasPrefix(strings.TrimSpace(lines.Text()), "@cert-authority")
		}
	}
	return false
}

// verify is the callback of the handshake.
func (k *hostKeys) verify(_ string, _ net.Addr, key gossh.PublicKey) error {
	err := k.check(k.name, noAddr{}, key)
	if err == nil {
		return nil
	}
	if cert, ok := key.(*gossh.Certificate); ok {
		return step(StepHostKey, k.h, fmt.Errorf("its certificate by %s: %w", gossh.FingerprintSHA256(cert.SignatureKey), err), "the authority must stand in known_hosts behind @cert-authority")
	}
	print := gossh.FingerprintSHA256(key)
	var revoked *knownhosts.RevokedError
	var known *knownhosts.KeyError
	switch {
	case errors.As(err, &revoked):
		return step(StepHostKey, k.h, fmt.Errorf("%s %s is revoked (%s:%d)", key.Type(), print, revoked.Revoked.Filename, revoked.Revoked.Line), "ask who runs the host for its new key")
	case !errors.As(err, &known):
		return step(StepHostKey, k.h, err, "")
	}
	known.Want = slices.DeleteFunc(known.Want, isAuthority)
	if len(known.Want) > 0 {
		w := known.Want[0]
		return step(StepHostKey, k.h,
			fmt.Errorf("it has changed: it is %s %s, and %s:%d knows %s %s; somebody may stand in between", key.Type(), print, w.Filename, w.Line, w.Key.Type(), gossh.FingerprintSHA256(w.Key)),
			"if the change is right, remove the old one: ssh-keygen -R %s -f %s", ShellQuote(knownhosts.Normalize(k.name)), ShellQuote(w.Filename))
	}
	return k.unknown(key, print)
}

// unknown decides about a host that is not known.
func (k *hostKeys) unknown(key gossh.PublicKey, print string) error {
	what := fmt.Errorf("it is not known: %s %s", key.Type(), print)
	hint := fmt.Sprintf("compare the fingerprint with what the host itself says, then connect once with ssh, or add the line: %s", k.line(key, false))
	switch k.h.StrictKeys {
	case "no", "off", "accept-new":
		return k.add(key)
	case "yes":
		return &StepError{StepHostKey, k.h.Alias, what, hint}
	}
	if k.prompt == nil {
		return &StepError{StepHostKey, k.h.Alias, what, hint}
	}
	answer, err := k.prompt(k.ctx, fmt.Sprintf("%s (%s) is not known. Its host key is %s %s.\nConnect and remember it (yes/no)? ", k.h.Alias, k.name, key.Type(), print), false)
	if err != nil {
		return step(StepHostKey, k.h, err, "%s", hint)
	}
	switch a := strings.TrimSpace(answer); {
	case strings.EqualFold(a, "yes"), a == print:
		return k.add(key)
	}
	return &StepError{StepHostKey, k.h.Alias, errors.New("it was not accepted"), hint}
}

func (k *hostKeys) line(key gossh.PublicKey, hashed bool) string {
	name := knownhosts.Normalize(k.name)
	if hashed {
		name = knownhosts.HashHostname(name)
	}
	return knownhosts.Line([]string{name}, key)
}

// add remembers a host. That it cannot is no reason not to connect.
func (k *hostKeys) add(key gossh.PublicKey) error {
	if len(k.h.KnownHosts) == 0 || k.h.KnownHosts[0] == os.DevNull {
		return nil
	}
	file := k.h.KnownHosts[0]
	line := k.line(key, false)
	if k.h.HashKnown {
		name := knownhosts.HashHostname(knownhosts.Normalize(k.name))
		line = name + " " + strings.TrimSpace(string(gossh.MarshalAuthorizedKey(key)))
	}
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = appendLine(file, line)
	}
	if err != nil && k.notes != nil {
		k.notes(fmt.Sprintf("%s: its host key is not remembered: %v", k.h.Alias, err))
	}
	return nil
}

// appendLine adds a line to a file, on a line of its own.
func appendLine(path, line string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		var last [1]byte
		if _, err = f.ReadAt(last[:], info.Size()-1); err == nil && last[0] != '\n' {
			line = "\n" + line
		}
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		_, err = f.WriteString(line + "\n")
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
