package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcpsnoop/mcpsnoop/internal/stream"
	"github.com/mcpsnoop/mcpsnoop/internal/tui"
	"github.com/mcpsnoop/mcpsnoop/sshui"
)

// sshOptions are the flags of the SSH server.
type sshOptions struct {
	Listen    string
	Keys      []string
	Operators []string
	CAs       []string
}

func (o *sshOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.Listen, "ssh-listen", "", "serve viewers over SSH at `ADDR`: :PORT is every interface, for keys decide who gets in")
	f.StringArrayVar(&o.Keys, "authorized-keys", nil, "let in the keys of `FILE` as viewers, in place of your ~/.ssh/authorized_keys; may be repeated")
	f.StringArrayVar(&o.Operators, "operators", nil, "let in the keys of `FILE` as operators, who may replay and delete; may be repeated")
	f.StringArrayVar(&o.CAs, "trusted-user-ca", nil, "let in holders of certificates that the keys of `FILE` have signed, as viewers; may be repeated")
}

// sshFolder holds the host key, in the state folder.
const sshFolder = "ssh"

// sshPart sets up the SSH server and says what others need to know of it.
func (a *App) sshPart(ctx context.Context, o *sshOptions, src *hubSource, h *hubOptions) (part, error) {
	auth, err := a.authorizer(o)
	if err != nil {
		return nil, err
	}
	key, err := sshui.HostKey(ctx, filepath.Join(src.state, sshFolder))
	if err != nil {
		return nil, err
	}
	addr := o.Listen
	if !strings.Contains(addr, ":") {
		addr = ":" + addr
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, withHint(fmt.Errorf("listen on %s: %w", addr, plainNet(err)), "is another program there? give another port with --ssh-listen")
	}
	logs := slog.New(slog.DiscardHandler)
	if !h.TUI || !a.ErrTTY { // lines would go through the screen
		logs = slog.New(slog.NewTextHandler(a.Err, nil))
		fmt.Fprint(a.Err, sshui.Announce(l.Addr(), key.PublicKey(), auth, a.namesAt(l.Addr())))
	}
	sessions := filepath.Join(src.state, sessionsDir)
	command := sshCommandLine(l.Addr(), a.namesAt(l.Addr())[0])
	server, err := sshui.New(sshui.Config{
		HostKey: key, Auth: auth, Source: src, Sessions: sessions, Log: logs, Now: a.Clock.Now,
		UI: func(v sshui.Visitor) tui.Options {
			return tui.Options{
				Now: a.Clock.Now, Zone: zoneOf(v.Env), Theme: h.Theme.value, Command: command, Version: version,
				Baseline: a.trusted,
				Host:     cmp.Or(a.Process.Host, a.namesAt(l.Addr())[0]),
				Actions:  hubActions(v, logs, src.trash, a.newReplayer(src.Body, true)),
				Messages: src.rules,
			}
		},
		Command: func(ctx context.Context, v sshui.Visitor, args []string, s sshui.Streams) int {
			return a.overSSH(src.state, v, args, s).runOverSSH(ctx)
		},
		Logs: func(ctx context.Context, rw io.ReadWriter) error {
			return stream.Serve(ctx, rw, rw, stream.Options{Dir: sessions, Host: a.Process.Host, Version: version, Now: a.Clock.Now})
		},
	})
	if err != nil {
		_ = l.Close() // never served
		return nil, err
	}
	h.Metrics.viewers = server.Viewers
	return func(ctx context.Context) error {
		done := make(chan struct{})
		defer close(done)
		go a.reloadKeys(auth, logs, done)
		return notable("the SSH server", server.Serve(ctx, l))
	}, nil
}

// reloadKeys reads the lists of keys again each time the program is told to.
func (a *App) reloadKeys(auth *sshui.Authorizer, logs *slog.Logger, done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-a.reload:
		}
		if err := auth.Reload(); err != nil {
			logs.Error("the keys were not read again; the old ones stand", "why", err)
			continue
		}
		logs.Info("the keys were read again", "keys", len(auth.Grants()))
		for _, p := range auth.Problems() {
			logs.Warn("not let in", "line", p)
		}
	}
}

// authorizer reads the lists of keys.
func (a *App) authorizer(o *sshOptions) (*sshui.Authorizer, error) {
	files := sshui.KeyFiles{User: a.Process.User}
	if home := a.home(); home != "" {
		files.Own = filepath.Join(home, ".ssh", "authorized_keys")
	}
	for _, set := range []struct {
		to   *[]string
		from []string
	}{{&files.Authorized, o.Keys}, {&files.Operators, o.Operators}, {&files.CAs, o.CAs}} {
		for _, path := range set.from {
			*set.to = append(*set.to, a.abs(path))
		}
	}
	auth, err := sshui.NewAuthorizer(files)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, withHint(err, "put the public keys of those who may watch there, or name a file with --authorized-keys")
	case err != nil:
		return nil, withHint(err, "give the public keys of those who may watch with --authorized-keys")
	}
	return auth, nil
}

// home is the user's home folder, "" when it is not known.
func (a *App) home() string {
	if a.OS == "windows" {
		return a.Getenv("USERPROFILE")
	}
	return a.Getenv("HOME")
}

// namesAt are the names by which clients may reach a listener.
func (a *App) namesAt(addr net.Addr) []string {
	host, _, err := net.SplitHostPort(addr.String())
	ip := net.ParseIP(host)
	switch {
	case err == nil && ip != nil && !ip.IsUnspecified():
		return []string{host}
	case a.Process.Host != "":
		return []string{a.Process.Host}
	}
	return []string{"localhost"}
}

// sshCommandLine is how a viewer runs a command on the hub.
func sshCommandLine(addr net.Addr, name string) string {
	_, port, _ := net.SplitHostPort(addr.String())
	if port == "22" {
		return "ssh " + name
	}
	return "ssh -p " + port + " " + name
}
