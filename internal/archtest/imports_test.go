package archtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// floorOf is the number of the floor a package stands on, -1 when no floor lists it.
func floorOf(pkg string) int {
	return slices.IndexFunc(floors, func(floor []string) bool { return slices.Contains(floor, pkg) })
}

// judge says what is wrong with one package importing another of ours, "" when nothing is.
func judge(from, to string) string {
	switch {
	case floorOf(from) < 0:
		return fmt.Sprintf("package %s has no floor: give it one in edges_test.go, with its edges", from)
	case floorOf(to) < 0:
		return fmt.Sprintf("package %s has no floor: give it one in edges_test.go, with its edges", to)
	case floorOf(to) >= floorOf(from):
		return fmt.Sprintf("%s imports %s: imports point down only (floor %d to %d)", from, to, floorOf(from), floorOf(to))
	case from == top && notForTop[to] == "":
		return ""
	case from == top:
		return fmt.Sprintf("%s imports %s: %s", from, to, notForTop[to])
	case edges[from][to] == "":
		return fmt.Sprintf("%s imports %s: no such edge; add it to edges_test.go with its reason, or turn it round", from, to)
	}
	return ""
}

func TestImportsPointDown(t *testing.T) {
	for _, f := range goFiles(t) {
		if f.test {
			continue
		}
		for _, imported := range f.imports {
			if to, ok := strings.CutPrefix(imported, ours); ok {
				if wrong := judge(f.pkg, to); wrong != "" {
					t.Errorf("%s: %s", f.name, wrong)
				}
			}
		}
	}
}

func TestEveryPackageHasAFloor(t *testing.T) {
	for _, pkg := range packages(t) {
		if floorOf(pkg) < 0 {
			t.Errorf("package %s has no floor: give it one in edges_test.go, with its edges", pkg)
		}
	}
}

// The table is written by hand too: an edge that points up, names an unknown package or has no reason is a mistake.
func TestTableIsSound(t *testing.T) {
	for from, tos := range edges {
		for to, reason := range tos {
			if reason == "" {
				t.Errorf("edge %s -> %s has no reason", from, to)
			}
			if wrong := judge(from, to); wrong != "" {
				t.Error(wrong)
			}
		}
	}
	seen := map[string]bool{}
	for _, floor := range floors {
		for _, pkg := range floor {
			if seen[pkg] {
				t.Errorf("package %s stands on two floors", pkg)
			}
			seen[pkg] = true
		}
	}
}

func TestJudge(t *testing.T) {
	for _, tt := range []struct{ from, to, want string }{
		{"store", "internal/capture", ""},
		{"cmd/mcpsnoop/cli", "shim", ""},
		{"internal/wire", "internal/capture", "point down"},
		{"internal/wire", "internal/mcp", "point down"},
		{"sshui", "hub", "point down"},
		{"shim", "store", "no such edge"},
		{"cmd/mcpsnoop/cli", "internal/archtest", "is a test"},
		{"internal/unheard", "internal/wire", "has no floor"},
	} {
		if got := judge(tt.from, tt.to); !strings.Contains(got, tt.want) || (tt.want == "") != (got == "") {
			t.Errorf("judge(%s, %s) = %q; want %q in it", tt.from, tt.to, got, tt.want)
		}
	}
}

func TestNoForbiddenDependency(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		for pkg, deps := range dependencies(t, goos) {
			for _, dep := range deps {
				for _, no := range mayNot {
					if pkg == no.pkg && under(dep, no.dep) {
						t.Errorf("GOOS=%s: %s depends on %s: %s", goos, pkg, dep, no.reason)
					}
				}
				for _, no := range forbidden {
					if under(dep, no.module) && !slices.Contains(broughtAlong[no.module], pkg) {
						t.Errorf("GOOS=%s: %s depends on %s: %s", goos, pkg, dep, no.reason)
					}
				}
			}
		}
	}
}

func TestNoForbiddenImport(t *testing.T) {
	for _, f := range goFiles(t) {
		for _, imported := range f.imports {
			for _, no := range forbidden {
				if under(imported, no.module) {
					t.Errorf("%s imports %s: %s", f.name, imported, no.reason)
				}
			}
			for _, no := range notDirectly {
				if !f.test && f.pkg == no.pkg && under(imported, no.dep) {
					t.Errorf("%s imports %s: %s", f.name, imported, no.reason)
				}
			}
		}
	}
}
