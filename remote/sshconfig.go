package remote

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/kevinburke/ssh_config"
)

// Setup is what the user's side of a connection looks like.
type Setup struct {
	Home   string // with .ssh in it
	User   string // the local user
	Env    func(name string) string
	Config string   // file in place of ~/.ssh/config and the system's; "" for those
	Keys   []string // files of keys that were asked for, before all others
	Prompt Prompt   // nil when nobody can be asked
}

// Host is a target with all that ssh_config says of it.
type Host struct {
	Target
	Alias string // as the user named it, for messages

	HostName, RemoteUser string
	RemotePort           int

	IdentityFiles  []string
	explicitKeys   bool // they were named: the default files are not
	Certificates   []string
	IdentitiesOnly bool
	Agent          string // socket; "" for none

	KnownHosts  []string // files; the first is added to
	HashKnown   bool
	KeyAlias    string
	StrictKeys  string // yes, no, ask, accept-new
	Jumps       []Target
	ConnectTime time.Duration
	AliveEvery  time.Duration
	AliveMax    int
}

// config asks the files in their order; the first that answers counts.
type config struct {
	files []*ssh_config.Config
	alias string
}

func (c *config) get(key string) string {
	for _, f := range c.files {
		if v, err := f.Get(c.alias, key); err == nil && v != "" {
			return unquoted(v)
		}
	}
	return ""
}

func (c *config) all(key string) []string {
	var out []string
	for _, f := range c.files {
		list, err := f.GetAll(c.alias, key)
		if err != nil {
			continue
		}
		for _, v := range list {
			out = append(out, unquoted(v))
		}
	}
	return out
}

func unquoted(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}

// systemConfig is the configuration of all users.
const systemConfig = "/etc/ssh/ssh_config"

