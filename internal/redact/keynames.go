package redact

import "strings"

// The tables of secret-shaped names. They are read only.

func set(list string) map[string]bool {
	m := map[string]bool{}
	for _, s := range strings.Fields(list) {
		m[s] = true
	}
	return m
}

// decoration is what may follow the noun without changing what is held.
var decoration = set("value val string str text raw plain plaintext header b64 base64 pem hash confirmation confirm again repeat")

// nouns hide their value whatever stands before them.
var nouns = map[string]keyKind{
	"password": kindSecret | kindNumber, "passwd": kindSecret | kindNumber, "passphrase": kindSecret | kindNumber,
	"passcode": kindSecret | kindNumber, "passwords": kindSecret | kindNumber, "passwort": kindSecret | kindNumber,
	"pwd":    kindSecret | kindNumber | kindPwd,
	"secret": kindSecret | kindNumber, "secrets": kindSecret,
	"credential": kindSecret, "credentials": kindSecret, "creds": kindSecret,
	"otp": kindSecret | kindNumber, "totp": kindSecret | kindNumber, "cvv": kindSecret | kindNumber, "cvc": kindSecret | kindNumber,
	"authorization": kindSecret | kindLine, "cookie": kindSecret | kindLine, "cookies": kindSecret | kindLine, "setcookie": kindSecret | kindLine,
	"bearer": kindSecret | kindWord, "jwt": kindSecret,
}

// pairs are nouns that hide their value behind certain words only.
var pairs = map[string]struct {
	kind keyKind
	with map[string]bool
}{
	"key":       {kindSecret, keyOwners},
	"keys":      {kindSecret, keyOwners},
	"tokens":    {kindSecret, set("access refresh auth bearer session api id secret oauth device push user")},
	"code":      {kindSecret | kindNumber, set("authorization auth device verification security recovery backup mfa access 2fa")},
	"pass":      {kindSecret | kindNumber, set("db database user smtp mysql pg postgres redis admin root mail ftp login http proxy ssh wifi")},
	"verifier":  {kindSecret, set("code")},
	"assertion": {kindSecret, set("client")},
}

var keyOwners = set(`api access private secret signing encryption decryption account auth subscription master shared ssh deploy service
	app application license webhook client hmac aes rsa consumer crypto priv bot xapi`)

// pinOwners are the words before a pin that is no pin of a chip.
var pinOwners = set("user card sim account login security auth bank phone")

// spareTokens are the words before a token that is a position, a count or a
// handle and no credential.
var spareTokens = set(`progress page next prev previous continuation continue sync cursor starting start resume resumption delta skip
	pagination paging change cancellation cancel design eos bos pad unk stop sep cls mask special
	max min num total count per n input output prompt completion first last cached reasoning`)

// compounds are names written as one lower-case word.
var compounds = []struct {
	end  string
	kind keyKind
}{
	{"password", kindSecret | kindNumber}, {"passwd", kindSecret | kindNumber}, {"passphrase", kindSecret | kindNumber},
	{"apikey", kindSecret}, {"apitoken", kindSecret}, {"apisecret", kindSecret}, {"appsecret", kindSecret},
	{"secretkey", kindSecret}, {"privatekey", kindSecret}, {"privkey", kindSecret}, {"accesskey", kindSecret}, {"authkey", kindSecret},
	{"accesstoken", kindSecret}, {"refreshtoken", kindSecret}, {"authtoken", kindSecret}, {"sessiontoken", kindSecret},
	{"bearertoken", kindSecret}, {"idtoken", kindSecret}, {"clientsecret", kindSecret},
}
