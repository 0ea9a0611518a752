package capture

import (
	"strings"
	"testing"
)

func TestLabelFromCommand(t *testing.T) {
	for _, tt := range []struct{ command, want string }{
		{"npx -y @scope/server-filesystem@1.2 /home/me/proj", "server-filesystem"},
		{"npx --package=@scope/tools@2 server", "server"},
		{"npx -p tools server", "server"},
		{"node build/index.js", "index.js"},
		{"node --require ./hook.js /srv/app/server.mjs --port 1", "server.mjs"},
		{"python -m pkg.server", "pkg.server"},
		{"python3.12 -X dev /srv/server.py --flag", "server.py"},
		{"/usr/bin/python3 -u server.py", "server.py"},
		{"uvx --from git+https://example.org/x mcp-server-git==1.0 --repo .", "mcp-server-git"},
		{"uvx mcp-server-fetch@latest", "mcp-server-fetch"},
		{"uv run --directory /srv/app server.py", "server.py"},
		{"uv run -m pkg.server", "pkg.server"},
		{"bunx server@1", "server"},
		{"bun run src/server.ts", "server.ts"},
		{"bun src/server.ts", "server.ts"},
		{"pnpm dlx @scope/server", "server"},
		{"deno run --allow-net https://example.org/mod/server.ts", "server.ts"},
		{"docker run -i --rm -e TOKEN -v /a:/b ghcr.io/org/server:1.2 --flag", "server"},
		{"docker run --mount type=bind,src=/a,dst=/b org/server@sha256:abc", "server"},
		{"env A=1 B=2 npx -y server", "server"},
		{"env -u HOME -i A=b=c /usr/bin/env python3 -m a.b", "a.b"},
		{"npx --package=@scope/tools -- server --flag", "server"},
		{"npx -y -p @scope/tools@latest server", "server"},
		{"npx @scope/server", "server"},
		{"npx server@1.0.0-beta.2", "server"},
		{"uv run --with mcp[cli] --with-requirements r.txt mcp run server.py", "mcp"},
		{"uv --directory /srv/app run server.py", "server.py"},
		{"uv --project /srv/app --quiet run -m pkg.server", "pkg.server"},
		{"uv tool run mcp-server-git", "mcp-server-git"},
		{"uv pip install x", "uv"},
		{"pipx run --spec git+https://example.org/x mcp-server", "mcp-server"},
		{"poetry run python -m pkg.server", "pkg.server"},
		{"docker --context far run --rm -i --name n -p 1:1 -v /a:/b:ro ghcr.io:443/org/server", "server"},
		{"docker container run --rm image:latest", "image"},
		{"docker run -it --init -ePORT=1 --env=A=b --network host image", "image"},
		{"docker exec -i name server", "docker"},
		{"podman run --pull always quay.io/org/server@sha256:0f", "server"},
		{"node --inspect=9229 --max-old-space-size=100 dist/index.js", "index.js"},
		{"python -u -W ignore -m pkg", "pkg"},
		{"py -3 -m pkg.server", "pkg.server"},
		{"python -m node", "node"},
		{"python3 -", "server"},
		{`C:\Windows\System32\cmd.exe /d /c C:\node\npx.cmd -y @scope/server@2`, "server"},
		{`C:\Python312\python.exe C:\srv\server.py`, "server.py"},
		{`node.exe C:\app\build\index.js`, "index.js"},
		{"NPX.CMD server", "server"},
		{"deno run -A --config deno.json npm:@scope/server@1", "server"},
		{`cmd /c npx -y server`, "server"},
		{`C:\tools\server.exe --flag`, "server.exe"},
		{"/opt/my server", "my"},
		{"node", "node"},
		{"npx -y", "npx"},
		{"./server/", "server"},
	} {
		if got := LabelFromCommand(strings.Fields(tt.command)); got != tt.want {
			t.Errorf("LabelFromCommand(%s) = %q; want %q", tt.command, got, tt.want)
		}
	}
	for _, tt := range []struct {
		argv []string
		want string
	}{
		{[]string{"sh", "-c", "/opt/bin/server --flag | tee log"}, "server"},
		{[]string{"bash", "-lc", "exec-server@1 x"}, "exec-server"},
		{[]string{"sh", "-c", ""}, "sh"},
		{[]string{""}, "server"},
		{nil, "server"},
		{[]string{"a b/ü"}, "-"},
		{[]string{strings.Repeat("x", 100)}, strings.Repeat("x", MaxLabel)},
	} {
		got := LabelFromCommand(tt.argv)
		if tt.want == "-" { // any clean label
			tt.want = CleanLabel(got)
		}
		if got != tt.want {
			t.Errorf("LabelFromCommand(%q) = %q; want %q", tt.argv, got, tt.want)
		}
	}
}
