package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// Prompt asks the user something; secret answers are not shown.
type Prompt func(ctx context.Context, question string, secret bool) (string, error)

// Keys are the keys of a user for one host. They stay open, so that a
// connection that broke can be made again without asking again.
type Keys struct {
	h      *Host
	prompt Prompt
	asking func(bool) // told before and after a question; nil for nobody

	agentConn net.Conn
	signers   []gossh.Signer
	notes     []string // why some keys are not offered
	offered   []string
}

// OpenKeys looks for the keys of a host: those in the agent that a file names,
// the others of the agent, then those in files.
func OpenKeys(ctx context.Context, h *Host, prompt Prompt) *Keys {
	k := &Keys{h: h, prompt: prompt}
	inAgent := k.openAgent(ctx)
	var ordered, fromFiles []gossh.Signer
	used := map[string]bool{}
	take := func(to *[]gossh.Signer, s gossh.Signer) {
		if id := string(s.PublicKey().Marshal()); !used[id] {
			used[id] = true
			*to = append(*to, s)
		}
	}
	for _, path := range h.IdentityFiles {
		s, err := k.file(ctx, path)
		if err != nil {
			if h.explicitKeys || !errors.Is(err, os.ErrNotExist) {
				k.notes = append(k.notes, err.Error())
			}
			continue
		}
		i := slices.IndexFunc(inAgent, func(a gossh.Signer) bool {
			return bytes.Equal(a.PublicKey().Marshal(), s.PublicKey().Marshal())
		})
		_, empty := s.(publicOnly)
		switch {
		case i >= 0:
			take(&ordered, inAgent[i])
		case empty:
			k.notes = append(k.notes, fmt.Sprintf("%s: its key is in no agent", path))
		default:
			take(&fromFiles, s)
		}
	}
	for _, a := range inAgent {
		if !h.IdentitiesOnly {
			take(&ordered, a)
		}
	}
	for _, s := range append(ordered, fromFiles...) {
		k.signers = append(k.signers, k.counted(s))
	}
	k.certificates()
	return k
}

// ask asks the user, without a limit in time.
func (k *Keys) ask(ctx context.Context, question string, secret bool) (string, error) {
	if k.asking != nil {
		k.asking(true)
		defer k.asking(false)
	}
	return k.prompt(ctx, question, secret)
}

// Close ends the connection to the agent.
func (k *Keys) Close() {
	if k.agentConn != nil {
		_ = k.agentConn.Close() // only read from here on
	}
}

func (k *Keys) openAgent(ctx context.Context) []gossh.Signer {
	if k.h.Agent == "" {
		return nil
	}
	d := net.Dialer{Timeout: 5 * time.Second}
	c, err := d.DialContext(ctx, "unix", k.h.Agent)
	if err != nil {
		k.notes = append(k.notes, fmt.Sprintf("the agent does not answer: %v", err))
		return nil
	}
	signers, err := agent.NewClient(c).Signers()
	if err != nil {
		_ = c.Close() // of no use
		k.notes = append(k.notes, fmt.Sprintf("the agent does not list its keys: %v", err))
		return nil
	}
	k.agentConn = c
	return signers
}

// maxKeyFile bounds a file with a key.
const maxKeyFile = 1 << 20

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxKeyFile))
}

// file reads a key. One with a passphrase asks for it when it is to sign.
func (k *Keys) file(ctx context.Context, path string) (gossh.Signer, error) {
	text, err := readFile(path)
	if errors.Is(err, os.ErrNotExist) {
		if pub, perr := readPublic(path + ".pub"); perr == nil {
			return publicOnly{pub}, nil // the agent may have the rest
		}
	}
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	if pub, _, _, _, perr := gossh.ParseAuthorizedKey(text); perr == nil {
		return publicOnly{pub}, nil
	}
	s, err := gossh.ParsePrivateKey(text)
	var locked *gossh.PassphraseMissingError
	if !errors.As(err, &locked) {
		if err != nil {
			err = fmt.Errorf("key file %s: %w", path, err)
		}
		return s, err
	}
	pub := locked.PublicKey
	if pub == nil {
		if pub, err = readPublic(path + ".pub"); err != nil {
			return nil, fmt.Errorf("key file %s has a passphrase and no %s.pub beside it", path, path)
		}
	}
	return &lockedKey{ctx: ctx, k: k, path: path, text: text, pub: pub}, nil
}

func readPublic(path string) (gossh.PublicKey, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	pub, _, _, _, err := gossh.ParseAuthorizedKey(text)
	return pub, err
}

// publicOnly is the half of a key whose other half may be in the agent.
type publicOnly struct{ pub gossh.PublicKey }

func (p publicOnly) PublicKey() gossh.PublicKey { return p.pub }
func (publicOnly) Sign(io.Reader, []byte) (*gossh.Signature, error) {
	return nil, errors.New("only the public half of the key is here")
}

