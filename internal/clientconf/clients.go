package clientconf

import (
	"path/filepath"
	"sort"
)

// Client is a program that has MCP servers in a configuration file.
type Client struct {
	Name string
	// Paths are where its file may be, below the home folder; on Windows and
	// macOS below the platform's own folder for settings where App is set.
	Paths []string
	App   bool
}

// clients are the ones whose files are known (their own documentation,
// November 2026).
var clients = map[string]Client{
	"claude-code":    {Paths: []string{".claude.json"}},
	"claude-desktop": {Paths: []string{"Claude/claude_desktop_config.json", "claude/claude_desktop_config.json"}, App: true},
	"cursor":         {Paths: []string{".cursor/mcp.json"}},
	"vscode":         {Paths: []string{"Code/User/mcp.json"}, App: true},
	"codex":          {Paths: []string{".codex/config.toml"}},
	"gemini-cli":     {Paths: []string{".gemini/settings.json"}},
	"windsurf":       {Paths: []string{".codeium/windsurf/mcp_config.json"}},
}

// projectFiles are the files of a project, below its folder.
var projectFiles = []string{".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"}

// ClientNames lists the known clients.
func ClientNames() []string {
	var out []string
	for name := range clients {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// Files lists where the file of a client may be. home is the user's folder,
// settings the platform's folder for settings.
func Files(name, home, settings string) []string {
	c, ok := clients[name]
	if !ok {
		return nil
	}
	base := home
	if c.App {
		base = settings
	}
	var out []string
	for _, p := range c.Paths {
		out = append(out, filepath.Join(base, filepath.FromSlash(p)))
	}
	return out
}

// ProjectFiles lists the files in which a project names its servers.
func ProjectFiles(dir string) []string {
	var out []string
	for _, p := range projectFiles {
		out = append(out, filepath.Join(dir, filepath.FromSlash(p)))
	}
	return out
}
