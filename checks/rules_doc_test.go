package checks

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const doc = "../docs/RULES.md"

// docs/RULES.md is made from the table. `go test ./checks -update` writes it.
func TestRulesDoc(t *testing.T) {
	want := markdown()
	if *update {
		if err := os.WriteFile(doc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(doc)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Error("docs/RULES.md is not what the table says; run: go test ./checks -update")
	}
}

func markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Rules

Made from the table in package checks by `+"`go test ./checks -update`"+`; edit the table, not this page. %d rules.

`+"`mcpsnoop rules [ID]`"+` prints the same. A rule fires where its condition is seen for certain; it is silent where evidence is missing: the capture began late, frames are missing, a copy was cut or redacted, a fact was not recorded, or the revision is not known and the rule does not hold in all that it could be.

**signal** is what `+"`--fail-on`"+` counts; **level** is must (the specification demands it, or the bytes are not legal), should, or note.

`, len(Rules()))
	for _, s := range all() {
		fmt.Fprintf(&b, "- [%s](#%s)\n", s.title, anchor(s.title))
	}
	for _, s := range all() {
		fmt.Fprintf(&b, "\n## %s\n", s.title)
		for _, r := range s.rules {
			r, _ := Find(r.ID)
			fmt.Fprintf(&b, "\n### %s\n\n%s. %s\n\n*Fix:* %s\n\n`%s` · %s · revisions: %s · transport: %s", r.ID, r.Title, r.Help, r.Fix, r.Signal, r.Level, r.Revisions, r.Transports)
			if r.Spec != "" {
				fmt.Fprintf(&b, " · [specification](%s)", r.Spec)
			}
			fmt.Fprintln(&b)
		}
	}
	fmt.Fprint(&b, "\n## What nobody can decide by watching\n\nRules of the specification that no finding is made of, and why.\n\n| rule | what it says | why it is not judged |\n|---|---|---|\n")
	for _, u := range Undecided() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", u.ID, u.Title, u.Why)
	}
	return b.String()
}

// What cannot be decided is no rule, and says why.
func TestUndecided(t *testing.T) {
	for _, u := range Undecided() {
		if _, ok := Find(u.ID); ok || u.Title == "" || !strings.HasSuffix(u.Why, ".") {
			t.Errorf("%s: it is a rule, or does not say why", u.ID)
		}
	}
}

func anchor(title string) string {
	title = strings.ToLower(title)
	title = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		case r == ' ':
			return '-'
		}
		return -1
	}, title)
	return title
}
