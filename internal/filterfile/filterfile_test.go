package filterfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	text := "# mine\nslow = dur>2s\n\n  broken  \nbad name! = x\nslow = again\nno =\nodd=tool:=a OR status:err\nwrong = status:zz\n"
	check := func(f string) error {
		if strings.Contains(f, "zz") {
			return errors.New("column 8: no such status")
		}
		return nil
	}
	saved, problems := Parse([]byte(text), check)
	if want := []Saved{{"slow", "dur>2s"}, {"odd", "tool:=a OR status:err"}}; !slices.Equal(saved, want) {
		t.Errorf("got %q; want %q", saved, want)
	}
	want := []string{
		"line 4: want NAME = FILTER", "line 5: names are made of letters, digits and - . _",
		"line 6: slow stands further up already", "line 7: there is no filter", "line 9: column 8: no such status",
	}
	if !slices.Equal(problems, want) {
		t.Errorf("problems\n%s\nwant\n%s", strings.Join(problems, "\n"), strings.Join(want, "\n"))
	}
}

// What somebody wrote by hand is left alone.
func TestSet(t *testing.T) {
	const text = "# mine\nslow=dur>2s\nbroken\n"
	for _, tt := range []struct{ name, filter, want string }{
		{"slow", "dur>5s", "# mine\nslow = dur>5s\nbroken\n"},
		{"new", "status:err", text + "new = status:err\n"},
		{"slow", "", "# mine\nbroken\n"},
	} {
		got, err := Set([]byte(text), tt.name, tt.filter)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s = %s: %q %v; want %q", tt.name, tt.filter, got, err, tt.want)
		}
	}
	for _, tt := range [][2]string{{"", "x"}, {"a b", "x"}, {"a", "x\ny"}, {"a", "\x1b[2J"}, {"gone", ""}, {"a", strings.Repeat("x", MaxFilter+1)}} {
		if got, err := Set([]byte(text), tt[0], tt[1]); err == nil {
			t.Errorf("%q = %q is taken: %q", tt[0], tt[1], got)
		}
	}
	full := []byte{}
	for i := range MaxSaved {
		full = fmt.Appendf(full, "n%d = x\n", i)
	}
	if _, err := Set(full, "more", "x"); err == nil {
		t.Error("there is no bound")
	}
}

func TestBook(t *testing.T) {
	b := &Book{Dir: filepath.Join(t.TempDir(), "state")}
	if saved, recent, problems, err := b.Load(); len(saved)+len(recent)+len(problems) > 0 || err != nil {
		t.Fatalf("of nothing: %v %v %v %v", saved, recent, problems, err)
	}
	if err := errors.Join(b.Save("slow", "dur>2s"), b.Save("bad", "status:err"), b.Save("slow", "dur>3s")); err != nil {
		t.Fatal(err)
	}
	for i := range MaxRecent + 10 {
		if err := b.Remember(fmt.Sprint("id:", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(b.Remember("id:30"), os.WriteFile(b.Path(), append(must(os.ReadFile(b.Path())), "nonsense\n"...), 0o600)); err != nil {
		t.Fatal(err)
	}
	saved, recent, problems, err := b.Load()
	if err != nil || !slices.Equal(saved, []Saved{{"slow", "dur>3s"}, {"bad", "status:err"}}) {
		t.Errorf("saved are %q %v", saved, err)
	}
	if len(recent) != MaxRecent || recent[MaxRecent-1] != "id:30" || recent[MaxRecent-2] != "id:59" || recent[0] != "id:10" {
		t.Errorf("recent are %q", recent)
	}
	if len(problems) != 1 || !strings.Contains(problems[0], "filters, line 4: ") {
		t.Errorf("problems %q", problems)
	}
	if err := os.WriteFile(b.Path(), make([]byte, MaxFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := b.Load(); err == nil {
		t.Error("a file of any length is read")
	}
	if err := b.Save("x", "y"); err == nil {
		t.Error("a file that is too long is replaced")
	}
	entries, _ := os.ReadDir(b.Dir)
	if len(entries) != 2 {
		t.Errorf("%d files are left; want 2", len(entries))
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Whatever stands in the file: it is read, an edit keeps all other lines, and
// what was saved is read again.
func FuzzSet(f *testing.F) {
	f.Add([]byte("# mine\nslow = dur>2s\nbroken\n"), "slow", "tool:x")
	f.Add([]byte("a=b\r\nc = d"), "e", "f = g")
	f.Fuzz(func(t *testing.T, text []byte, name, filter string) {
		before, _ := Parse(text, nil)
		out, err := Set(text, name, filter)
		if err != nil {
			return
		}
		after, _ := Parse(out, nil)
		want := slices.DeleteFunc(slices.Clone(before), func(s Saved) bool { return s.Name == name })
		got := slices.DeleteFunc(slices.Clone(after), func(s Saved) bool { return s.Name == name })
		if !slices.Equal(got, want) {
			t.Errorf("others were %q and are %q", want, got)
		}
		filter = strings.TrimSpace(filter)
		if has := slices.Contains(after, Saved{name, filter}); has != (filter != "") {
			t.Errorf("%q = %q is not read again: %q", name, filter, after)
		}
	})
}
