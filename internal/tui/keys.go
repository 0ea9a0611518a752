package tui

import "strings"

// action is something a key, a click or a command does.
type action uint8

const (
	actNone action = iota
	actEnter
	actBack
	actDown
	actUp
	actTop
	actEnd
	actPageDown
	actPageUp
	actLeft
	actRight
	actFilter
	actCommand
	actHelp
	actFollow
	actPause
	actPair
	actNext
	actPrev
	actNextFrame
	actPrevFrame
	actRaw
	actFold
	actUnfold
	actCopy
	actCopyValue
	actExport
	actDelete
	actUndo
	actAuth
	actTools
	actFindings
	actCalls
	actCaps
	actElicits
	actMerge
	actRuns
	actSearchAll
	actCompare
	actReplay
	actEdit
	actMark
	actPane
	actRedraw
	actQuit
)

// place is where a binding holds.
type place uint16

const (
	inSessions place = 1 << iota
	inStream
	inInspector
	inHelp
	inAuth
	inFindings
	inTools
	inCalls
	inCaps
	inElicits
	inCompare
	inSearch
	inReplay
	inEdit
	everywhere = inSessions | inStream | inInspector | inHelp | inAuth | inSheets | inCompare | inSearch | inReplay
	inSheets   = inFindings | inTools | inCalls | inCaps | inElicits
	leads      = inSessions | inStream | inInspector | inSheets | inCompare | inSearch // from where a sheet opens
	inLists    = inSessions | inStream
)

// binding ties keys to an action.
type binding struct {
	act   action
	keys  string // separated by spaces, as the terminal library spells them
	shown Text   // how the keys are written
	label Text   // in the key line; "" when it stands in the help only
	help  Text
	where place
}

