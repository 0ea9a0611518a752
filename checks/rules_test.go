package checks

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	update = flag.Bool("update", false, "write generated files anew")
	show1  = flag.String("show", "", "print what the fixtures of this rule find")
)

const fixtures = "../testdata/rules"

// strict are the signals that the look-alikes must not raise: a false one
// fails somebody's build.
var strict = []Signal{Invalid, Warn, Mismatch, Auth}

// fixture is a file testdata/rules/ID.txt: scripts (play_test.go) under lines
// "== fire" and "== silent", each of which may stand several times. Behind
// "also:" are rules that the script breaks too.
type fixture struct {
	fire, silent []script
}

type script struct {
	text string
	also []string
}

func readFixture(t *testing.T, id string) fixture {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(fixtures, id+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	var f fixture
	var at *script
	for _, l := range strings.Split(string(b), "\n") {
		if kind, ok := strings.CutPrefix(l, "== "); ok {
			kind, also, _ := strings.Cut(kind, " also:")
			s := script{also: strings.FieldsFunc(also, func(r rune) bool { return r == ',' || r == ' ' })}
			if strings.TrimSpace(kind) == "fire" {
				f.fire = append(f.fire, s)
				at = &f.fire[len(f.fire)-1]
			} else {
				f.silent = append(f.silent, s)
				at = &f.silent[len(f.silent)-1]
			}
			continue
		}
		if at != nil {
			at.text += l + "\n"
		}
	}
	return f
}

// Each rule has a script that it fires on, with no other finding but those
// that the script names, and one that looks like it and on which it is silent.
func TestRules(t *testing.T) {
	for _, r := range Rules() {
		t.Run(r.ID, func(t *testing.T) {
			f := readFixture(t, r.ID)
			if len(f.fire) == 0 || len(f.silent) == 0 {
				t.Fatalf("%d scripts fire and %d are silent; want one of each", len(f.fire), len(f.silent))
			}
			for i, s := range f.fire {
				p := play(t, Options{Client: "all", WriterGone: strings.Contains(s.text, "# gone")}, s.text)
				if *show1 == r.ID {
					t.Logf("fire %d:\n%s", i+1, p.found())
				}
				if p.hits(r.ID) == 0 {
					t.Errorf("fire %d: %s is silent; found\n%s", i+1, r.ID, p.found())
				}
				p.noOthers(t, append(s.also, r.ID), "fire", i)
			}
			for i, s := range f.silent {
				p := play(t, Options{Client: "all"}, s.text)
				if *show1 == r.ID {
					t.Logf("silent %d:\n%s", i+1, p.found())
				}
				if p.hits(r.ID) > 0 {
					t.Errorf("silent %d: %s fires\n%s", i+1, r.ID, p.found())
				}
				p.noOthers(t, s.also, "silent", i)
			}
		})
	}
}

func (p *player) hits(id string) int {
	n := 0
	for _, f := range p.e.Findings() {
		if f.Rule.ID == id {
			n += f.Count
		}
	}
	return n
}

// noOthers fails for findings of strict signals that were not announced.
func (p *player) noOthers(t *testing.T, also []string, kind string, i int) {
	t.Helper()
	for _, f := range p.e.Findings() {
		if slices.Contains(strict, f.Signal) && !slices.Contains(also, f.Rule.ID) {
			t.Errorf("%s %d: also %s #%d %s", kind, i+1, f.Rule.ID, f.Seq, f.Message)
		}
	}
}

// No fixture stands without its rule.
func TestFixturesHaveRules(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(fixtures, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if _, ok := Find(strings.TrimSuffix(filepath.Base(n), ".txt")); !ok {
			t.Errorf("%s: there is no such rule", n)
		}
	}
}

// The texts of a rule are there and in the form that reports rely on.
func TestRuleTexts(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] {
			t.Errorf("%s stands twice", r.ID)
		}
		seen[r.ID] = true
		switch {
		case r.Title == "" || r.Help == "" || r.Fix == "":
			t.Errorf("%s: title, help and fix must be there", r.ID)
		case strings.HasSuffix(r.Title, "."):
			t.Errorf("%s: a title ends without a full stop", r.ID)
		case !strings.HasSuffix(r.Help, ".") || !strings.HasSuffix(r.Fix, "."):
			t.Errorf("%s: help and fix are sentences", r.ID)
		case r.check == nil || r.on == 0:
			t.Errorf("%s has no function, or no occasion to run it", r.ID)
		case len(r.Title) > 120:
			t.Errorf("%s: the title has %d bytes", r.ID, len(r.Title))
		}
	}
}
