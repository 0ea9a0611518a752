package sshui

import (
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// maxKeyLine bounds a line of an authorized_keys file, as sshd does.
const maxKeyLine = 8 << 10

// minRSABits is the shortest RSA key that is let in.
const minRSABits = 2048

// authLine is a line of an authorized_keys file.
type authLine struct {
	key     gossh.PublicKey
	comment string
	options keyOptions
	where   string // file:line
}

// keyOptions are what the options of a line ask for. Options about forwarding
// and start files are known and need nothing: there is none of that here.
type keyOptions struct {
	authority  bool     // the key signs certificates
	principals []string // names of which a certificate must have one; nil for any
	restricted bool     // command=, restrict or no-pty: a viewer
	noPTY      bool
	from       []string // patterns of addresses; nil for any
	expires    time.Time
}

// parseAuthLine reads a line. Lines without a key give ok false and no error.
func parseAuthLine(line string, zone *time.Location) (l authLine, ok bool, err error) {
	if len(line) > maxKeyLine {
		return l, false, fmt.Errorf("the line is longer than %d bytes", maxKeyLine)
	}
	line = strings.Trim(line, " \t\r")
	if line == "" || line[0] == '#' {
		return l, false, nil
	}
	if l.key, l.comment, err = parseKey(line); err == nil {
		return l, true, allowedKey(l.key)
	}
	options, rest, oerr := cutOptions(line)
	if oerr != nil {
		return l, false, oerr
	}
	if l.key, l.comment, err = parseKey(rest); err != nil {
		return l, false, err
	}
	if err = allowedKey(l.key); err != nil {
		return l, true, err
	}
	l.options, err = parseOptions(options, zone)
	return l, true, err
}

// parseKey reads `type base64 comment`.
func parseKey(s string) (key gossh.PublicKey, comment string, err error) {
	kind, rest, _ := strings.Cut(s, " ")
	if i := strings.IndexByte(kind, '\t'); i >= 0 {
		kind, rest = s[:i], s[i+1:]
	}
	rest = strings.TrimLeft(rest, " \t")
	blob := rest
	if i := strings.IndexAny(rest, " \t"); i >= 0 {
		blob, comment = rest[:i], strings.Trim(rest[i:], " \t")
	}
	raw, err := base64.StdEncoding.DecodeString(blob)
	if err != nil || len(raw) == 0 {
		return nil, "", errors.New("no key in it")
	}
	key, err = gossh.ParsePublicKey(raw)
	if err != nil {
		return nil, "", fmt.Errorf("not a key that is understood: %w", err)
	}
	if key.Type() != kind {
		return nil, "", fmt.Errorf("the key is a %s and not a %s", key.Type(), kind)
	}
	return key, comment, nil
}

// allowedKey says why a key is too weak, or of a kind that is not let in.
func allowedKey(key gossh.PublicKey) error {
	switch key.Type() {
	case gossh.KeyAlgoED25519, gossh.KeyAlgoECDSA256, gossh.KeyAlgoECDSA384, gossh.KeyAlgoECDSA521, gossh.KeyAlgoSKED25519, gossh.KeyAlgoSKECDSA256:
		return nil
	case gossh.KeyAlgoRSA:
		c, ok := key.(gossh.CryptoPublicKey)
		if !ok {
			return errors.New("an RSA key that cannot be looked at")
		}
		if k, ok := c.CryptoPublicKey().(*rsa.PublicKey); !ok || k.N.BitLen() < minRSABits {
			return fmt.Errorf("an RSA key of less than %d bits is not let in", minRSABits)
		}
		return nil
	}
	if cert, ok := key.(*gossh.Certificate); ok {
		return allowedKey(cert.Key)
	}
	return fmt.Errorf("keys of type %s are not let in", key.Type())
}

// cutOptions takes the options off the front of a line: up to the first blank
// outside of quotes.
func cutOptions(line string) (options, rest string, err error) {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line) && line[i+1] == '"':
			i++
		case c == '"':
			quoted = !quoted
		case (c == ' ' || c == '\t') && !quoted:
			return line[:i], strings.TrimLeft(line[i:], " \t"), nil
		}
	}
	if quoted {
		return "", "", errors.New("a quotation mark is not closed")
	}
	return "", "", errors.New("no key in it")
}

