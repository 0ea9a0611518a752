package checks

import (
	"slices"
	"strings"
)

// effect is what a client does about a construct.
type effect string

const (
	drops    effect = "drops the tool"
	refuses  effect = "refuses the request"
	changes  effect = "changes the schema"
	cuts     effect = "cuts the text"
	failing  effect = "may fail on it" // seen with the provider's API, not with this client
	failed   effect = "failed on it in some versions"
	strictly effect = "refuses it in strict mode"
)

// limit is one thing that a client handles badly. All of it was seen in public
// at the date that stands there; clients change.
type limit struct {
	rule   string
	effect effect
	source string
	most   int  // of lints that count; 0 for what the lint has by itself
	output bool // it is about outputSchema, not inputSchema
}

// profile are the known limits of a client.
type profile struct {
	client      string
	letterFirst bool // names of tools begin with a letter or _
	limits      []limit
}

// allClients is the name that turns all lints on, for none in particular.
const allClients = "all"

// Clients lists the clients whose limits are known.
func Clients() []string {
	var out []string
	for i := range profiles {
		out = append(out, profiles[i].client)
	}
	return out
}

func profileOf(client string) *profile {
	for i := range profiles {
		if profiles[i].client == client {
			return &profiles[i]
		}
	}
	return nil
}

func (p *profile) limit(rule string) *limit {
	if p == nil {
		return nil
	}
	for i := range p.limits {
		if p.limits[i].rule == rule {
			return &p.limits[i]
		}
	}
	return nil
}

// says is what the client does about findings of a rule, with the source.
func (p *profile) says(rule string) string {
	if l := p.limit(rule); l != nil {
		return p.client + " " + string(l.effect) + " (" + l.source + ")"
	}
	return ""
}

// limit is the number that a lint compares with.
func (e *Engine) limit(r *Rule, most int) int {
	if l := e.profile.limit(r.ID); l != nil && l.most != 0 {
		return max(l.most, 0)
	}
	return most
}

func (e *Engine) lettersFirst() bool { return e.profile != nil && e.profile.letterFirst }

// ClientReport says what a client does to the tools of a session.
type ClientReport struct {
	Client string
	Tools  int // of the newest listing
	Lost   []LostTool
}

// LostTool is a tool that a client does not offer, or whose definition makes it
// fail with all of them.
type LostTool struct {
	Tool  string
	Rules []string
}

// clientReport collects the tools that findings say are lost.
func (e *Engine) clientReport(tools int, list []*Finding) *ClientReport {
	if e.profile == nil {
		return nil
	}
	out := &ClientReport{Client: e.profile.client, Tools: tools, Lost: []LostTool{}}
	for _, f := range list {
		l := e.profile.limit(f.Rule.ID)
		if f.Tool == "" || f.Client == "" || l == nil || l.effect != drops && l.effect != refuses {
			continue
		}
		i := slices.IndexFunc(out.Lost, func(o LostTool) bool { return o.Tool == f.Tool })
		if i < 0 {
			i = len(out.Lost)
			if i >= maxTools {
				continue
			}
			out.Lost = append(out.Lost, LostTool{Tool: f.Tool})
		}
		if r := &out.Lost[i].Rules; !slices.Contains(*r, f.Rule.ID) {
			*r = append(*r, f.Rule.ID)
		}
	}
	return out
}

// names lists the first few lost tools with their reasons.
func (c *ClientReport) names() string {
	const shown = 20
	var out []string
	for _, l := range c.Lost[:min(len(c.Lost), shown)] {
		out = append(out, l.Tool+" ("+strings.Join(l.Rules, ", ")+")")
	}
	if len(c.Lost) > shown {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}