func (s *Setup) open(alias string) (*config, error) {
	c := &config{alias: alias}
	paths := []string{filepath.Join(s.Home, ".ssh", "config"), systemConfig}
	if s.Config != "" {
		paths = []string{s.Config}
	}
	for i, path := range paths {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) && s.Config == "" || i == 0 && s.Home == "" && s.Config == "" {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		parsed, err := ssh_config.DecodeBytes(text)
		if err != nil {
			if i > 0 {
				continue // the system's may use more than is known here
			}
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		c.files = append(c.files, parsed)
	}
	return c, nil
}

// Resolve finds out what ssh_config says of a target.
func (s *Setup) Resolve(t Target) (*Host, error) {
	h := &Host{Target: t, Alias: t.String()}
	c, err := s.open(t.Host)
	if err != nil {
		return nil, step(StepConfig, h, err, "a configuration that only ssh understands can be followed by hand: mcpsnoop remote --print %s", t)
	}
	h.HostName = first(c.get("HostName"), t.Host)
	h.HostName = expand(h.HostName, map[byte]string{'h': t.Host})
	h.RemoteUser = first(t.User, c.get("User"), s.User)
	if h.RemotePort, err = number(c.get("Port"), 22); err == nil && t.Port != 0 {
		h.RemotePort = t.Port
	}
	if err == nil {
		err = s.resolveKeys(h, c)
	}
	if err == nil {
		err = s.resolveJumps(h, c)
	}
	if err != nil {
		return nil, step(StepConfig, h, err, "mend it in ssh_config")
	}
	h.KeyAlias = c.get("HostKeyAlias")
	h.StrictKeys = strings.ToLower(first(c.get("StrictHostKeyChecking"), "ask"))
	h.HashKnown = strings.EqualFold(c.get("HashKnownHosts"), "yes")
	known := first(c.get("UserKnownHostsFile"), "~/.ssh/known_hosts ~/.ssh/known_hosts2")
	known += " " + first(c.get("GlobalKnownHostsFile"), "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2")
	for _, f := range fields(known) {
		if f != "none" {
			h.KnownHosts = append(h.KnownHosts, s.path(h, f))
		}
	}
	return h, s.resolveTimes(h, c)
}

func (s *Setup) resolveTimes(h *Host, c *config) error {
	connect, err := number(c.get("ConnectTimeout"), 10)
	if err != nil {
		connect = 10
	}
	every, err := number(c.get("ServerAliveInterval"), 5)
	if err != nil || every == 0 {
		every = 5
	}
	if h.AliveMax, err = number(c.get("ServerAliveCountMax"), 3); err != nil || h.AliveMax == 0 {
		h.AliveMax = 3
	}
	h.ConnectTime, h.AliveEvery = time.Duration(connect)*time.Second, time.Duration(every)*time.Second
	return nil
}

func (s *Setup) resolveKeys(h *Host, c *config) error {
	files := append(append([]string{}, s.Keys...), c.all("IdentityFile")...)
	h.explicitKeys = len(files) > 0
	if !h.explicitKeys {
		files = []string{"~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa"}
	}
	for _, f := range files {
		if f != "none" {
			h.IdentityFiles = append(h.IdentityFiles, s.path(h, f))
		}
	}
	for _, f := range c.all("CertificateFile") {
		h.Certificates = append(h.Certificates, s.path(h, f))
	}
	h.IdentitiesOnly = strings.EqualFold(c.get("IdentitiesOnly"), "yes")
	switch agent := c.get("IdentityAgent"); {
	case agent == "" || agent == "SSH_AUTH_SOCK":
		h.Agent = s.env("SSH_AUTH_SOCK")
	case agent == "none":
	case strings.HasPrefix(agent, "$"):
		h.Agent = s.env(strings.Trim(agent[1:], "{}"))
	default:
		h.Agent = s.path(h, agent)
	}
	return nil
}

func (s *Setup) resolveJumps(h *Host, c *config) error {
	jump := c.get("ProxyJump")
	if jump == "" || strings.EqualFold(jump, "none") {
		if cmd := c.get("ProxyCommand"); jump == "" && cmd != "" && !strings.EqualFold(cmd, "none") {
			return step(StepConfig, h, errors.New("ProxyCommand is not followed; ProxyJump is"), "say it with ProxyJump, or use ssh itself: mcpsnoop remote --print gives the command")
		}
		return nil
	}
	for _, j := range strings.Split(jump, ",") {
		t, err := ParseTarget(strings.TrimSpace(j))
		if err != nil {
			return fmt.Errorf("ProxyJump %s: %w", jump, err)
		}
		h.Jumps = append(h.Jumps, t)
	}
	return nil
}

func (s *Setup) env(name string) string {
	if s.Env == nil {
		return ""
	}
	return s.Env(name)
}

// path completes a path of ssh_config.
func (s *Setup) path(h *Host, p string) string {
	p = expand(p, map[byte]string{
		'd': s.Home, 'h': h.HostName, 'n': h.Host, 'p': strconv.Itoa(h.RemotePort), 'r': h.RemoteUser, 'u': s.User, 'k': first(h.KeyAlias, h.Host),
	})
	for i := strings.Index(p, "${"); i >= 0; i = strings.Index(p, "${") {
		end := strings.IndexByte(p[i:], '}')
		if end < 0 {
			break
		}
		p = p[:i] + s.env(p[i+2:i+end]) + p[i+end+1:]
	}
	if p == "~" || strings.HasPrefix(p, "~/") {
		p = filepath.Join(s.Home, p[1:])
	}
	if !filepath.IsAbs(p) && s.Home != "" {
		p = filepath.Join(s.Home, ".ssh", p)
	}
	return p
}

// expand replaces %x, and %% by one %. Others stay as they are.
func expand(s string, by map[byte]string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+1 < len(s) {
			if s[i+1] == '%' {
				b.WriteByte('%')
				i++
				continue
			}
			if v, ok := by[s[i+1]]; ok {
				b.WriteString(v)
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// fields splits at blanks outside of quotation marks.
func fields(s string) []string {
	quoted := false
	list := strings.FieldsFunc(s, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return !quoted && (r == ' ' || r == '\t')
	})
	for i, f := range list {
		list[i] = strings.Trim(f, `"`)
	}
	return list
}

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

func number(s string, def int) (int, error) {
	if s == "" || strings.EqualFold(s, "none") {
		return def, nil
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return int(n), nil
}
