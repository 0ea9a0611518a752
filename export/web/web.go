package web

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html"
	"io"
	"strings"
)

//go:generate go test -run TestBundle -update

//go:embed dist/page.js
var script string

//go:embed src/page.css
var style string

//go:embed src/page.html
var body string

// Policy is the Content-Security-Policy of the page: this script, this style
// and nothing from anywhere.
func Policy() string {
	return "default-src 'none'; script-src '" + hash(script) + "'; style-src '" + hash(style) + "'; base-uri 'none'; form-action 'none'"
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Begin writes the page up to its data.
func Begin(w io.Writer, title string) error {
	var b strings.Builder
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
	b.WriteString(`<meta http-equiv="Content-Security-Policy" content="` + Policy() + "\">\n")
	b.WriteString("<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
	b.WriteString("<title>" + html.EscapeString(title) + "</title>\n<style>" + style + "</style>\n</head>\n")
	b.WriteString(body)
	_, err := io.WriteString(w, b.String())
	return err
}

// End writes the program and the end of the page.
func End(w io.Writer) error {
	_, err := io.WriteString(w, "<script>"+script+"</script>\n</body>\n</html>\n")
	return err
}
