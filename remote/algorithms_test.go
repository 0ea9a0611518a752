package remote

import (
	"slices"
	"strings"
	"testing"
)

// What remote agrees to is without known weakness, however old the far end.
func TestAlgorithmsAskedFor(t *testing.T) {
	a := clientAlgorithms()
	for _, tt := range []struct {
		what string
		got  []string
		want string
	}{
		{"key exchange", a.KeyExchanges, "mlkem768x25519-sha256 curve25519-sha256 ecdh-sha2-nistp256 ecdh-sha2-nistp384 ecdh-sha2-nistp521 diffie-hellman-group14-sha256 diffie-hellman-group16-sha512 diffie-hellman-group-exchange-sha256"},
		{"ciphers", a.Ciphers, "aes128-gcm@openssh.com aes256-gcm@openssh.com chacha20-poly1305@openssh.com aes128-ctr aes192-ctr aes256-ctr"},
		{"MACs", a.MACs, "hmac-sha2-256-etm@openssh.com hmac-sha2-512-etm@openssh.com hmac-sha2-256 hmac-sha2-512"},
	} {
		if got := strings.Join(tt.got, " "); got != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.what, got, tt.want)
		}
	}
	d := newFarEnd(t)
	fol, _ := d.follower(Where{}, nil)
	keys, err := newHostKeys(t.Context(), fol.Dialer.Host(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if list := keys.algorithms(); slices.Contains(list, "ssh-rsa") || slices.Contains(list, "ssh-dss") {
		t.Errorf("host keys: %q", list)
	}
}
