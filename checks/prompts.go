package checks

// learnPrompts takes from a list of prompts which arguments they require.
func (c *ctx) learnPrompts() {
	l := &c.e.listed
	if l.prompts == nil {
		l.prompts = map[string][]string{}
	}
	for _, p := range c.result.get("prompts").each() {
		name := p.get("name").str()
		if len(l.prompts) >= maxTools || len(name) > maxSubjectLen {
			continue
		}
		var need []string
		for _, a := range p.get("arguments").each() {
			if a.get("required").isTrue() && len(need) < 64 {
				need = append(need, clip(a.get("name").str(), maxSubjectLen))
			}
		}
		l.prompts[name] = need
	}
}

// lacksArgument names a required argument that the request does not bring.
func (c *ctx) lacksArgument(prompt string) string {
	args := c.params.get("arguments")
	for _, a := range c.e.listed.prompts[prompt] {
		if !args.get(a).ok() {
			return a
		}
	}
	return ""
}
