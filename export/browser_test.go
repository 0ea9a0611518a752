package export

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/mcpsnoop/mcpsnoop/internal/wire"
)

var screenshot = flag.String("screenshot", "", "write a picture of the page to this `FILE`")

// browser starts Chromium, or skips the test where there is none. problems
// holds what the page complained about and what it asked the network for.
func browser(t *testing.T) (ctx context.Context, problems *[]string) {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("chromium is missing")
		}
		t.Skip("chromium is missing")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WindowSize(1440, 860), chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("force-color-profile", "srgb"))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	problems = new([]string)
	err = chromedp.Listen(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			*problems = append(*problems, "exception: "+ev.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			*problems = append(*problems, "log: "+ev.Entry.Text)
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(ev.Request.URL, "file://") {
				*problems = append(*problems, "request: "+ev.Request.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	enable := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err1 := cdp.Call(ctx, t, network.Enable, network.EnableParams{})
		_, err2 := cdp.Call(ctx, t, log.Enable, cdp.Empty{})
		_, err3 := cdp.Call(ctx, t, runtime.Enable, cdp.Empty{})
		return errors.Join(err1, err2, err3)
	})
	if err := chromedp.Do(ctx, enable); err != nil {
		t.Fatal(err)
	}
	ctx, stop = context.WithTimeout(ctx, 90*time.Second)
	t.Cleanup(stop)
	return ctx, problems
}

func openPage(t *testing.T, ctx context.Context, in *Input) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	var b bytes.Buffer
	if err := writeHTML(ctx, &b, in); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	if err := chromedp.Do(ctx, chromedp.Navigate(u.String()), chromedp.WaitReady(`html[data-ready="true"]`)); err != nil {
		t.Fatal(err)
	}
}

func eval[T any](t *testing.T, ctx context.Context, js string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", js, err)
	}
	return v
}

// hostile is text that would act on a page, or on a terminal, that trusted it.
const hostile = "A\x1b[2J\x1b]52;c;cm0gLXJm\a\x1b]8;;http://evil.example\a\u009b6nE\u202eF<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">--><!--</script><a href=javascript:document.title='owned'>x</a>{{1}}'\"`&lt;\x00"

// long is a session with a hostile beginning and many ordinary calls.
func long(calls int) []string {
	q := func(s string) string { return string(wire.AppendString(nil, s)) }
	rows := []string{
		`0 meta {"command":["node","server.js"],"cwd":"/srv/app"}`,
		`1 c2s {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":` + q(hostile) + `,"version":"1"}}}`,
		`5 s2c {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":` + q(hostile) + `,"version":"1"}}}`,
		`6 c2s {"jsonrpc":"2.0","id":18446744073709551617,"method":"tools/call","params":{"name":` + q(hostile) + `,"arguments":{` + q(hostile) + `:` + q(hostile) + `}}}`,
		`7 stderr ` + strings.ReplaceAll(hostile, "\x00", ""),
		`9 s2c {"jsonrpc":"2.0","id":18446744073709551617,"error":{"code":-32000,"message":` + q(hostile) + `}}`,
	}
	tools := []string{"search", "read_file", "book_flight", "weather"}
	for i := 1; i <= calls; i++ {
		at := 10 + 20*i
		rows = append(rows, fmt.Sprintf(`%d c2s {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{"query":"what is call %d about?","limit":10,"deep":{"a":[1,2.50,{"b":null,"ok":true}]}}}}`, at, i, tools[i%4], i))
		took := 2 + i*7%15
		if i%9 == 0 {
			rows = append(rows, fmt.Sprintf(`%d s2c {"jsonrpc":"2.0","id":%d,"error":{"code":-32603,"message":"upstream timed out"}}`, at+took, i))
		} else {
			rows = append(rows, fmt.Sprintf(`%d s2c {"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"answer %d: naïve 读取 🎉"}],"structuredContent":{"total":12345678901234567890,"items":["x","y"]}}}`, at+took, i, i))
		}
	}
	return rows
}

func TestPageInABrowser(t *testing.T) {
	ctx, problems := browser(t)
	in := inputOf(t, long(5000))
	start := time.Now()
	openPage(t, ctx, in)
	t.Logf("ready after %v", time.Since(start))
	if got := eval[string](t, ctx, `document.getElementById("facts").textContent`); !strings.Contains(got, "10005 frames") {
		t.Errorf("the page says %q", got)
	}
	if n := eval[int](t, ctx, `document.querySelectorAll(".row").length`); n == 0 || n > 120 {
		t.Errorf("%d rows are drawn; want those in sight", n)
	}
	// The end of the list is one step away.
	took := eval[float64](t, ctx, `(async () => { const l = document.getElementById("list"); const t = performance.now(); for (let k = 1; k <= 50; k++) { l.scrollTop = l.scrollHeight * k / 50; await new Promise((f) => requestAnimationFrame(f)); } return (performance.now() - t) / 50; })()`)
	if took > 200 {
		t.Errorf("a step of scrolling takes %.0f ms", took)
	}
	if got := eval[string](t, ctx, `[...document.querySelectorAll(".row .seq")].at(-1).textContent`); got != "#10006" {
		t.Errorf("the last row is %s", got)
	}
	search(t, ctx)
	inert(t, ctx)
	if *screenshot != "" {
		picture(t, ctx)
	}
	if len(*problems) > 0 {
		t.Errorf("the page complained: %q", *problems)
	}
}

