package web

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

var update = flag.Bool("update", false, "write the bundle")

// bundle makes one script of the modules in src.
func bundle(t *testing.T) string {
	t.Helper()
	r := api.Build(api.BuildOptions{
		EntryPoints: []string{"src/main.js"}, Bundle: true, Format: api.FormatIIFE, Target: api.ES2023, Charset: api.CharsetASCII,
		Platform: api.PlatformBrowser, LegalComments: api.LegalCommentsNone,
	})
	for _, m := range append(r.Errors, r.Warnings...) {
		t.Errorf("%v", m.Text)
	}
	if len(r.OutputFiles) != 1 {
		t.Fatalf("%d files; want 1", len(r.OutputFiles))
	}
	return string(r.OutputFiles[0].Contents)
}

// What is embedded is the bundle of what stands in src.
func TestBundle(t *testing.T) {
	want := bundle(t)
	if *update {
		if err := os.WriteFile("dist/page.js", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if script != want {
		t.Error("dist/page.js is not the bundle of src: run go generate ./export/web")
	}
}

// Nothing in the page ends its own elements early, or reaches out.
func TestPageIsClosed(t *testing.T) {
	for name, s := range map[string]string{"script": script, "style": style} {
		if strings.Contains(strings.ToLower(s), "</"+name) || strings.Contains(s, "<!--") {
			t.Errorf("the %s ends its own element", name)
		}
	}
	for _, no := range []string{"http://", "https://", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "XMLHttpRequest", "import(", "url("} {
		if strings.Contains(script, no) || strings.Contains(style, no) || strings.Contains(body, no) {
			t.Errorf("the page holds %q", no)
		}
	}
}
