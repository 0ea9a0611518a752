//go:build unix

package shim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// defaultPath is searched when the environment has no PATH, as execvp does.
const defaultPath = "/bin:/usr/bin"

// lookup finds the program as execvp(3) does: a name with a slash is a path
// relative to the working directory, any other name is searched in PATH, where
// an empty entry is the working directory.
func lookup(o *Options) (string, error) {
	name := o.Argv[0]
	if name == "" {
		return "", &StartError{Name: name, Code: ExitNotFound, Err: errors.New("the command is empty"),
			Hint: "put the server's command after --"}
	}
	if strings.Contains(name, "/") {
		if err := runnable(o.Dir, name); err != nil {
			return "", startError(name, name, err)
		}
		return name, nil
	}
	path, set := lookupEnv(o.Env, "PATH")
	if !set {
		path = defaultPath
	}
	var seen string
	var why error
	for _, dir := range strings.Split(path, ":") {
		if dir == "" {
			dir = "."
		}
		file := dir + "/" + name
		err := runnable(o.Dir, file)
		if err == nil {
			return file, nil
		}
		if why == nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) {
			seen, why = file, err
		}
	}
	if why != nil {
		return "", startError(name, seen, why)
	}
	return "", &StartError{Name: name, Code: ExitNotFound, Err: errors.New("command not found in PATH"),
		Hint: fmt.Sprintf("install it, or give its full path; PATH is %s", short(path))}
}

// short cuts a long text for a message.
func short(s string) string {
	const most = 300
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// lookupEnv returns the last value of key, which is the one a program sees
// that a shell started.
func lookupEnv(env []string, key string) (string, bool) {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], key+"="); ok {
			return v, true
		}
	}
	return "", false
}

// runnable says why the file cannot be executed, before it is tried.
func runnable(dir, path string) error {
	at := inDir(dir, path)
	var st unix.Stat_t
	if err := unix.Stat(at, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return unix.EISDIR
	}
	return unix.Faccessat(unix.AT_FDCWD, at, unix.X_OK, unix.AT_EACCESS)
}

func inDir(dir, path string) string {
	if dir == "" || strings.HasPrefix(path, "/") {
		return path
	}
	return filepath.Join(dir, path)
}

// startError turns what the kernel said about path into what to do.
func startError(name, path string, err error) *StartError {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	e := &StartError{Name: name, Path: path, Code: ExitNotExecutable, Err: err}
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		e.Code = ExitNotFound
		e.Hint = "check the path and the working directory"
	case errors.Is(err, unix.EISDIR):
		e.Hint = "name the program in it"
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		e.Hint = fmt.Sprintf("make it executable (chmod +x %s), or start it with its interpreter", path)
	case errors.Is(err, unix.ENOEXEC):
		e.Hint = "it is no program for this machine; check how it was built or downloaded"
	case errors.Is(err, unix.E2BIG):
		e.Hint = "the arguments and the environment are too long together"
	default:
		e.Hint = "try the command without mcpsnoop in front of it"
	}
	return e
}

// execError is startError for a file that is there and executable: when the
// kernel does not find it all the same, its interpreter is what is missing.
func execError(o *Options, name, path string, err error) *StartError {
	if o.Dir != "" {
		if st, serr := os.Stat(o.Dir); serr != nil || !st.IsDir() {
			e := startError(name, path, err)
			e.Err, e.Hint = fmt.Errorf("working directory %s: %w", o.Dir, e.Err), "check that the folder is there"
			return e
		}
	}
	if !errors.Is(err, unix.ENOENT) || runnable(o.Dir, path) != nil {
		return startError(name, path, err)
	}
	what := "the loader it asks for is missing"
	if i := interpreter(inDir(o.Dir, path)); i != "" {
		what = fmt.Sprintf("the interpreter in its first line, %q, is missing", i)
	}
	return &StartError{Name: name, Path: path, Code: ExitNotExecutable, Err: errors.New(what),
		Hint: "install it, or start the file with the interpreter that is there"}
}

// interpreter reads the first line of a script; "" when it has none.
func interpreter(path string) string {
	head := firstBytes(path)
	if !strings.HasPrefix(head, "#!") {
		return ""
	}
	line, _, _ := strings.Cut(head[2:], "\n")
	return strings.TrimSpace(line)
}

// firstBytes is enough of a file to tell a script from a binary.
func firstBytes(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var b [256]byte
	n, _ := f.Read(b[:]) // an unreadable file is no script
	return string(b[:n])
}

// isText tells a shell script without a first line from a binary that is not
// for this machine: POSIX has a shell run the one and refuse the other.
func isText(path string) bool {
	head := firstBytes(path)
	return head != "" && !strings.Contains(head, "\x00")
}
