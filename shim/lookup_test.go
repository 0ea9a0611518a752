//go:build unix

package shim

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpsnoop/mcpsnoop/internal/capture"
)

// put writes a file and returns its path.
func put(t *testing.T, dir, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestServerThatCannotBeStarted(t *testing.T) {
	dir := t.TempDir()
	plain := put(t, dir, "plain", "#!/bin/sh\n", 0o644)
	put(t, dir, "lost", "#!/no/such/interpreter -x\n", 0o755)
	foreign := put(t, dir, "foreign", "\x7fELF\x02\x01\x01\x00 not for any machine", 0o755)
	for _, tt := range []struct {
		name string
		argv []string
		code int
		says []string
	}{
		{"not in PATH", []string{"no-such-command-anywhere"}, 127, []string{`"no-such-command-anywhere"`, "not found", "PATH"}},
		{"no such path", []string{"./no/such/server"}, 127, []string{"./no/such/server", "no such file"}},
		{"below a file", []string{plain + "/x"}, 127, []string{"not a directory"}},
		{"nothing", nil, 127, []string{"no command"}},
		{"empty", []string{""}, 127, []string{"empty"}},
		{"not executable", []string{plain}, 126, []string{plain, "permission denied", "chmod +x"}},
		{"not executable in PATH", []string{"plain"}, 126, []string{plain, "permission denied"}},
		{"a folder", []string{dir}, 126, []string{"directory"}},
		{"no interpreter", []string{"./lost"}, 126, []string{"/no/such/interpreter -x", "missing"}},
		{"another machine's", []string{foreign}, 126, []string{foreign, "exec format error"}},
		{"too long", []string{"/bin/sh", strings.Repeat("x", 4<<20)}, 126, []string{"too long"}},
	} {
		for _, self := range []string{"", selfPath(t)} {
			t.Run(tt.name, func(t *testing.T) {
				s := begin(t, tt.argv, func(_ *session, o *Options) {
					o.Dir, o.Self, o.Env = dir, self, []string{"PATH=/no/such/folder:" + dir}
				})
				<-s.done // though nobody closed anything
				var se *StartError
				if !errors.As(s.failed, &se) || s.code != tt.code || se.Code != tt.code {
					t.Fatalf("Run returned %d, %v; want %d and a StartError", s.code, s.failed, tt.code)
				}
				for _, want := range tt.says {
					if !strings.Contains(s.failed.Error(), want) {
						t.Errorf("error %q; want %q in it", s.failed, want)
					}
				}
				if strings.Contains(s.failed.Error(), "\n") {
					t.Errorf("error %q has several lines", s.failed)
				}
				if n := len(s.records(`"reason":"could not start"`)); n != 0 {
					t.Errorf("%d frames in the log of a failed start", n)
				}
				if warned := s.warned.String(); warned != "" {
					t.Errorf("warned: %s", warned)
				}
			})
		}
	}
}

func TestCommandIsFoundAsByExecvp(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"first", "second", "work"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, dir, "first/tool", "#!/bin/sh\necho not executable\n", 0o644)
	put(t, dir, "second/tool", "#!/bin/sh\necho second \"$@\"\n", 0o755)
	put(t, dir, "work/tool", "#!/bin/sh\necho work\n", 0o755)
	put(t, dir, "work/plain", "echo plain \"$0\" \"$@\"\n", 0o755) // no first line: the shell's
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	for _, tt := range []struct {
		path string
		argv []string
		want string
	}{
		{first + ":" + second, []string{"tool", "a b", ""}, "second a b \n"},
		{":" + second, []string{"tool"}, "work\n"},
		{second + ":.", []string{"tool"}, "second\n"},
		{"/no/such:.", []string{"tool"}, "work\n"},
		{"", []string{"tool"}, "work\n"},
		{second, []string{"./tool"}, "work\n"},
		{second, []string{"../second/tool", "x"}, "second x\n"},
		{second, []string{"./plain", "x"}, "plain ./plain x\n"},
	} {
		s := begin(t, tt.argv, func(_ *session, o *Options) {
			o.Dir, o.Env = filepath.Join(dir, "work"), []string{"PATH=/usr/bin:/bin", "PATH=" + tt.path}
		})
		s.end(0)
		if got := s.stdout.String(); got != tt.want {
			t.Errorf("%q with PATH=%s: %q; want %q", tt.argv, tt.path, got, tt.want)
		}
	}
	s := begin(t, []string{"sh", "-c", "echo no PATH"}, func(_ *session, o *Options) { o.Env = nil })
	s.end(0)
	if got := s.stdout.String(); got != "no PATH\n" {
		t.Errorf("without PATH: %q", got)
	}
}

func TestMissingFolderIsSaid(t *testing.T) {
	s := begin(t, []string{"/bin/sh", "-c", ":"}, func(_ *session, o *Options) { o.Dir = "/no/such/folder" })
	<-s.done
	if s.failed == nil || !strings.Contains(s.failed.Error(), "/no/such/folder") {
		t.Errorf("Run: %v; want the folder in it", s.failed)
	}
}

// A guardian that cannot be started costs the protection, not the run.
func TestRunsWithoutGuardian(t *testing.T) {
	s := begin(t, role(t, "exit", "3"), func(_ *session, o *Options) { o.Self = "/no/such/program" })
	s.end(3)
	if !strings.Contains(s.warned.String(), "guardian") {
		t.Errorf("warned %q; want the guardian in it", s.warned)
	}
	s.records(`"exit_code":3`)
}

func TestRecorderIsClosedWhenNothingStarts(t *testing.T) {
	s := begin(t, []string{"no-such-command-anywhere"})
	<-s.done
	all := readLog(t, s.log)
	if last := all[len(all)-1]; last.Direction != capture.End || !strings.Contains(string(last.Raw), `"exit_code":127`) {
		t.Errorf("last line %v %s", last.Direction, last.Raw)
	}
}
