package checks

import (
	"net/url"
	"regexp"
	"strings"
)

const iconPage = "2026-07-28/basic/index#icons"

// Icons of tools, prompts, resources and implementations.
var iconRules = []Rule{
	{
		ID: "icon-src", Signal: Warn, Level: Should, Revisions: R4Up, on: onIcons | onTool, check: iconSrc,
		Title: "An icon has no address that a client may use",
		Help:  "Clients take http, https and data, and have to refuse the rest.",
		Fix:   "Send src, with https: or data:.",
		Spec:  iconPage,
	},
	{
		ID: "icon-http", Signal: Info, Level: Note, Revisions: R4Up, on: onIcons | onTool, check: iconHTTP,
		Title: "An icon is fetched without encryption",
		Help:  "Whoever is on the way sees it and can change it.",
		Fix:   "Use https: or data:.",
		Spec:  iconPage,
	},
	{
		ID: "icon-sizes", Signal: Warn, Level: Should, Revisions: R4Up, on: onIcons | onTool, check: iconSizes,
		Title: "sizes of an icon is malformed",
		Help:  `It is an array of strings such as "48x48", or "any". Drafts had one string.`,
		Fix:   "Send an array.",
		Spec:  "2026-07-28/schema#icon",
	},
	{
		ID: "icon-theme", Signal: Warn, Level: Should, Revisions: R4Up, on: onIcons | onTool, check: iconTheme,
		Title: "theme of an icon is neither light nor dark",
		Help:  "Clients do not know when to show it.",
		Fix:   "Use light or dark, or leave it out.",
		Spec:  "2026-07-28/schema#icon",
	},
	{
		ID: "icon-origin", Signal: Info, Level: Note, Revisions: R4Up, Transports: OnHTTP, on: onIcons | onTool, check: iconOrigin,
		Title: "An icon comes from another host than the server",
		Help:  "Clients should check that; it also tells a third party who uses the server.",
		Fix:   "Serve icons from the host of the server, or send data:.",
		Spec:  iconPage,
	},
}

// icons gives the icons of what is at hand.
func (c *ctx) icons(yield func(icon val)) {
	for _, i := range c.item.get("icons").each() {
		if i.isObject() && !marked(i) {
			yield(i)
		}
	}
}

func iconSrc(c *ctx) {
	c.icons(func(i val) {
		v := i.get("src")
		s, _, ok := strings.Cut(strings.ToLower(v.str()), ":")
		if !ok || s != "http" && s != "https" && s != "data" {
			c.hit(i, "src is %s", show(v))
		}
	})
}

func iconHTTP(c *ctx) {
	c.icons(func(i val) {
		if v := i.get("src"); strings.HasPrefix(strings.ToLower(v.str()), "http:") {
			c.hit(v, "src is %s", show(v))
		}
	})
}

var iconSize = regexp.MustCompile(`^([0-9]+x[0-9]+|any)$`)

func iconSizes(c *ctx) {
	c.icons(func(i val) {
		v := i.get("sizes")
		if v.ok() && !v.isArray() {
			c.hit(v, "sizes is %s; want an array", show(v))
			return
		}
		for _, s := range v.each() {
			if !iconSize.MatchString(s.str()) {
				c.hit(s, "the size is %s", show(s))
			}
		}
	})
}

func iconTheme(c *ctx) {
	c.icons(func(i val) {
		if v := i.get("theme"); v.ok() && !v.is("light") && !v.is("dark") {
			c.hit(v, "theme is %s", show(v))
		}
	})
}

func iconOrigin(c *ctx) {
	c.icons(func(i val) {
		v := i.get("src")
		u, err := url.Parse(v.str())
		if err == nil && (u.Scheme == "http" || u.Scheme == "https") && c.otherOrigin(u) {
			c.hit(v, "the host is %s", quote(u.Host))
		}
	})
}

// judgeIcons runs the rules on icons for each entry of a list.
func (c *ctx) judgeIcons(list val) {
	for _, v := range list.each() {
		c.judgeIcon(v)
	}
}

func (c *ctx) judgeIcon(v val) {
	if v.get("icons").ok() {
		c.item = v
		c.run(onIcons)
	}
}
