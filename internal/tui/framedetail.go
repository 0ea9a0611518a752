package tui

import (
	"github.com/mcpsnoop/mcpsnoop/internal/wire"
	"github.com/mcpsnoop/mcpsnoop/store"
)

// messageDetail reads what a message is about out of its JSON.
func messageDetail(body []byte, kind store.Kind) string {
	switch kind {
	case store.KindRequest:
		params := wire.Get(body, "params")
		if v := wire.Get(params, "arguments"); v != nil {
			return compact(v)
		}
		return compact(params)
	case store.KindNotification:
		return noteDetail(wire.Get(body, "params"))
	case store.KindError:
		e := wire.Get(body, "error")
		msg := wire.GetString(e, "message")
		if code := wire.Get(e, "code"); code != nil {
			return string(code[:min(len(code), 32)]) + " " + msg
		}
		return msg
	case store.KindResult:
		return resultDetail(wire.Get(body, "result"))
	}
	return compact(body)
}

// noteDetail is what a notification says: progress, a log line, a reason.
func noteDetail(params []byte) string {
	if p := wire.Get(params, "progress"); p != nil {
		s := compact(p)
		if total := wire.Get(params, "total"); total != nil {
			s += " of " + compact(total)
		}
		if msg := wire.GetString(params, "message"); msg != "" {
			s += " " + msg
		}
		return s
	}
	if reason := wire.GetString(params, "reason"); reason != "" {
		return reason
	}
	return compact(params)
}

// resultDetail is the first text of a result, or its JSON.
func resultDetail(result []byte) string {
	content := wire.Get(result, "content")
	items := wire.ElementsOf(content)
	for items.Next() {
		if t := wire.GetString(items.Value, "text"); t != "" {
			return t
		}
	}
	return compact(result)
}

// compact is JSON without white space, as much of it as a row can show.
func compact(v []byte) string {
	v = v[:min(len(v), 4*maxDetail)]
	return string(wire.AppendCompact(nil, v))
}
