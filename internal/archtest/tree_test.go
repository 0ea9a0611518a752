package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// ours is the prefix of every import path of this module.
const ours = "github.com/mcpsnoop/mcpsnoop/"

// goFile is one Go file of the product: not below a testdata folder.
type goFile struct {
	name    string // relative to the root, with slashes
	pkg     string // its folder
	test    bool
	syntax  *ast.File
	set     *token.FileSet
	lines   int
	imports []string
}

var root = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	return strings.TrimSpace(string(out)), err
})

func rootDir(t *testing.T) string {
	t.Helper()
	dir, err := root()
	if err != nil {
		t.Fatalf("finding the root of the module: %v", err)
	}
	return dir
}

// files lists what is, or would be, in the repository. Outside of a checkout (a release archive) it is every file but
// what make builds.
func files(t *testing.T) []string {
	t.Helper()
	dir := rootDir(t)
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = dir
	if out, err := cmd.Output(); err == nil {
		names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		seen := map[string]bool{}
		names = slices.DeleteFunc(names, func(name string) bool {
			if folder := path.Dir(name); !seen[folder] {
				seen[folder] = true
				os.ReadDir(filepath.Join(dir, filepath.FromSlash(folder))) // so that go test's cache knows of new files
			}
			_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
			return errors.Is(err, fs.ErrNotExist) // deleted, and not yet committed
		})
		return names
	}
	var names []string
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && slices.Contains([]string{".git", "bin", "dist"}, name) {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatalf("walking %s: %v", dir, err)
	}
	return names
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(rootDir(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// goFiles parses every Go file of the product, whatever its build tags say, so that a rule broken for one platform is
// found on every other.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	var all []goFile
	for _, name := range files(t) {
		if path.Ext(name) != ".go" || slices.Contains(strings.Split(name, "/"), "testdata") {
			continue
		}
		src := read(t, name)
		f := goFile{name: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), set: token.NewFileSet(), lines: bytes.Count(src, []byte("\n"))}
		var err error
		if f.syntax, err = parser.ParseFile(f.set, name, src, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.syntax.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			f.imports = append(f.imports, p)
		}
		all = append(all, f)
	}
	return all
}

// packages are the folders that hold Go files of the product.
func packages(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, f := range goFiles(t) {
		all = append(all, f.pkg)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// dependencies is what each package of ours depends on for one platform, directly or through others, without tests.
func dependencies(t *testing.T, goos string) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Deps", "./...")
	cmd.Dir = rootDir(t)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list for %s: %v", goos, err)
	}
	all := map[string][]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Deps       []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("go list for %s: %v", goos, err)
		}
		all[strings.TrimPrefix(p.ImportPath, ours)] = p.Deps
	}
}

// under says whether an import path is p or lies below it.
func under(imported, p string) bool {
	return imported == p || strings.HasPrefix(imported, p+"/")
}
