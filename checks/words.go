package checks

import (
	"slices"
	"strings"
	"unicode"
)

// nameWords splits a name into its words, lower case: at capitals, and at what is
// neither letter nor digit.
func nameWords(name string) []string {
	var out []string
	last := rune(0)
	begin := true
	for _, r := range clip(name, maxSubjectLen) {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			begin = true
			last = r
			continue
		case begin || unicode.IsUpper(r) && unicode.IsLower(last):
			out = append(out, "")
			begin = false
		}
		out[len(out)-1] += string(unicode.ToLower(r))
		last = r
	}
	return out
}

var (
	secretWords = []string{"password", "passwd", "passphrase", "passcode", "secret", "cvv", "cvc", "otp", "apikey"}
	secretPairs = []string{
		"api key", "private key", "secret key", "access key", "card number", "access token", "auth token", "api token", "refresh token",
		"bearer token", "session token", "pin code", "pin number", "security code",
	}
	personalWords = []string{"ssn", "email"}
	harmlessWords = []string{"length", "policy", "hint", "reset", "forgot", "count", "id", "name", "has", "is", "show", "rotate", "rotation", "expiry", "manager", "type", "path", "file", "url"}
)

// sensitive reports whether a name says that its value is a secret. Words of
// many meanings, such as token alone, say nothing.
func sensitive(name string) bool {
	w := nameWords(name)
	if slices.ContainsFunc(w, func(s string) bool { return slices.Contains(harmlessWords, s) }) {
		return false
	}
	if slices.ContainsFunc(w, func(s string) bool { return slices.Contains(secretWords, s) }) {
		return true
	}
	all := " " + strings.Join(w, " ") + " "
	return slices.ContainsFunc(secretPairs, func(p string) bool { return strings.Contains(all, " "+p+" ") })
}

// personal reports whether a name says that its value tells who somebody is.
func personal(name string) bool {
	w := nameWords(name)
	return len(w) > 0 && slices.Contains(personalWords, w[len(w)-1])
}