// splitOptions gives name, value and whether there is a value, for each option.
func splitOptions(s string, each func(name, value string, has bool) error) error {
	for s != "" {
		end := strings.IndexAny(s, ",=")
		if end < 0 {
			end = len(s)
		}
		name, value, has := s[:end], "", false
		s = s[end:]
		if strings.HasPrefix(s, "=") {
			var err error
			if value, s, err = unquote(s[1:]); err != nil {
				return fmt.Errorf("option %s: %w", name, err)
			}
			has = true
		}
		if err := each(strings.ToLower(name), value, has); err != nil {
			return err
		}
		if s == "" {
			return nil
		}
		if s[0] != ',' || len(s) == 1 {
			return fmt.Errorf("a comma and another option are missing behind option %s", name)
		}
		s = s[1:]
	}
	return nil
}

// unquote reads a value in quotation marks, in which \" stands for one.
func unquote(s string) (value, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		return "", "", errors.New("its value must be in quotation marks")
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '"':
			i++
			b.WriteByte('"')
		case s[i] == '"':
			return b.String(), s[i+1:], nil
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", errors.New("its quotation mark is not closed")
}

// parseOptions reads the options of a line. One that is not known is an error:
// it may be there to keep somebody out.
func parseOptions(s string, zone *time.Location) (o keyOptions, err error) {
	pty := ""
	restrict := false
	err = splitOptions(s, func(name, value string, has bool) error {
		wantsValue := false
		switch name {
		case "cert-authority":
			o.authority = true
		case "restrict":
			o.restricted, restrict = true, true
		case "no-pty":
			o.restricted, pty = true, "no"
		case "pty":
			pty = "yes"
		case "agent-forwarding", "no-agent-forwarding", "port-forwarding", "no-port-forwarding",
			"user-rc", "no-user-rc", "x11-forwarding", "no-x11-forwarding":
		case "no-touch-required":
			return errors.New("option no-touch-required: a touch is always asked for here")
		case "verify-required":
			return errors.New("option verify-required cannot be checked here")
		default:
			wantsValue = true
			if has {
				return o.valued(name, value, zone)
			}
		}
		if !has && wantsValue {
			return fmt.Errorf("unknown option %q, or its value is missing", name)
		}
		if has {
			return fmt.Errorf("option %s takes no value", name)
		}
		return nil
	})
	o.noPTY = pty == "no" || restrict && pty != "yes"
	if err == nil && o.principals != nil && !o.authority {
		err = errors.New("option principals needs cert-authority")
	}
	return o, err
}

// valued takes an option with a value.
func (o *keyOptions) valued(name, value string, zone *time.Location) (err error) {
	switch name {
	case "command":
		o.restricted = true
	case "environment", "permitopen", "permitlisten", "tunnel":
	case "from":
		if o.from != nil {
			return errors.New("option from stands twice")
		}
		o.from, err = parseFrom(value)
	case "principals":
		o.principals = splitList(value)
		if len(o.principals) == 0 {
			err = errors.New("option principals names nobody")
		}
	case "expiry-time":
		var t time.Time
		if t, err = parseExpiry(value, zone); err == nil && (o.expires.IsZero() || t.Before(o.expires)) {
			o.expires = t
		}
	default:
		err = fmt.Errorf("unknown option %q", name)
	}
	return err
}

func splitList(s string) []string {
	out := []string{}
	for _, w := range strings.Split(s, ",") {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// parseExpiry reads YYYYMMDD or YYYYMMDDHHMM[SS], in the zone of this machine
// unless a Z stands behind it.
func parseExpiry(s string, zone *time.Location) (time.Time, error) {
	digits, utc := strings.CutSuffix(s, "Z")
	if utc {
		zone = time.UTC
	}
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if len(layout) == len(digits) {
			if t, err := time.ParseInLocation(layout, digits, zone); err == nil {
				return t, nil
			}
		}
	}
	return time.Time{}, fmt.Errorf("expiry-time %q: want YYYYMMDD or YYYYMMDDHHMM[SS], with a Z for UTC", s)
}
