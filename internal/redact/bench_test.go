package redact

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

func base64Payload(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n*3/4)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"image","data":"` + base64.StdEncoding.EncodeToString(b) + `","mimeType":"image/png"}]}}`)
}

func rowsPayload(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"jsonrpc":"2.0","id":1,"result":{"structuredContent":{"rows":[`)
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `{"id":%d,"name":"row %d","email":"user%d@example.com","tags":["red","blue"],"ok":true,"description":"An ordinary sentence about row %d."},`, i, i, i, i)
	}
	b.WriteString(`{}]}}}`)
	return []byte(b.String())
}

func prosePayload(n int) []byte {
	text := strings.Repeat("The quick brown fox: it jumps over the lazy dog, and https://example.com/a?b=c says so. ", n/88)
	return []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + text + `"}]}}`)
}

func codePayload(n int) []byte {
	text := strings.Repeat(`func main() {\n\tfmt.Println(\"hello\", x[i])\n\tif err != nil {\n\t\treturn err\n\t}\n}\n`, n/80)
	return []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + text + `"}]}}`)
}

func BenchmarkPayload(b *testing.B) {
	secrets := engine(b, Config{Secrets: true})
	full := engine(b, Config{Secrets: true, Keys: []string{"city"}, Values: []string{"sk-test-[0-9a-f]+"}, Paths: []string{"$.params.arguments.password"}})
	for i := range 50 {
		full.Text(fmt.Sprintf("password=S3cret%dvalue", i))
	}
	payloads := []struct {
		name string
		b    []byte
	}{
		{"base64-16MiB", base64Payload(16 << 20)},
		{"rows-1MiB", rowsPayload(1 << 20)},
		{"prose-1MiB", prosePayload(1 << 20)},
		{"code-1MiB", codePayload(1 << 20)},
		{"call-1KiB", rowsPayload(1 << 10)},
	}
	for _, e := range []struct {
		name string
		e    *Engine
	}{{"off", nil}, {"secrets", secrets}, {"full", full}} {
		for _, p := range payloads {
			b.Run(e.name+"/"+p.name, func(b *testing.B) {
				b.SetBytes(int64(len(p.b)))
				b.ReportAllocs()
				for b.Loop() {
					if _, changed := e.e.Payload(nil, p.b); changed {
						b.Fatal("an ordinary payload was changed")
					}
				}
			})
		}
	}
}

// TestHostile gives texts that are slow for engines whose time is not linear.
// The bound is wide: a quadratic search would need hours.
func TestHostile(t *testing.T) {
	n := 256 << 10
	if testing.Short() {
		n = 64 << 10
	}
	fill := func(s string) string { return strings.Repeat(s, n/len(s)) }
	str := func(s string) []byte { return []byte(`{"params":{"arguments":{"q":"` + s + `"}}}`) }
	cases := map[string][]byte{
		"one word":          str(fill("a")),
		"word starts":       str(fill("eyJ.")),
		"JWT beginnings":    str(fill("eyJhbGciOi.eyJzdWIiOi ")),
		"URLs":              str(fill("a://")),
		"userinfo":          str("a://" + fill("a:")),
		"keys":              str(fill("token=")),
		"keys and values":   str(fill("token=x ")),
		"separators":        str("token=" + fill(",a")),
		"ampersands":        str("token=" + fill("&")),
		"PEM":               str(fill("-----BEGIN PRIVATE KEY")),
		"PEM blocks":        str(fill("-----BEGIN PRIVATE KEY-----")),
		"open quotes":       str(fill(`token=\"`)),
		"open brackets":     str(fill(`\"token\":{`)),
		"marks":             str(fill("[REDACTED")),
		"whole marks":       str(fill("[REDACTED:ab12]")),
		"backslashes":       str(fill(`\\`)),
		"surrogates":        str(fill(`\ud83d`)),
		"arrays":            []byte(`{"params":` + strings.Repeat("[", 900) + strings.Repeat("1,", n/2) + "1" + strings.Repeat("]", 900) + "}"),
		"deep and wide":     []byte("[" + fill(strings.Repeat("[", 900)+strings.Repeat("]", 900)+",") + "1]"),
		"JSON in strings":   str(fill(`{\"a\":\"[1]\"}`)),
		"open JSON":         str(fill("[") + "]"),
		"keys of objects":   []byte("{" + fill(`"token":"x",`) + `"a":1}`),
		"pairs":             []byte("[" + fill(`{"value":"x","name":"token"},`) + `1]`),
		"secret sequences":  str(fill("ghp_0123456789abcdefghijABCDEFGHIJ012345 ")),
		"Bearer":            str(fill("Bearer ")),
		"long value, twice": str(fill("ab")),
		"flags":             str(fill("--token ")),
	}
	e := engine(t, Config{Secrets: true, Values: []string{`(a+)+b`}, Paths: []string{"$..x[-1]", "$..y[?@.a]", "$..*..*..z"}})
	e.Text("password=" + strings.Repeat("ab", 300) + "1")
	e.Text("password=" + strings.Repeat("a", 300) + "1")
	for name, raw := range cases {
		start := time.Now()
		e.Payload(nil, raw)
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s: %v for %d KiB", name, d, len(raw)>>10)
		} else if testing.Verbose() {
			t.Logf("%-18s %8v", name, d.Round(time.Millisecond))
		}
	}
}

// BenchmarkCheck is the floor: telling that the same payload is JSON.
func BenchmarkCheck(b *testing.B) {
	p := rowsPayload(1 << 20)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		if wire.Check(p) != nil {
			b.Fatal("no JSON")
		}
	}
}

// BenchmarkRemember is a payload that brings new secrets each time.
func BenchmarkRemember(b *testing.B) {
	e := engine(b, Config{Secrets: true})
	n := 0
	for b.Loop() {
		var s strings.Builder
		s.WriteString(`{"result":{"structuredContent":[`)
		for range 100 {
			n++
			fmt.Fprintf(&s, `{"token":"Secret/%d+value"},`, n)
		}
		s.WriteString(`1]}}`)
		b.SetBytes(int64(s.Len()))
		e.Payload(nil, []byte(s.String()))
	}
}
