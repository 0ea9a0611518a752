package sshui

import gossh "golang.org/x/crypto/ssh"

// Algorithms are what the server offers: nothing with SHA-1, CBC or RC4, no
// group below 2048 bits, MACs over what is encrypted only.
func Algorithms() gossh.Algorithms {
	return gossh.Algorithms{
		KeyExchanges: []string{
			gossh.KeyExchangeMLKEM768X25519, gossh.KeyExchangeCurve25519,
			gossh.KeyExchangeECDHP256, gossh.KeyExchangeECDHP384, gossh.KeyExchangeECDHP521,
		},
		Ciphers: []string{
			gossh.CipherAES128GCM, gossh.CipherAES256GCM, gossh.CipherChaCha20Poly1305,
			gossh.CipherAES256CTR, gossh.CipherAES192CTR, gossh.CipherAES128CTR,
		},
		MACs:     []string{gossh.HMACSHA256ETM, gossh.HMACSHA512ETM},
		HostKeys: []string{gossh.KeyAlgoED25519},
		PublicKeyAuths: []string{
			gossh.KeyAlgoED25519, gossh.KeyAlgoSKED25519, gossh.KeyAlgoSKECDSA256,
			gossh.KeyAlgoECDSA256, gossh.KeyAlgoECDSA384, gossh.KeyAlgoECDSA521,
			gossh.KeyAlgoRSASHA256, gossh.KeyAlgoRSASHA512,
		},
	}
}
