package mcp

import (
	"fmt"
	"strings"
	"testing"
)

// show writes challenges in one line: Scheme token68 name=value; Scheme ...
func show(list []Challenge) string {
	var out []string
	for _, c := range list {
		s := c.Scheme
		if c.Token68 != "" {
			s += " " + c.Token68
		}
		for _, p := range c.Params {
			s += fmt.Sprintf(" %s=<%s>", p.Name, p.Value)
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestParseChallenges(t *testing.T) {
	for _, tt := range []struct{ in, want, fault string }{
		{"", "", ""},
		{" , ,\t", "", ""},
		{"Bearer", "Bearer", ""},
		{"Bearer ", "Bearer", ""},
		{`Bearer realm="a b", scope="x y"`, "Bearer realm=<a b> scope=<x y>", ""},
		{`bearer ERROR=insufficient_scope`, "bearer error=<insufficient_scope>", ""},
		{`Bearer realm = "a" ,scope= x`, "Bearer realm=<a> scope=<x>", ""},
		{`Bearer ,, realm=a,, scope=b ,`, "Bearer realm=<a> scope=<b>", ""},
		{`Basic realm="x", Bearer scope="y", Negotiate`, "Basic realm=<x>; Bearer scope=<y>; Negotiate", ""},
		{`Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple"`, `Newauth realm=<apps> type=<1> title=<Login to "apps">; Basic realm=<simple>`, ""},
		{`Negotiate YII+/a==, Bearer`, "Negotiate YII+/a==; Bearer", ""},
		{`Negotiate abc=`, "Negotiate abc=", ""},
		{`Bearer a=b`, "Bearer a=<b>", ""},
		{`Bearer x="a, b=c, Basic"`, "Bearer x=<a, b=c, Basic>", ""},
		{"Bearer x=\"\xe9\"", "Bearer x=<\xe9>", ""},
		{`Bearer resource_metadata="https://a/.well-known/oauth-protected-resource"`, "Bearer resource_metadata=<https://a/.well-known/oauth-protected-resource>", ""},

		{`realm="x"`, "", "a parameter before any scheme"},
		{`Bearer scope=a b`, "Bearer scope=<a>", "no comma before the next part, at column 16"},
		{`Bearer error="a" scope="b"`, "Bearer error=<a>", "no comma"},
		{`Bearer resource_metadata=https://a/b`, "Bearer resource_metadata=<https>", "no comma"},
		{`Bearer scope="a`, "Bearer", "neither name=value nor a token68"},
		{`Bearer scope=`, "Bearer scope=", ""}, // a token68, by the letter
		{`Bearer a=1, a=2`, "Bearer a=<1>", "stands twice"},
		{`Negotiate abc==, realm=x`, "Negotiate abc==", "behind a token68"},
		{"Bearer x=\"a\x01b\"", "Bearer", "neither"},
		{`"Bearer"`, "", "no authentication scheme"},
		{"Bearer\ta=b", "Bearer", "no comma"},
		{strings.Repeat("A,", 40), "", "too many challenges"},
	} {
		got, err := ParseChallenges(tt.in)
		if tt.want != "" && show(got) != tt.want {
			t.Errorf("%s: got %q; want %q", tt.in, show(got), tt.want)
		}
		if (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: error %v; want %q", tt.in, err, tt.fault)
		}
	}
}

func TestChallengeGet(t *testing.T) {
	const field = `Basic realm="r", Bearer scope="files:read  files:write", resource_metadata="https://h/\"x"`
	list, err := ParseChallenges(field)
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	b := list[1]
	if !b.Is("bEARER") || strings.Join(b.Scopes(), "|") != "files:read|files:write" {
		t.Errorf("scopes %q of %q", b.Scopes(), b.Scheme)
	}
	if v, ok := b.Get(ParamResourceMetadata); !ok || v != `https://h/"x` {
		t.Errorf("resource_metadata %q", v)
	}
	p := b.Params[1]
	if got := field[p.Start:p.End]; got != `"https://h/\"x"` {
		t.Errorf("the value stands at %q", got)
	}
}

// What was read can be written down again and is read as the same; no field
// makes the reader hang, fail or keep more than its bounds.
func FuzzParseChallenges(f *testing.F) {
	for _, s := range []string{"", "Bearer", `Bearer realm="a\"b", x=y, Basic Zm9v==,, Digest a = b`, "Bearer scope=a b", `B x="`, "A,B,C"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, field string) {
		list, err := ParseChallenges(field)
		if len(list) > maxChallenges {
			t.Fatalf("%d challenges", len(list))
		}
		if err != nil {
			return
		}
		var b strings.Builder
		for i, c := range list {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(c.Scheme)
			if c.Token68 != "" {
				b.WriteString(" " + c.Token68)
			}
			for k, p := range c.Params {
				if raw := field[p.Start:p.End]; unquote(raw) != p.Value {
					t.Fatalf("%q stands at %d, not %q", raw, p.Start, p.Value)
				}
				if k > 0 {
					b.WriteString(",")
				}
				b.WriteString(" " + p.Name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p.Value) + `"`)
			}
		}
		again, err := ParseChallenges(b.String())
		if err != nil || show(again) != show(list) {
			t.Fatalf("%q was written as %q and read as %q, %v", field, b.String(), show(again), err)
		}
	})
}
