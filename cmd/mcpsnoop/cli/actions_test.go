package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpsnoop/mcpsnoop/internal/tui"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// watched is a hub over the state folder of a test, with n sessions in its list.
func watched(t *testing.T, a *testApp, n int) *hubSource {
	t.Helper()
	src, err := a.newHubSource(&hubOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- src.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	awaitSessions(t, src, n)
	return src
}

// awaitSessions waits until a source lists n sessions that have all been read.
func awaitSessions(t *testing.T, src tui.Source, n int) {
	t.Helper()
	changes, stop := src.Subscribe()
	defer stop()
	deadline := time.After(20 * time.Second)
	for {
		read := 0
		for _, s := range src.Sessions() {
			if s.Summary().Calls.Total > 0 && s.Summary().Calls.Pending == 0 {
				read++
			}
		}
		if read == n {
			return
		}
		select {
		case <-changes:
		case <-time.After(50 * time.Millisecond):
		case <-deadline:
			t.Fatalf("%d sessions; want %d", len(src.Sessions()), n)
		}
	}
}

func sessionOf(t *testing.T, src tui.Source, id string) *store.Session {
	t.Helper()
	for _, s := range src.Sessions() {
		if s.ID == id {
			return s
		}
	}
	t.Fatalf("no session %s", id)
	return nil
}

// What is exported from the UI is what the command writes, and nothing is
// replaced by it.
func TestUIExport(t *testing.T) {
	a := newTestApp(t)
	a.ReadOnly = false
	const id = "files-1-00000000000a"
	a.addLog(t, id, 3)
	src := watched(t, a, 1)
	x := &uiExport{app: a.App}
	e := tui.ExportRequest{Sessions: []*store.Session{sessionOf(t, src, id)}, Format: "jsonl", Where: "id:1", Path: "out.jsonl"}
	got, err := x.Export(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(a.Dir, "out.jsonl"))
	if err != nil || int64(len(text)) != got.Bytes || got.Path != filepath.Join(a.Dir, "out.jsonl") {
		t.Fatalf("%+v, and the file holds %d bytes: %v", got, len(text), err)
	}
	if n := strings.Count(string(text), `"method":"ping"`); n != 1 {
		t.Errorf("%d requests are exported; want the one that fits the filter", n)
	}
	if want := "mcpsnoop export -T jsonl -o out.jsonl --where id:1 " + id; x.Command(e) != want {
		t.Errorf("the command is %s; want %s", x.Command(e), want)
	}
	b := newTestApp(t, "export", "-T", "jsonl", "--where", "id:1", id)
	b.Env = a.Env
	if code := b.Run(t.Context()); code != 0 || b.out.String() != string(text) {
		t.Errorf("the command (exit %d) writes\n%s\nthe UI wrote\n%s", code, b.out.String(), text)
	}
	if _, err := x.Export(t.Context(), e); err == nil || !strings.Contains(err.Error(), "not overwritten") {
		t.Errorf("over a file that is there: %v", err)
	}
	e.Path, e.Where = "wrong.json", "status:zz"
	if _, err := x.Export(t.Context(), e); err == nil {
		t.Error("half a filter is taken")
	}
	if _, err := os.Stat(filepath.Join(a.Dir, "wrong.json")); err == nil {
		t.Error("a failed export leaves a file")
	}
	e.Path, e.Where = "no/such/folder.json", ""
	if _, err := x.Export(t.Context(), e); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("into a folder that is not there: %v", err)
	}
	if a.out.Len() > 0 || a.err.Len() > 0 {
		t.Errorf("written over the screen: %q %q", a.out.String(), a.err.String())
	}
}

// The flags that hide secrets in the view hide them in what is written.
func TestUIExportRedacts(t *testing.T) {
	a := newTestApp(t)
	a.ReadOnly = false
	const id = "files-1-00000000000a"
	path := a.addLog(t, id, 1)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(text), `"result":{}`, `"result":{"said":"hush-7"}`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	src := watched(t, a, 1)
	x := &uiExport{app: a.App, redact: redactOptions{Secrets: true, Keys: &words{list: []string{"k1", "k2"}}, Values: []string{"a b"}, Paths: []string{"$.x"}}}
	e := tui.ExportRequest{Sessions: src.Sessions(), Format: "html", Path: "o.html"}
	want := "mcpsnoop export -T html -o o.html --redact-secrets --redact-key k1,k2 --redact-value 'a b' --redact-path '$.x' " + id
	if got := x.Command(e); got != want {
		t.Errorf("the command is\n%s; want\n%s", got, want)
	}
	x.pipe = true
	if got := x.Command(e); !strings.HasSuffix(got, " -") {
		t.Errorf("of a log on standard input: %s", got)
	}
	x.redact = redactOptions{Values: []string{"hush-."}}
	e.Format = "jsonl"
	if _, err := x.Export(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if text, _ = os.ReadFile(filepath.Join(a.Dir, "o.html")); !strings.Contains(string(text), "said") || strings.Contains(string(text), "hush") {
		t.Errorf("what is hidden in the view is written:\n%s", text)
	}
}

// A session that is deleted is gone from the list at once, lies in the trash
// whole, and comes back.
func TestUITrash(t *testing.T) {
	a := newTestApp(t)
	ids := []string{"files-1-00000000000a", "files-1-00000000000b"}
	for _, id := range ids {
		a.addLog(t, id, 3)
	}
	second := filepath.Join(a.Dir, sessionsDir, ids[0]+".0002.jsonl")
	if err := os.WriteFile(second, []byte(""), 0o600); err != nil {
		t.Fatal(err)
	}
	src := watched(t, a, 2)
	s := sessionOf(t, src, ids[0])
	if err := src.trash.Delete(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if got := src.Sessions(); len(got) != 1 || got[0].ID != ids[1] {
		t.Errorf("%d sessions right after", len(got))
	}
	var in []string
	entries, err := os.ReadDir(filepath.Join(a.Dir, trashDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		in = append(in, e.Name())
	}
	if want := []string{ids[0] + ".0002.jsonl", ids[0] + ".jsonl"}; !slices.Equal(in, want) {
		t.Errorf("in the trash are %q; want %q", in, want)
	}
	want := "mv " + filepath.Join(a.Dir, sessionsDir, ids[0]) + ".* " + filepath.Join(a.Dir, trashDir) + "/"
	if got := src.trash.Command([]*store.Session{s}); got != want {
		t.Errorf("the command is %s; want %s", got, want)
	}
	if err := src.trash.Restore(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	awaitSessions(t, src, 2)
	if s := sessionOf(t, src, ids[0]); s.Summary().Calls.Total != 3 {
		t.Errorf("%d calls came back; want 3", s.Summary().Calls.Total)
	}
	if err := src.trash.Restore(t.Context(), ids[0]); err == nil {
		t.Error("what is there comes back once more")
	}
	if n := len(src.Notices()); n > 0 {
		t.Errorf("notices %q", src.Notices())
	}
}

// Copies from other machines would come again, so they stay.
func TestUITrashLeavesMirrors(t *testing.T) {
	a := newTestApp(t)
	const id = "far-1-00000000000a"
	from := a.addLog(t, id, 1)
	to := filepath.Join(a.Dir, remoteDir, "box", sessionsDir, id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
	src := watched(t, a, 1)
	if err := src.trash.Delete(t.Context(), sessionOf(t, src, id)); err == nil || !strings.Contains(err.Error(), "copy from box") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(to); err != nil {
		t.Error(err)
	}
}
