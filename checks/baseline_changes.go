package checks

import (
	"maps"
	"slices"
)

// Changes lists how definitions differ from the baseline, in the fields that
// it tracks: what the drift rules find, each difference by itself. There are
// none where the two are not of the same server.
func (b *Baseline) Changes(d *Definitions) []DefinitionChange {
	if !b.Comparable(d) {
		return nil
	}
	var out Diff
	for _, k := range defKinds() {
		before, now := b.items[k.kind], d.Kinds[k.kind]
		if b.Tracks[k.kind] == nil || now == nil {
			continue
		}
		tracked := k
		tracked.fields = b.Tracks[k.kind]
		names := maps.Clone(now)
		maps.Copy(names, before)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			out.definition(&tracked, name, before[name], now[name])
		}
	}
	return out.Definitions
}
