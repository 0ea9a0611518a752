package archtest

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const maxLines = 500

func TestFilesAreShort(t *testing.T) {
	for _, f := range goFiles(t) {
		if !f.test && f.lines > maxLines {
			t.Errorf("%s has %d lines; want at most %d: split it by what it does", f.name, f.lines, maxLines)
		}
	}
}

func TestPackageNamesSayWhatIsInside(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, vague := range []string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "misc"} {
			if f.syntax.Name.Name == vague || path.Base(f.pkg) == vague {
				t.Errorf("%s: a package called %s says nothing about what is in it", f.name, vague)
			}
		}
	}
}

func TestNoInit(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, d := range f.syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && !f.test && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: func init runs in every program that imports the package; use a value or a constructor", f.set.Position(fn.Pos()))
			}
		}
	}
}

var (
	saysImports = regexp.MustCompile(`(?i)\bimports?\b`)
	saysNever   = regexp.MustCompile(`(?i)\b(never|no[rt]? )`)
)

// A package comment tells what the package does, what it may import and what it never touches.
func TestEveryPackageIsExplained(t *testing.T) {
	comments := map[string]string{}
	for _, f := range goFiles(t) {
		if path.Base(f.name) == "doc.go" && f.syntax.Doc != nil {
			comments[f.pkg] = f.syntax.Doc.Text()
		}
	}
	for _, pkg := range packages(t) {
		doc, ok := comments[pkg]
		switch {
		case !ok:
			t.Errorf("%s has no doc.go with a package comment", pkg)
		case !strings.HasPrefix(doc, "Package ") && !strings.HasPrefix(doc, "Command "):
			t.Errorf("%s/doc.go: the comment starts %.30q; want Package or Command and the name", pkg, doc)
		case !saysImports.MatchString(doc):
			t.Errorf("%s/doc.go does not say what the package may import", pkg)
		case !saysNever.MatchString(doc):
			t.Errorf("%s/doc.go does not say what the package never touches", pkg)
		}
	}
}

// With CI=true nothing is skipped: a function that skips a test must have asked for CI first.
func TestSkipsKnowCI(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			if skip, asks := skips(fn.Body); skip.IsValid() && !asks {
				t.Errorf(`%s: skips without a look at the environment's CI; with CI=true a test fails where it cannot run`, f.set.Position(skip))
			}
		}
	}
}

func skips(body *ast.BlockStmt) (skip token.Pos, asksCI bool) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, sel.Sel.Name) {
				break
			}
			if id, ok := sel.X.(*ast.Ident); ok && slices.Contains([]string{"t", "tb", "b", "f"}, id.Name) {
				skip = n.Pos()
			}
		case *ast.BasicLit:
			asksCI = asksCI || n.Value == `"CI"`
		}
		return true
	})
	return skip, asksCI
}
