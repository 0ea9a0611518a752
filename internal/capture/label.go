package capture

import (
	"slices"
	"strings"
)

// launcher is a program that runs another one: what stands between its name
// and the other's is skipped.
type launcher struct {
	names  []string
	verb   string   // that must follow, flags aside: docker run
	values []string // flags that take the next word
	module string   // the flag that names what is run: python -m
	script bool     // a script follows -c, of which the first word counts
	assign bool     // words like K=V stand before the command
}

func launchers() []launcher {
	return []launcher{
		{names: []string{"npx", "bunx", "pnpx"}, values: []string{"-p", "--package", "-c", "--call", "-w", "--workspace"}},
		{names: []string{"uvx"}, values: uvValues()},
		{names: []string{"uv"}, verb: "run", values: uvValues(), module: "-m"},
		{names: []string{"uv"}, verb: "tool run", values: uvValues()},
		{names: []string{"pipx"}, verb: "run", values: []string{"--spec", "--python", "--index-url", "-i", "--pip-args"}},
		{names: []string{"poetry"}, verb: "run", values: []string{"-C", "--directory", "-P", "--project"}},
		{names: []string{"pnpm", "yarn"}, verb: "dlx", values: []string{"--package"}},
		{names: []string{"npm"}, verb: "exec", values: []string{"-p", "--package"}},
		{names: []string{"deno"}, verb: "run", values: []string{"-c", "--config", "--import-map", "--cert", "--location", "-L", "--log-level"}},
		{names: []string{"bun"}, verb: "run", values: []string{"-r", "--preload", "--cwd", "-c", "--config"}},
		{names: []string{"bun"}, values: []string{"-r", "--preload", "--cwd", "-c", "--config"}},
		{names: []string{"node", "nodejs"}, values: []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file", "--title"}},
		{names: []string{"python", "pypy", "py"}, values: []string{"-X", "-W", "-Q"}, module: "-m"},
		{names: []string{"docker", "podman", "nerdctl"}, verb: "run", values: dockerValues()},
		{names: []string{"docker", "podman", "nerdctl"}, verb: "container run", values: dockerValues()},
		{names: []string{"sh", "bash", "zsh", "dash", "ksh", "fish"}, script: true},
		{names: []string{"cmd"}},
		{names: []string{"env"}, values: []string{"-u", "--unset", "-C", "--chdir"}, assign: true},
	}
}

func uvValues() []string {
	return []string{"--from", "--with", "--with-editable", "--with-requirements", "-p", "--python", "--directory", "--project", "--env-file", "--extra", "--group", "--index", "--default-index", "--index-url", "--extra-index-url", "-w"}
}

func dockerValues() []string {
	return []string{
		"-e", "--env", "--env-file", "-v", "--volume", "--mount", "--name", "--network", "--net", "-p", "--publish", "-w", "--workdir",
		"-u", "--user", "--entrypoint", "--platform", "-l", "--label", "--add-host", "-m", "--memory", "--cpus", "--gpus", "--pull",
		"--context", "--config", "-H", "--host", "--log-level", // of docker itself
		"--cap-add", "--cap-drop", "--security-opt", "--tmpfs", "-h", "--hostname", "--ulimit", "--restart", "--log-driver", "--dns", "--device",
	}
}

// LabelFromCommand names the server that a command line starts: the last path
// element of the first word behind launchers and their flags, without a
// version (docs/LOG_FORMAT.md).
func LabelFromCommand(argv []string) string {
	words := argv
	for len(words) > 0 {
		rest, ok := skipLauncher(words)
		if !ok {
			break
		}
		if len(rest) == 0 {
			return CleanLabel(programName(words[0]))
		}
		words = rest
	}
	if len(words) == 0 {
		return CleanLabel("")
	}
	return CleanLabel(withoutVersion(lastElement(words[0])))
}

// skipLauncher gives the words behind a launcher and its flags.
func skipLauncher(words []string) (rest []string, ok bool) {
	name := programName(words[0])
	if strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy") {
		name = strings.TrimRight(name, "0123456789.")
	}
	for _, l := range launchers() {
		if !slices.Contains(l.names, name) {
			continue
		}
		if rest, ok = l.skipVerb(words[1:]); ok {
			return l.skipFlags(name, rest), true
		}
	}
	return nil, false
}

// skipVerb gives the words behind the launcher's verb. Flags may stand before
// it: uv --directory DIR run.
func (l *launcher) skipVerb(words []string) (rest []string, ok bool) {
	for _, verb := range strings.Fields(l.verb) {
		for len(words) > 0 && strings.HasPrefix(words[0], "-") {
			if slices.Contains(l.values, words[0]) && len(words) > 1 {
				words = words[1:]
			}
			words = words[1:]
		}
		if len(words) == 0 || words[0] != verb {
			return nil, false
		}
		words = words[1:]
	}
	return words, true
}

func (l *launcher) skipFlags(name string, words []string) []string {
	for len(words) > 0 {
		w := words[0]
		switch {
		case l.script && isScriptFlag(w):
			return firstWord(words[1:])
		case name == "cmd" && len(w) == 2 && w[0] == '/':
		case l.assign && strings.Contains(w, "=") && !strings.HasPrefix(w, "-"):
		case w == "--":
			return words[1:]
		case !strings.HasPrefix(w, "-") || w == "-":
			return words
		case l.module != "" && w == l.module:
			return module(words[1:])
		case slices.Contains(l.values, w):
			words = words[1:]
		}
		if len(words) > 0 {
			words = words[1:]
		}
	}
	return nil
}

// isScriptFlag reports whether w is the -c of a shell, alone or as in -lc.
func isScriptFlag(w string) bool {
	return len(w) > 1 && w[0] == '-' && w[1] != '-' && w[len(w)-1] == 'c'
}

// firstWord is the program that a shell script begins with; what follows may
// be anything.
func firstWord(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	f := strings.Fields(words[0])
	if len(f) == 0 {
		return nil
	}
	return []string{strings.Trim(f[0], `"'`)}
}

// module protects the name of a module from being taken for a launcher.
func module(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	return words[:1]
}

// programName is the name of a program without its folder and Windows' endings.
func programName(word string) string {
	name := strings.ToLower(lastElement(word))
	for _, end := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

func lastElement(word string) string {
	word = strings.TrimRight(word, `/\`)
	return word[strings.LastIndexAny(word, `/\`)+1:]
}

// withoutVersion cuts off what pins a package or an image: name@1.2,
// name==1.2, name[extra], name:tag.
func withoutVersion(name string) string {
	for _, sep := range []string{"==", ">=", "<=", "~=", "[", "@", ":"} {
		if i := strings.Index(name, sep); i > 0 {
			name = name[:i]
		}
	}
	return name
}