// lockedKey is a key with a passphrase, which is asked for once, when the
// server has said that it takes the key.
type lockedKey struct {
	ctx  context.Context
	k    *Keys
	path string
	text []byte
	pub  gossh.PublicKey

	mu   sync.Mutex
	open gossh.Signer
}

func (l *lockedKey) PublicKey() gossh.PublicKey { return l.pub }

func (l *lockedKey) Sign(rand io.Reader, data []byte) (*gossh.Signature, error) {
	return l.SignWithAlgorithm(rand, data, "")
}

func (l *lockedKey) SignWithAlgorithm(rand io.Reader, data []byte, algorithm string) (*gossh.Signature, error) {
	s, err := l.unlock()
	if err != nil {
		return nil, err
	}
	if as, ok := s.(gossh.AlgorithmSigner); ok && algorithm != "" {
		return as.SignWithAlgorithm(rand, data, algorithm)
	}
	return s.Sign(rand, data)
}

func (l *lockedKey) unlock() (gossh.Signer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open != nil {
		return l.open, nil
	}
	if l.k.prompt == nil {
		return nil, fmt.Errorf("the key %s has a passphrase, and there is no terminal to ask for it; ssh-add it to an agent", l.path)
	}
	var err error
	for range 3 {
		var pass string
		if pass, err = l.k.ask(l.ctx, fmt.Sprintf("Passphrase for %s: ", l.path), true); err != nil {
			return nil, err
		}
		if l.open, err = gossh.ParsePrivateKeyWithPassphrase(l.text, []byte(pass)); err == nil {
			return l.open, nil
		}
	}
	l.open = nil
	return nil, fmt.Errorf("the key %s: %w", l.path, err)
}

// certificates adds those that lie beside the keys, or are named.
func (k *Keys) certificates() {
	paths := append([]string{}, k.h.Certificates...)
	for _, f := range k.h.IdentityFiles {
		paths = append(paths, f+"-cert.pub")
	}
	var certs []gossh.Signer
	for _, path := range paths {
		pub, err := readPublic(path)
		if err != nil {
			continue
		}
		cert, ok := pub.(*gossh.Certificate)
		if !ok {
			continue
		}
		for _, s := range k.signers {
			if bytes.Equal(s.PublicKey().Marshal(), cert.Key.Marshal()) {
				if cs, err := gossh.NewCertSigner(cert, s); err == nil {
					certs = append(certs, cs)
				}
				break
			}
		}
	}
	k.signers = append(certs, k.signers...)
}

// counted makes a signer that speaks of the algorithms that are good.
func (k *Keys) counted(s gossh.Signer) gossh.Signer {
	k.offered = append(k.offered, s.PublicKey().Type()+" "+gossh.FingerprintSHA256(s.PublicKey()))
	as, ok := s.(gossh.AlgorithmSigner)
	if !ok || s.PublicKey().Type() != gossh.KeyAlgoRSA {
		return s
	}
	m, err := gossh.NewSignerWithAlgorithms(as, []string{gossh.KeyAlgoRSASHA512, gossh.KeyAlgoRSASHA256})
	if err != nil {
		return s
	}
	return m
}

// methods are the ways to prove who the user is, in the order of ssh.
func (k *Keys) methods(ctx context.Context) []gossh.AuthMethod {
	out := []gossh.AuthMethod{gossh.PublicKeysCallback(func() ([]gossh.Signer, error) { return k.signers, nil })}
	if k.prompt == nil {
		return out
	}
	return append(out,
		gossh.KeyboardInteractive(func(name, instruction string, questions []string, echos []bool) ([]string, error) {
			answers := make([]string, len(questions))
			for i, q := range questions {
				text := plainText(q)
				if i == 0 {
					if intro := strings.TrimSpace(plainText(name) + "\n" + plainText(instruction)); intro != "" {
						text = intro + "\n" + text
					}
				}
				a, err := k.ask(ctx, text, !echos[i])
				if err != nil {
					return nil, err
				}
				answers[i] = a
			}
			return answers, nil
		}),
		gossh.RetryableAuthMethod(gossh.PasswordCallback(func() (string, error) {
			return k.ask(ctx, fmt.Sprintf("%s@%s's password: ", k.h.RemoteUser, k.h.Alias), true)
		}), 3))
}

// plainText takes out of the far end's words what a terminal would act on.
func plainText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

// tried says what was offered, for the error.
func (k *Keys) tried() string {
	var b strings.Builder
	switch n := len(k.offered); n {
	case 0:
		b.WriteString("no key to offer")
	case 1:
		b.WriteString("offered " + k.offered[0])
	default:
		fmt.Fprintf(&b, "offered %d keys: %s", n, strings.Join(k.offered[:min(n, 8)], ", "))
	}
	if len(k.notes) > 0 {
		b.WriteString("; " + strings.Join(k.notes, "; "))
	}
	return b.String()
}