// search finds a call by what it was given, and shows it facing its answer.
func search(t *testing.T, ctx context.Context) {
	t.Helper()
	const js = `(async () => {
		[...document.querySelectorAll("nav button")].find((b) => b.dataset.tab === "calls").click();
		const s = document.getElementById("search");
		s.value = "what is call 4321 about";
		s.dispatchEvent(new Event("input"));
		for (let k = 0; k < 100 && !document.getElementById("progress").textContent.startsWith("1 of"); k++) await new Promise((f) => setTimeout(f, 50));
		document.querySelector(".row").click();
		return document.getElementById("progress").textContent + "|" + document.getElementById("detail").textContent;
	})()`
	got := eval[string](t, ctx, js)
	for _, want := range []string{"1 of 5002 rows|", "tools/call read_file", "what is call 4321 about?", "2.50", "answer 4321: naïve 读取 🎉", "12345678901234567890", "request #", "answer #"} {
		if !strings.Contains(got, want) {
			t.Errorf("the call shows %q; want %q in it", got, want)
		}
	}
	// A branch folds, and the raw text is one click away.
	const fold = `(() => {
		const b = document.querySelector(".fold");
		b.click();
		const folded = b.parentElement.querySelector(".kids").hidden;
		b.click();
		[...document.querySelectorAll(".payload button")].find((b) => b.textContent === "raw").click();
		return folded + "|" + document.querySelector("pre.raw").textContent;
	})()`
	if got := eval[string](t, ctx, fold); !strings.HasPrefix(got, `true|{"jsonrpc":"2.0","id":4321,"method"`) {
		t.Errorf("got %q", got)
	}
}

// inert shows the hostile call: as text, with what is hidden made visible.
func inert(t *testing.T, ctx context.Context) {
	t.Helper()
	const js = `(async () => {
		[...document.querySelectorAll("nav button")].find((b) => b.dataset.tab === "calls").click();
		const s = document.getElementById("search");
		s.value = "evil.example";
		s.dispatchEvent(new Event("input"));
		for (let k = 0; k < 100 && !/^\d+ of/.test(document.getElementById("progress").textContent); k++) await new Promise((f) => setTimeout(f, 50));
		let all = "";
		for (const r of document.querySelectorAll(".row")) { r.click(); all += document.getElementById("detail").textContent; }
		for (const tab of ["timeline", "findings", "sessions", "raw"]) {
			[...document.querySelectorAll("nav button")].find((b) => b.dataset.tab === tab).click();
			s.value = "";
			s.dispatchEvent(new Event("input"));
			await new Promise((f) => setTimeout(f, 200));
			for (const r of [...document.querySelectorAll(".row")].slice(0, 8)) { r.click(); all += document.getElementById("detail").textContent; }
			all += document.getElementById("list").textContent;
		}
		const foreign = document.querySelectorAll("img, a, iframe, object, embed, form, link").length;
		return [document.title, foreign, document.querySelectorAll("body script:not([type]), head script").length, all].join("|");
	})()`
	got := eval[string](t, ctx, js)
	title, rest, _ := strings.Cut(got, "|")
	if strings.Contains(title, "owned") || !strings.HasPrefix(rest, "0|1|") {
		t.Errorf("the text acts on the page: %.200q", got)
	}
	for _, c := range "\x1b\a\u009b\u202e\x00" {
		if strings.ContainsRune(rest, c) {
			t.Errorf("the page shows %U as it is", c)
		}
	}
	for _, want := range []string{`<script>document.title='owned'</script>`, `\u001b`, `\u202e`, "18446744073709551617", "&lt;"} {
		if !strings.Contains(rest, want) {
			t.Errorf("%q is not seen", want)
		}
	}
}

// picture shows a call on the page, for the documentation.
func picture(t *testing.T, ctx context.Context) {
	t.Helper()
	openPage(t, ctx, inputOf(t, harmless(long(400))))
	eval[bool](t, ctx, `(() => { [...document.querySelectorAll("nav button")].find((b) => b.dataset.tab === "timeline").click(); return true; })()`)
	eval[bool](t, ctx, `(async () => { await new Promise((f) => setTimeout(f, 300)); document.querySelectorAll(".row")[6].click(); [...document.querySelectorAll("#detail button")].find((b) => b.textContent === "show the call").click(); await new Promise((f) => setTimeout(f, 300)); return true; })()`)
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*screenshot, png, 0o644); err != nil {
		t.Fatal(err)
	}
}

// harmless leaves the hostile beginning out of a session.
func harmless(rows []string) []string {
	clean := []string{rows[0]}
	for _, r := range rows[1:] {
		if !strings.Contains(r, "evil.example") {
			clean = append(clean, strings.Replace(r, " 读取 🎉", "", 1)) // few machines have the glyphs
		}
	}
	return clean
}
