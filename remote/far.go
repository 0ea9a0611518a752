package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/pkg/sftp"
	gossh "golang.org/x/crypto/ssh"

	"github.com/mcpsnoop/mcpsnoop/internal/stream"
)

// Far is the logs of a far end. One goroutine uses it; closing the connection
// below ends what it waits for.
type Far interface {
	// Kind says in a few words what answers.
	Kind() string
	// Ahead is how far the clock of the far end is ahead of the one here;
	// known says whether it told.
	Ahead() (d time.Duration, known bool)
	// List gives all files, newest first.
	List(ctx context.Context) ([]stream.File, error)
	// Wait gives the files that have changed since the last List or Wait,
	// once there are some.
	Wait(ctx context.Context) ([]stream.File, error)
	// Copy gives the bytes of a file from at on, in pieces that live until
	// give returns. check is the digest of what stands before at. Its error
	// is stream.ErrMoved when that is not so any more, and stream.ErrGone
	// when there is no such file.
	Copy(ctx context.Context, name string, at, size int64, check string, give func([]byte) error) (int64, error)
	// Close ends it, but not the connection.
	Close() error
}

// Where says where the logs of a far end are, where it is not a hub that says
// so itself. The zero value means the usual places.
type Where struct {
	SessionsDir  string // the folder of logs itself
	Home         string // the home folder whose usual place is meant
	SnoopHome    string // MCPSNOOP_HOME there
	XDGStateHome string // XDG_STATE_HOME there
}

// command is how the program is started at the far end.
func (w Where) command() string {
	var env []string
	for _, e := range [...]struct{ name, value string }{{"HOME", w.Home}, {"MCPSNOOP_HOME", w.SnoopHome}, {"XDG_STATE_HOME", w.XDGStateHome}} {
		if e.value != "" {
			env = append(env, e.name+"="+ShellQuote(e.value))
		}
	}
	cmd := "mcpsnoop stream"
	if w.SessionsDir != "" {
		cmd += " --sessions-dir " + ShellQuote(w.SessionsDir)
	}
	if len(env) > 0 {
		cmd = "env " + strings.Join(env, " ") + " " + cmd
	}
	return cmd
}

// folders are where the logs may be, in order.
func (w Where) folders(home string) []string {
	switch {
	case w.SessionsDir != "":
		return []string{w.SessionsDir}
	case w.SnoopHome != "":
		return []string{path.Join(w.SnoopHome, "sessions")}
	case w.XDGStateHome != "":
		return []string{path.Join(w.XDGStateHome, "mcpsnoop", "sessions")}
	case w.Home != "":
		home = w.Home
	}
	return []string{
		path.Join(home, ".local/state/mcpsnoop/sessions"),
		path.Join(home, "Library/Application Support/mcpsnoop/sessions"),
		path.Join(home, "AppData/Local/mcpsnoop/sessions"),
	}
}

// isHub reports whether a server says that it is one of ours.
func isHub(c *Conn) bool { return strings.HasPrefix(string(c.ServerVersion()), "SSH-2.0-mcpsnoop") }

// Open finds what the far end offers: a hub's subsystem, the program, or SFTP.
func Open(ctx context.Context, c *Conn, w Where) (Far, error) {
	var tried []string
	for _, way := range []struct {
		name string
		open func(context.Context, *Conn, Where) (Far, error)
		skip bool
	}{
		{"a hub (subsystem mcpsnoop-stream)", openSubsystem, w != Where{} && !isHub(c)},
		{"the program (mcpsnoop stream)", openProgram, isHub(c)},
		{"the program outside of PATH", openProgramElsewhere, isHub(c)},
		{"SFTP", openSFTP, false},
	} {
		if way.skip {
			continue
		}
		far, err := way.open(ctx, c, w)
		if err == nil {
			return far, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		tried = append(tried, fmt.Sprintf("%s: %v", way.name, err))
	}
	return nil, step(StepFarEnd, c.Host, fmt.Errorf("it offers no logs; tried %s", strings.Join(tried, "; ")),
		"start a hub there, install mcpsnoop there, or say where the logs are: --sessions-dir PATH")
}

// helloTime is how long a far end may take to begin to speak.
const helloTime = 20 * time.Second

// streamFar speaks the line protocol.
type streamFar struct {
	*stream.Client
	kind    string
	session *gossh.Session
	ahead   time.Duration
}

func openSubsystem(ctx context.Context, c *Conn, _ Where) (Far, error) {
	return openStream(ctx, c, "hub", func(s *gossh.Session) error { return s.RequestSubsystem("mcpsnoop-stream") })
}

func openProgram(ctx context.Context, c *Conn, w Where) (Far, error) {
	return openStream(ctx, c, "mcpsnoop stream", func(s *gossh.Session) error { return s.Start(w.command()) })
}

// openProgramElsewhere looks where a login shell would, and others do not.
func openProgramElsewhere(ctx context.Context, c *Conn, w Where) (Far, error) {
	script := `PATH="$PATH:$HOME/.local/bin:$HOME/go/bin:$HOME/bin:/usr/local/bin:/opt/homebrew/bin"; exec ` + w.command()
	return openStream(ctx, c, "mcpsnoop stream", func(s *gossh.Session) error { return s.Start("sh -c " + ShellQuote(script)) })
}

func openStream(ctx context.Context, c *Conn, kind string, start func(*gossh.Session) error) (_ Far, err error) {
	s, err := c.NewSession()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = s.Close() // of no use
		}
	}()
	in, err := s.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.StdoutPipe()
	if err != nil {
		return nil, err
	}
	said := &lastWords{}
	s.Stderr = said
	if err := start(s); err != nil {
		return nil, err
	}
	slow := time.AfterFunc(helloTime, func() { _ = s.Close() })
	defer slow.Stop()
	defer context.AfterFunc(ctx, func() { _ = s.Close() })()
	sent := time.Now()
	client, err := stream.NewClient(out, in)
	if err != nil {
		_ = s.Close() // so that what it said is whole
		_ = s.Wait()  // its error is known
		if words := said.String(); words != "" {
			return nil, errors.New(words)
		}
		return nil, err
	}
	now := time.Now()
	far := &streamFar{Client: client, kind: kind, session: s}
	far.ahead = time.Unix(0, client.Hello().Time).Sub(sent.Add(now.Sub(sent) / 2))
	return far, nil
}

