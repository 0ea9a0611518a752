package store

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/mcp"
)

// Reasons says in words why a ladder is as long as it is, the most telling
// reason first: what the server wants, and who keeps sending what. target is
// the URL of the server, "" when it is not known. What is read from a token
// is marked as unverified.
func (l *Ladder) Reasons(target string) []string {
	var out []string
	if r := l.repeated(); r != "" {
		out = append(out, r)
	}
	a := l.lastRefused()
	if a == nil {
		return out
	}
	out = append(out, a.ofToken(target)...)
	b := a.Bearer()
	switch {
	case len(a.Demands) == 0:
		out = append(out, "the server does not say what it wants: a 401 without WWW-Authenticate")
	case b == nil:
		out = append(out, "the server wants "+a.wants())
	case paramOf(b, mcp.ParamError) == mcp.ErrorInsufficientScope:
		out = append(out, "the token lacks a scope: the server wants "+scopesOf(b)+a.has())
	case paramOf(b, mcp.ParamError) == mcp.ErrorInvalidToken:
		out = append(out, "the server does not accept the token"+described(b))
	case paramOf(b, mcp.ParamError) != "":
		out = append(out, "the server answers "+paramOf(b, mcp.ParamError)+described(b))
	case a.Status == 401:
		out = append(out, "the server wants a token")
	}
	return out
}

// repeated names the loop, if attempts repeat themselves.
func (l *Ladder) repeated() string {
	same, trickle, again := 0, false, false
	var before *Attempt
	for i := range l.Attempts {
		a := &l.Attempts[i]
		if !a.Refused() {
			continue
		}
		if before != nil && before.Auth != nil && a.Auth != nil && before.Auth.SHA256 == a.Auth.SHA256 {
			same++
		}
		if x, y := scopeDemand(before), scopeDemand(a); x != nil && y != nil {
			switch {
			case slices.Equal(x, y):
				again = true
			case slices.ContainsFunc(y, func(s string) bool { return !slices.Contains(x, s) }):
				trickle = true
			}
		}
		before = a
	}
	switch {
	case same > 0:
		return "the client sends a token again that was refused"
	case again:
		return "the same scope is demanded again: the new authorization did not bring it"
	case trickle:
		return "the server demands one scope after the other"
	}
	return ""
}

// scopeDemand is the scope that an attempt was refused for, nil for none.
func scopeDemand(a *Attempt) []string {
	if a == nil || a.Status != 403 {
		return nil
	}
	b := a.Bearer()
	if b == nil || paramOf(b, mcp.ParamError) != mcp.ErrorInsufficientScope {
		return nil
	}
	s := b.Scopes()
	slices.Sort(s)
	return s
}

func (l *Ladder) lastRefused() *Attempt {
	for i := len(l.Attempts) - 1; i >= 0; i-- {
		if l.Attempts[i].Refused() {
			return &l.Attempts[i]
		}
	}
	return nil
}

func paramOf(c *mcp.Challenge, name string) string { v, _ := c.Get(name); return v }

func scopesOf(c *mcp.Challenge) string {
	if s := c.Scopes(); len(s) > 0 {
		return strings.Join(s, " ")
	}
	return "more, and does not say what"
}

func described(c *mcp.Challenge) string {
	if d := paramOf(c, mcp.ParamErrorDescription); d != "" {
		return ": " + d
	}
	return ""
}

func (a *Attempt) wants() string {
	for _, d := range a.Demands {
		for _, c := range d.Challenges {
			return c.Scheme
		}
		if d.Fault != "" {
			return "something that cannot be read: " + d.Fault
		}
	}
	return "something else"
}

// has says which scope the token of the attempt has.
func (a *Attempt) has() string {
	if a.Auth == nil || a.Auth.JWT == nil || a.Auth.JWT.Scope == "" {
		return ""
	}
	return "; the token says " + a.Auth.JWT.Scope + " (unverified)"
}

// ofToken says what the token of the attempt has to do with it.
func (a *Attempt) ofToken(target string) []string {
	if a.Auth == nil || a.Auth.JWT == nil {
		return nil
	}
	var out []string
	j := a.Auth.JWT
	if at := time.Unix(0, a.TS); j.Exp > 0 && at.After(time.Unix(j.Exp, 0)) {
		out = append(out, "the token had expired "+at.Sub(time.Unix(j.Exp, 0)).Round(time.Second).String()+" before (unverified)")
	}
	if t, err := url.Parse(target); err == nil && t.Host != "" && len(j.Aud) > 0 && !slices.ContainsFunc(j.Aud, func(s string) bool { return strings.Contains(s, t.Host) }) {
		out = append(out, "the token is for "+strings.Join(j.Aud, ", ")+", not for "+target+" (unverified)")
	}
	return out
}
