package sshui

import (
	"bufio"
	"crypto/rand"
	"crypto/rsa"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// kexInit is the first packet of each side (RFC 4253, 7.1).
type kexInit struct {
	Cookie                  [16]byte `sshtype:"20"`
	KEX, HostKeys           []string
	CiphersIn, CiphersOut   []string
	MACsIn, MACsOut         []string
	CompressIn, CompressOut []string
	LanguageIn, LanguageOut []string
	FirstFollows            bool
	Reserved                uint32
}

// offered reads what a server offers to whoever connects, off the wire.
func offered(t *testing.T, addr string) (init kexInit) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(c, "SSH-2.0-look\r\n")
	r := bufio.NewReader(c)
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	var head [5]byte // length, padding
	if _, err := io.ReadFull(r, head[:]); err != nil {
		t.Fatal(err)
	}
	packet := make([]byte, binary.BigEndian.Uint32(head[:4])-1)
	if _, err := io.ReadFull(r, packet); err != nil {
		t.Fatal(err)
	}
	if err := gossh.Unmarshal(packet[:len(packet)-int(head[4])], &init); err != nil {
		t.Fatal(err)
	}
	return init
}

// What the hub offers is this list and nothing else. docs/REMOTE.md has it,
// too.
func TestAlgorithmsOffered(t *testing.T) {
	got := offered(t, newRig(t, nil).addr)
	ciphers := "aes128-gcm@openssh.com aes256-gcm@openssh.com chacha20-poly1305@openssh.com aes256-ctr aes192-ctr aes128-ctr"
	macs := "hmac-sha2-256-etm@openssh.com hmac-sha2-512-etm@openssh.com"
	for _, tt := range []struct {
		what string
		got  []string
		want string
	}{
		{"key exchange", got.KEX, "mlkem768x25519-sha256 curve25519-sha256 curve25519-sha256@libssh.org ecdh-sha2-nistp256 ecdh-sha2-nistp384 ecdh-sha2-nistp521 kex-strict-s-v00@openssh.com"},
		{"host keys", got.HostKeys, "ssh-ed25519"},
		{"ciphers from the client", got.CiphersIn, ciphers}, {"ciphers to the client", got.CiphersOut, ciphers},
		{"MACs from the client", got.MACsIn, macs}, {"MACs to the client", got.MACsOut, macs},
		{"compression", slices.Concat(got.CompressIn, got.CompressOut), "none none"},
	} {
		if list := strings.Join(tt.got, " "); list != tt.want {
			t.Errorf("%s: offers\n%s\nwant\n%s", tt.what, list, tt.want)
		}
	}
}

// An RSA key logs in with SHA-2, and not with SHA-1.
func TestSignaturesOfViewers(t *testing.T) {
	want := "ssh-ed25519 sk-ssh-ed25519@openssh.com sk-ecdsa-sha2-nistp256@openssh.com ecdsa-sha2-nistp256 ecdsa-sha2-nistp384 ecdsa-sha2-nistp521 rsa-sha2-256 rsa-sha2-512"
	if got := strings.Join(Algorithms().PublicKeyAuths, " "); got != want {
		t.Errorf("viewers may sign with\n%s\nwant\n%s", got, want)
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := gossh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, nil)
	write(t, filepath.Join(r.dir, "keys"), line(r.viewer.PublicKey())+line(signer.PublicKey()))
	if err := r.auth.Reload(); err != nil {
		t.Fatal(err)
	}
	for algorithm, ok := range map[string]bool{gossh.KeyAlgoRSASHA256: true, gossh.KeyAlgoRSASHA512: true, gossh.KeyAlgoRSA: false} {
		s, err := gossh.NewSignerWithAlgorithms(signer.(gossh.AlgorithmSigner), []string{algorithm})
		if err != nil {
			t.Fatal(err)
		}
		c, err := r.dial(s)
		if (err == nil) != ok {
			t.Errorf("%s: %v", algorithm, err)
		}
		if err == nil {
			c.Close()
		}
	}
}