// lastWords keeps the begin of what a program says on its standard error.
type lastWords struct{ b []byte }

func (l *lastWords) Write(p []byte) (int, error) {
	const most = 300
	l.b = append(l.b, p[:min(len(p), most-min(len(l.b), most))]...)
	return len(p), nil
}

func (l *lastWords) String() string {
	return strings.Join(strings.Fields(plainText(string(l.b))), " ")
}

func (f *streamFar) Kind() string                 { return f.kind }
func (f *streamFar) Ahead() (time.Duration, bool) { return f.ahead, true }

func (f *streamFar) List(context.Context) ([]stream.File, error) { return f.Client.List() }

func (f *streamFar) Wait(context.Context) ([]stream.File, error) {
	files, _, err := f.Client.Wait()
	return files, err
}

func (f *streamFar) Close() error {
	err := f.session.Close()
	f.Client.Close()
	if errors.Is(err, io.EOF) { // the far end was first
		return nil
	}
	return err
}

// sftpFar reads a folder over SFTP.
type sftpFar struct {
	c    *sftp.Client
	dir  string
	told map[string]stream.File
}

// sftpTick is the shortest time between two looks at a folder.
const sftpTick = 500 * time.Millisecond

func openSFTP(_ context.Context, c *Conn, w Where) (Far, error) {
	client, err := sftp.NewClient(c.Client, sftp.UseConcurrentReads(true))
	if err != nil {
		return nil, err
	}
	home, err := client.RealPath(".")
	if err != nil {
		home = "."
	}
	dirs := w.folders(home)
	if isHub(c) && w == (Where{}) {
		dirs = []string{"/"}
	}
	for _, dir := range dirs {
		info, serr := client.Stat(dir)
		if serr == nil && info.IsDir() {
			return &sftpFar{c: client, dir: dir, told: map[string]stream.File{}}, nil
		}
		if err = serr; serr == nil {
			err = fmt.Errorf("%s is no folder", dir)
		}
	}
	_ = client.Close() // of no use
	return nil, fmt.Errorf("no folder %s: %w", strings.Join(dirs, ", "), err)
}

func (f *sftpFar) Kind() string                 { return "SFTP of " + f.dir }
func (f *sftpFar) Ahead() (time.Duration, bool) { return 0, false }
func (f *sftpFar) Close() error                 { return f.c.Close() }

func (f *sftpFar) List(context.Context) ([]stream.File, error) {
	clear(f.told)
	return f.changes()
}

func (f *sftpFar) changes() ([]stream.File, error) {
	infos, err := f.c.ReadDir(f.dir)
	if err != nil {
		return nil, err
	}
	var out []stream.File
	for _, info := range infos {
		if !info.Mode().IsRegular() || !stream.ValidName(info.Name()) {
			continue
		}
		file := stream.File{Name: info.Name(), Size: info.Size(), MTime: info.ModTime().UnixNano()}
		if f.told[file.Name] != file {
			f.told[file.Name] = file
			out = append(out, file)
		}
	}
	newestFirst(out)
	return out, nil
}

func (f *sftpFar) Wait(ctx context.Context) ([]stream.File, error) {
	for {
		start := time.Now()
		files, err := f.changes()
		if err != nil || len(files) > 0 {
			return files, err
		}
		if !sleep(ctx, max(sftpTick, 10*time.Since(start))) {
			return nil, ctx.Err()
		}
	}
}

func (f *sftpFar) Copy(ctx context.Context, name string, at, _ int64, check string, give func([]byte) error) (int64, error) {
	file, err := f.c.Open(path.Join(f.dir, name))
	if errors.Is(err, errNotExist) {
		return 0, stream.ErrGone
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	if info.Size() < at {
		return 0, stream.ErrMoved
	}
	if check != "" {
		have, err := stream.Digest(file, at)
		if err != nil {
			return 0, err
		}
		if have != check {
			return 0, stream.ErrMoved
		}
	}
	if _, err := file.Seek(at, io.SeekStart); err != nil {
		return 0, err
	}
	return file.WriteTo(giver{ctx, give})
}

// giver is a writer that gives what is written.
type giver struct {
	ctx  context.Context
	give func([]byte) error
}

func (g giver) Write(p []byte) (int, error) {
	if err := g.ctx.Err(); err != nil {
		return 0, err
	}
	if err := g.give(p); err != nil {
		return 0, err
	}
	return len(p), nil
}
