package tui

import "slices"

// maxNotice is how many lines a notice may take at the bottom of a screen.
const maxNotice = 3

// noticeRoom is the height from which a notice may take more than one line.
const noticeRoom = 14

// footLines are the bottom of the screen: mostly one line, more when what an
// action has to say does not fit into it.
func (m *Model) footLines(w int) []line {
	if len(m.notice.spans) == 0 || m.height < noticeRoom {
		return []line{m.footLine(w)}
	}
	out := m.noticeLines(w - 2)
	if len(out) > maxNotice { // its end is cut as that of any line
		rest := line{}
		for _, l := range out[maxNotice-1:] {
			rest.spans = append(rest.spans, l.spans...)
		}
		out = append(out[:maxNotice-1], rest)
	}
	for i, l := range out {
		out[i] = m.d.w.fit(line{spans: append([]span{{" ", inkText}}, l.spans...)}, w, m.d.g.dots)
	}
	return out
}

// noticeLines breaks a notice into lines. A command that does not fit behind
// what is said begins a line of its own, so that it can be read and taken.
func (m *Model) noticeLines(w int) []line {
	if m.d.w.width(m.notice) <= w {
		return []line{m.notice}
	}
	spans := m.notice.spans
	at := slices.Index(spans, promptSign)
	if at < 2 {
		return m.d.w.wrap(m.notice, w)
	}
	out := m.d.w.wrap(line{spans: spans[:at-1]}, w)
	return append(out, m.d.w.wrap(line{spans: spans[at:]}, w)...)
}

// promptSign stands before a command.
var promptSign = span{"$ ", inkDim}

// wrap breaks a line at spaces into lines of at most n cells. A word that is
// longer is broken where the line ends.
func (w widths) wrap(l line, n int) []line {
	n = max(n, 1)
	var out []line
	at, used := line{}, 0
	for _, s := range l.spans {
		for rest := s.text; rest != ""; {
			word := rest[:wordEnd(rest)]
			rest = rest[len(word):]
			cells := w.of(word)
			for used+cells > n && (used > 0 || cells > n) {
				if used > 0 && cells <= n || word[0] == ' ' {
					out, at, used = append(out, at), line{}, 0
					for word != "" && word[0] == ' ' {
						word = word[1:]
					}
					cells = w.of(word)
					continue
				}
				head, k := w.head(word, n-used)
				if head == "" {
					out, at, used = append(out, at), line{}, 0
					if head, k = w.head(word, n); head == "" {
						break
					}
				}
				at.put(s.ink, head)
				word, used = word[len(head):], used+k
				cells = w.of(word)
			}
			at.put(s.ink, word)
			used += cells
		}
	}
	return append(out, at)
}

// wordEnd is where the first word of t ends: spaces before it belong to it.
func wordEnd(t Text) int {
	i := 0
	for i < len(t) && t[i] == ' ' {
		i++
	}
	for i < len(t) && t[i] != ' ' {
		i++
	}
	return i
}
