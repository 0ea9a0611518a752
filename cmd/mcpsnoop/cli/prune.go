package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpsnoop/mcpsnoop/internal/trash"
)

type pruneOptions struct {
	OlderThan   age
	Keep        int
	MaxSize     size
	DryRun, Yes bool
}

func newPruneCmd(app *App) *cobra.Command {
	o := &pruneOptions{}
	cmd := &cobra.Command{
		Use:   "prune --older-than AGE [flags]",
		Short: "Delete old sessions",
		Long: `Delete saved sessions of this machine that are older than AGE, and with
--max-size the oldest of the rest. What the user interface has moved to the
trash goes too when it is older than AGE. Sessions that run, baselines and
mirrors of other machines stay. It asks first; without a terminal, --yes has to
be given.`,
		Example: `  mcpsnoop prune --older-than 30d --keep 20 --dry-run`,
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runPrune(cmd.Context(), app, o, cmd.Flags().Changed("older-than"))
		},
	}
	f := cmd.Flags()
	f.Var(&o.OlderThan, "older-than", "delete what was last written longer ago than this")
	f.IntVar(&o.Keep, "keep", 0, "keep the newest `N` sessions, whatever their age")
	f.Var(&o.MaxSize, "max-size", "delete the oldest until no more than this is left")
	f.BoolVar(&o.DryRun, "dry-run", false, "only say what would be deleted")
	f.BoolVar(&o.Yes, "yes", false, "do not ask")
	return cmd
}

func runPrune(ctx context.Context, app *App, o *pruneOptions, aged bool) error {
	switch {
	case !aged && o.MaxSize == 0:
		return usagef("say what may go: --older-than 30d, or --max-size 1GiB")
	case o.Keep < 0:
		return usagef("--keep %d: want no negative number", o.Keep)
	}
	state, err := app.stateDir()
	if err != nil {
		return err
	}
	logs, err := app.listLogs(filepath.Join(state, sessionsDir), "")
	if err != nil {
		return err
	}
	sortNewestFirst(logs)
	doomed := o.choose(logs, app.Clock.Now(), aged)
	trashed, err := app.listLogs(filepath.Join(state, trashDir), "")
	if err != nil {
		return err
	}
	doomed = append(doomed, o.outOfTrash(trashed, app.Clock.Now(), aged)...)
	if len(doomed) == 0 {
		fmt.Fprintln(app.Out, "nothing to delete")
		return nil
	}
	total := int64(0)
	for _, l := range doomed {
		total += l.Size
		if o.DryRun {
			fmt.Fprintf(app.Out, "would delete %s  %s old  %s%s\n", safe(l.ID), ageText(app.Clock.Now().Sub(l.ModTime)), roundSize(l.Size), l.where())
		}
	}
	sum := fmt.Sprintf("%s, %s", sessionsText(len(doomed)), roundSize(total))
	if o.DryRun {
		fmt.Fprintf(app.Out, "would delete %s\n", sum)
		return nil
	}
	if err := app.confirm(ctx, o, sum); err != nil {
		return err
	}
	return app.deleteLogs(doomed)
}

// choose picks what goes, oldest first. logs are the newest first.
func (o *pruneOptions) choose(logs []savedLog, now time.Time, aged bool) []savedLog {
	var out []savedLog
	left := int64(0)
	for _, l := range logs {
		left += l.Size
	}
	for i := len(logs) - 1; i >= o.Keep; i-- {
		l := logs[i]
		old := aged && now.Sub(l.ModTime) > time.Duration(o.OlderThan)
		big := o.MaxSize > 0 && left > int64(o.MaxSize)
		if !old && !big || runs(l) {
			continue
		}
		left -= l.Size
		out = append(out, l)
	}
	return out
}

// outOfTrash picks what goes of the sessions that were deleted before: the old
// ones, oldest first. They count for no other limit.
func (o *pruneOptions) outOfTrash(logs []savedLog, now time.Time, aged bool) []savedLog {
	var out []savedLog
	for _, l := range logs {
		if aged && now.Sub(l.ModTime) > time.Duration(o.OlderThan) {
			l.Origin = trashDir
			out = append([]savedLog{l}, out...)
		}
	}
	return out
}

// where says that a log lies in the trash.
func (l *savedLog) where() string {
	if l.Origin == trashDir {
		return "  in the trash"
	}
	return ""
}

// runs reports whether somebody writes one of the files of a log.
func runs(l savedLog) bool { return trash.Runs(l.Log) }

func (a *App) confirm(ctx context.Context, o *pruneOptions, sum string) error {
	if o.Yes {
		return nil
	}
	if !a.InTTY || a.Ask == nil {
		return usagef("delete %s: nobody can be asked here; give --yes", sum)
	}
	answer, err := a.Ask(ctx, "delete "+sum+"? [y/N] ", false)
	if err != nil {
		return err
	}
	if s := strings.ToLower(strings.TrimSpace(answer)); s != "y" && s != "yes" {
		return errors.New("nothing was deleted")
	}
	return nil
}

func (a *App) deleteLogs(doomed []savedLog) error {
	n, total := 0, int64(0)
	for _, l := range doomed {
		if runs(l) { // it began since
			continue
		}
		for _, s := range l.Segments {
			if err := os.Remove(s.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return withHint(fmt.Errorf("delete %s: %w", s.Path, plain(err)), "%d sessions were deleted before it", n)
			}
		}
		n++
		total += l.Size
	}
	fmt.Fprintf(a.Out, "deleted %s, %s\n", sessionsText(n), roundSize(total))
	return nil
}

func sessionsText(n int) string {
	if n == 1 {
		return "1 session"
	}
	return fmt.Sprintf("%d sessions", n)
}
