package archtest

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The repository speaks of the product alone: not of the machine it was written on, nor of where packages came from.
// The words are put together here, so that this file does not hold them.
var traces = []string{
	"/work" + "/",
	".." + "/shared",
	".." + "/design",
	"/." + "library",
	"issues" + " show",
	"proxy.golang" + ".org",
	"registry.npmjs" + ".org",
	"pypi" + ".org",
	"Co-Authored" + "-By",
	"Generated" + " with",
}

func TestNoTraces(t *testing.T) {
	for _, name := range files(t) {
		if info, err := os.Lstat(filepath.Join(rootDir(t), filepath.FromSlash(name))); err != nil || info.Mode()&fs.ModeType != 0 {
			continue // a link or a folder of another repository
		}
		b := read(t, name)
		if bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 {
			continue // binary, by the rule that git has
		}
		for n, line := range bytes.Split(b, []byte("\n")) {
			for _, trace := range traces {
				if bytes.Contains(line, []byte(trace)) {
					t.Errorf("%s:%d holds %q", name, n+1, trace)
				}
			}
		}
	}
}

var docs = []string{
	"README.md", "LICENSE", "CONTRIBUTING.md",
	"docs/ARCHITECTURE.md", "docs/LOG_FORMAT.md", "docs/PERFORMANCE.md", "docs/TRANSPARENCY.md",
	"testdata/cases/README.md", "testdata/bench/README.md", "testdata/lab/README.md", "testdata/conformance/README.md",
}

func TestDocsExist(t *testing.T) {
	for _, name := range docs {
		b, err := os.ReadFile(filepath.Join(rootDir(t), filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
		} else if len(bytes.TrimSpace(b)) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)

// Links between our own pages lead somewhere.
func TestLinksLead(t *testing.T) {
	for _, name := range files(t) {
		if path.Ext(name) != ".md" || (strings.HasPrefix(name, "testdata/") && path.Base(name) != "README.md") {
			continue
		}
		for _, m := range link.FindAllSubmatch(read(t, name), -1) {
			to := string(m[1])
			if strings.Contains(to, ":") {
				continue // another site
			}
			if _, err := os.Stat(filepath.Join(rootDir(t), filepath.FromSlash(path.Join(path.Dir(name), to)))); err != nil {
				t.Errorf("%s links to %s, which is not there", name, to)
			}
		}
	}
}

// A package that is not on the map is one that nobody finds.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	doc := string(read(t, "docs/ARCHITECTURE.md"))
	for _, pkg := range packages(t) {
		if !strings.Contains(doc, "`"+pkg+"`") {
			t.Errorf("docs/ARCHITECTURE.md does not name `%s`", pkg)
		}
		if strings.Contains(doc, "`"+pkg+"` ·") {
			t.Errorf("docs/ARCHITECTURE.md calls `%s` planned, and it is there", pkg)
		}
	}
}

// What the documents tell a reader to run is there.
func TestMakeTargetsExist(t *testing.T) {
	makefile := string(read(t, "Makefile"))
	target := regexp.MustCompile("`make ([a-z0-9]+)")
	for _, name := range docs {
		for _, m := range target.FindAllStringSubmatch(string(read(t, name)), -1) {
			if !strings.Contains(makefile, "\n"+m[1]+":") {
				t.Errorf("%s speaks of make %s, which the Makefile does not have", name, m[1])
			}
		}
	}
}