// bindings are all keys, in the order in which the key line and the help show them.
var bindings = [...]binding{
	{actEnter, "enter", "enter", "open", "open the session", inSessions},
	{actEnter, "enter", "enter", "inspect", "show the frame", inStream},
	{actEnter, "enter", "enter", "fold", "fold or unfold what is below this line", inInspector},
	{actEnter, "enter", "enter", "frame", "show the frame that the row is about", inSheets &^ inTools},
	{actEnter, "enter", "enter", "calls", "the calls of the tool; of one that was never called its definition", inTools},
	{actEnter, "enter", "enter", "after", "show it in the later session; on a kind of differences: fold it, or unfold it", inCompare},
	{actPair, "x", "x", "before", "show it in the earlier session", inCompare},
	{actNext, "n", "n", "worse", "the next difference for the worse", inCompare},
	{actPrev, "N", "N", "", "the one before", inCompare},
	{actCopy, "y", "y", "copy", "copy the command that compares them; again: the row", inCompare},
	{actEnter, "enter", "enter", "frame", "show the frame in its session; on a session: fold what was found there", inSearch},
	{actFilter, "/", "/", "search", "look for something else", inSearch},
	{actNext, "n", "n", "next", "the next session", inSearch},
	{actPrev, "N", "N", "", "the one before", inSearch},
	{actCopy, "y", "y", "copy", "copy the frame; again: its call, the path, the id", inSearch},
	{actBack, "esc", "esc", "back", "back; in a list: drop the filter first", everywhere},
	{actPair, "x", "x", "pair", "jump between request and answer", inStream | inInspector},
	{actEnter, "ctrl+s", "ctrl-s", "send", "send the call with these params", inEdit},
	{actBack, "esc", "esc", "back", "back; what was changed is dropped after a second time", inEdit},
	{actFilter, "/", "/", "filter", "filter the list", inLists},
	{actFilter, "/", "/", "filter", "filter the rows by words; -word leaves out", inSheets},
	{actFilter, "/", "/", "search", "search in this frame", inInspector},
	{actReplay, "r", "r", "replay", "send the call again, after asking, and see the answer beside the recorded one", inStream | inInspector | inCalls},
	{actReplay, "r", "r", "again", "send it once more", inReplay},
	{actEdit, "E", "E", "edit", "edit the params first: in your EDITOR, else here", inReplay},
	{actEdit, "E", "E", "", "edit the call's params and send it then", inStream | inInspector | inCalls},
	{actTools, "s", "s", "tools", "tools: calls, times, cost, and what is wrong with their schemas", leads &^ inTools},
	{actFindings, "w", "w", "findings", "findings of the session, by rule", leads &^ inFindings},
	{actCalls, "i", "i", "calls", "calls and how their time passed; again: only those that asked the user", leads},
	{actCaps, "c", "c", "caps", "capabilities of both sides, extensions, and what is deprecated", leads &^ inCaps},
	{actElicits, "l", "l", "", "elicitations: what the server asked the user, and what came of it", leads &^ inElicits},
	{actFollow, "f", "f", "follow", "stay at the newest frame, or stop doing so", inStream},
	{actPause, "p", "p", "pause", "hold the list still while frames arrive", inStream},
	{actRuns, "z", "z", "", "fold runs of like notifications, as of progress, into one row each, or unfold them", inStream},
	{actNext, "n", "n", "", "next failed, open or odd frame", inStream},
	{actPrev, "N", "N", "", "the one before", inStream},
	{actNext, "n", "n", "next", "next place that was found", inInspector},
	{actPrev, "N", "N", "", "the one before", inInspector},
	{actNext, "n", "n", "next", "next difference", inReplay},
	{actPrev, "N", "N", "", "the one before", inReplay},
	{actNextFrame, "]", "]", "", "the next frame of the list", inInspector},
	{actPrevFrame, "[", "[", "", "the frame before", inInspector},
	{actRaw, "b", "b", "bytes", "the frame as bytes, and back", inInspector},
	{actFold, "-", "-", "", "fold all", inInspector | inCompare | inSearch},
	{actUnfold, "+ =", "+", "", "unfold all", inInspector | inCompare | inSearch},
	{actCopy, "y", "y", "copy", "copy the path of the log; again: the id, the command that shows it", inSessions},
	{actCopy, "y", "y", "copy", "copy the frame; again: the value, the call as curl or a command, the path, the id", inStream | inInspector},
	{actCopy, "y", "y", "copy", "copy the row; again: as JSON, the command, the path, the id", inSheets},
	{actCopy, "y", "y", "copy", "copy the answer; again: the request, the command", inReplay},
	{actCopyValue, "Y", "Y", "", "copy the value of this line", inInspector},
	{actExport, "e", "e", "export", "export to a file, or copy the command that does; only what the filter lets through", inSessions | inStream | inInspector | inAuth | inSheets},
	{actAuth, "a", "a", "", "authorization: attempts, what was demanded, and why", leads},
	{actEnter, "enter", "enter", "frame", "go to the frame of this line", inAuth},
	{actDelete, "ctrl+d", "ctrl-d", "", "delete the session, or those that are marked, after asking: they go to the trash", inSessions},
	{actUndo, "u", "u", "", "bring back what was deleted last, step by step", inSessions},
	{actMark, "space", "space", "mark", "mark the row", inLists},
	{actSearchAll, "ctrl+s", "ctrl-s", "", "search all sessions, with the words of the filter", leads},
	{actCompare, "d", "d", "compare", "compare two sessions: the marked ones, or the marked one with this one; one that drifted with what was trusted", inSessions},
	{actMerge, "m", "m", "merge", "the marked sessions as one stream, by time; without marks all that are listed", inSessions},
	{actPane, "tab shift+tab", "tab", "pane", "the other pane, where there are two", inStream | inInspector | inSheets},
	{actCommand, ":", ":", "command", "a command line, with completion", everywhere},
	{actHelp, "?", "?", "help", "this help", everywhere},
	{actQuit, "q ctrl+c", "q", "quit", "quit", everywhere},
	{actDown, "j down", "j", "", "down", everywhere},
	{actUp, "k up", "k", "", "up", everywhere},
	{actTop, "g home", "g", "", "to the top", everywhere},
	{actEnd, "G end", "G", "", "to the end", everywhere},
	{actPageDown, "ctrl+f pgdown", "ctrl-f", "", "a screen down", everywhere},
	{actPageUp, "ctrl+b pgup", "ctrl-b", "", "a screen up", everywhere},
	{actLeft, "left h", "left", "", "fold, or to the enclosing line", inInspector | inCompare | inSearch},
	{actRight, "right", "right", "", "unfold", inInspector | inCompare | inSearch},
	{actRedraw, "ctrl+l", "ctrl-l", "", "draw the screen again", everywhere},
}

// actionOf finds what a key does at a place.
func actionOf(key string, at place) action {
	for i := range bindings {
		b := &bindings[i]
		if b.where&at == 0 {
			continue
		}
		for k := range strings.FieldsSeq(b.keys) {
			if k == key {
				return b.act
			}
		}
	}
	return actNone
}

// elsewhere are keys of views that this version answers with the command that
// prints the same.
var elsewhere = map[string]struct{ what, command Text }{
	"d": {"comparing two sessions", "diff"},
	"r": {"sending the calls again", "replay"},
}

// keyLine shows as many keys as fit into width, the most useful first.
func keyLine(d *dress, at place, width int) line {
	var l line
	used := 0
	for i := range bindings {
		b := &bindings[i]
		if b.where&at == 0 || b.label == "" {
			continue
		}
		key := b.shown
		if key == "enter" {
			key = d.g.key
		}
		if n := 1 + d.w.of(key) + 1 + d.w.of(b.label) + 1; used+n <= width {
			l.put(inkText, " ")
			l.put(inkKey, key)
			l.put(inkDim, " "+b.label+" ")
			used += n
		}
	}
	return l
}
