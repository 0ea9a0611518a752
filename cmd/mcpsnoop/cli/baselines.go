package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcpsnoop/mcpsnoop/checks"
)

// baselinesDir holds the baselines, in the state folder: one file a label.
const baselinesDir = "baselines"

// baselines are the trusted definitions in a folder.
type baselines struct {
	app *App
	dir string
}

// baselinesAt opens a folder; "" is the one in the state folder.
func (a *App) baselinesAt(dir string) (*baselines, error) {
	if dir != "" {
		return &baselines{a, a.abs(dir)}, nil
	}
	state, err := a.stateDir()
	if err != nil {
		return nil, err
	}
	return &baselines{a, filepath.Join(state, baselinesDir)}, nil
}

// path is the file of a label. Labels are free text; names of files are not,
// and on some systems have no case.
func (b *baselines) path(label string) string {
	var s strings.Builder
	plain := label != "" && len(label) <= 100
	for i, r := range label {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_', r == '.' && i > 0:
			s.WriteRune(r)
		default:
			plain = false
			s.WriteByte('_')
		}
		if s.Len() >= 100 {
			break
		}
	}
	if plain {
		return filepath.Join(b.dir, label+".json")
	}
	sum := sha256.Sum256([]byte(label))
	return filepath.Join(b.dir, s.String()+"~"+hex.EncodeToString(sum[:6])+".json")
}

// load reads the baseline of a label; nil when there is none.
func (b *baselines) load(label string) (*checks.Baseline, error) {
	return b.read(b.path(label))
}

// trusted is the baseline of a label in the state folder, for the UI.
func (a *App) trusted(label string) (*checks.Baseline, error) {
	b, err := a.baselinesAt("")
	if err != nil {
		return nil, err
	}
	return b.load(label)
}

func (b *baselines) read(path string) (*checks.Baseline, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // none is no mistake
	}
	if err != nil {
		return nil, fmt.Errorf("read the baseline %s: %w", path, plain(err))
	}
	out, err := checks.ParseBaseline(text)
	if err != nil {
		return nil, withHint(fmt.Errorf("read the baseline %s: %w", path, err), "record it again with: mcpsnoop baseline --accept")
	}
	return out, nil
}

// save writes a baseline, in place of the one before it.
func (b *baselines) save(base *checks.Baseline) error {
	text, err := base.Encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of baselines %s: %w", b.dir, plain(err))
	}
	out, err := b.app.create(b.path(base.Label))
	if err != nil {
		return err
	}
	defer out.discard()
	if _, err := out.Write(text); err != nil {
		return fmt.Errorf("write the baseline of %s: %w", base.Label, plain(err))
	}
	if err := out.commit(); err != nil {
		return fmt.Errorf("write the baseline of %s: %w", base.Label, plain(err))
	}
	return nil
}

// others are the tools of other servers, with the label of one that has them.
// Baselines that cannot be read are left out.
func (b *baselines) others(label string) map[string]string {
	names, err := os.ReadDir(b.dir)
	if err != nil {
		return nil
	}
	out := map[string]string{}
	const most = 500
	for _, n := range names[:min(len(names), most)] {
		if !strings.HasSuffix(n.Name(), ".json") {
			continue
		}
		base, err := b.read(filepath.Join(b.dir, n.Name()))
		if err != nil || base == nil || base.Label == label {
			continue
		}
		for _, t := range base.Tools() {
			if out[t] == "" {
				out[t] = base.Label
			}
		}
	}
	return out
}

// firstSeen is what is said of a listing that was trusted because it is the
// first one.
const firstSeen = "recorded first-seen tool baseline (trusted, not verified)"

// compare gives the engine of a finished session its baseline, and records one
// where there is none. gated says that drift is to be verified.
func (b *baselines) compare(one *loadedSession, engine *checks.Engine, gated bool) error {
	sum := one.Summary()
	d := engine.Definitions()
	base, err := b.load(sum.Label)
	why := ""
	switch {
	case err != nil:
		return err
	case d == nil:
		why = "no whole tools/list was recorded"
	case base == nil && b.app.ReadOnly:
		why = "there is no baseline of " + sum.Label
	case base == nil:
		if err := b.save(checks.NewBaseline(sum.Label, one.ID, sum.Newest, d)); err != nil {
			if gated {
				return err
			}
			break // not asked for: whoever asks is told
		}
		why = firstSeen
		if gated {
			b.app.note("%s; keep %s between runs", firstSeen, b.dir)
		}
	case !base.Comparable(d):
		why = "not comparable: the baseline of " + sum.Label + " is of another server (command or origin)"
	default:
		if list := base.Untracked(d); len(list) > 0 {
			b.app.note("the baseline of %s was made before these were tracked and cannot answer for them: %s; mcpsnoop baseline --accept records them", sum.Label, strings.Join(list, ", "))
		}
	}
	if !gated {
		why = ""
	}
	engine.SetBaseline(base, why, b.others(sum.Label))
	return nil
}

// drifts reports whether the gate of a check is to verify definitions.
func (o *checkOptions) drifts() bool { return slices.Contains(o.Gate.FailOn, checks.Drift) }
