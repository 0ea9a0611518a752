package wire

// Kind is what a message is by its members alone (JSON-RPC 2.0, sections 4 and 5).
type Kind uint8

// The kinds of messages. Other is JSON that is no JSON-RPC message: no object,
// or an object without method, result and error.
const (
	Other        Kind = iota
	Request           // method and id
	Notification      // method, no id
	Result            // result
	Error             // error
)

// String names the kind.
func (k Kind) String() string {
	return [...]string{"other", "request", "notification", "result", "error"}[k]
}

// Message is a JSON-RPC message read in place: every slice aliases the text it
// was read from. A member that is absent is nil. Of equal names the last one
// counts and Twice is set.
type Message struct {
	Kind    Kind
	ID      ID
	Version []byte // value of jsonrpc
	Method  []byte // text of method, escapes resolved
	Params  []byte
	Result  []byte
	Error   []byte
	Twice   bool // one of these members stands twice
}

// ParseMessage reads the members of a JSON-RPC message out of v. It does not
// demand that v is whole: what stands before a break is read, so the kind, id
// and method of a cut frame are known as far as they were kept.
func ParseMessage(v []byte) Message {
	var m Message
	var method []byte
	w := MembersOf(v)
	for w.Next() {
		if len(w.Key) > len("jsonrpc") {
			continue
		}
		switch string(w.Key) {
		case "jsonrpc":
			m.set(&m.Version, w.Value)
		case "id":
			m.Twice = m.Twice || m.ID != ""
			m.ID = ParseID(w.Value)
		case "method":
			m.set(&method, w.Value)
		case "params":
			m.set(&m.Params, w.Value)
		case "result":
			m.set(&m.Result, w.Value)
		case "error":
			m.set(&m.Error, w.Value)
		}
	}
	if w.Err != nil && w.openMember() {
		m.markOpen(w)
	}
	if TypeOf(method) == String {
		m.Method = unescape(method[1 : len(method)-1])
	}
	m.Kind = m.kind()
	return m
}

func (m *Message) set(field *[]byte, v []byte) {
	m.Twice = m.Twice || *field != nil
	*field = v
}

func (m *Message) kind() Kind {
	switch {
	case m.Method != nil && m.ID != "":
		return Request
	case m.Method != nil:
		return Notification
	case m.Error != nil && TypeOf(m.Error) != Null:
		return Error
	case m.Result != nil:
		return Result
	case m.Error != nil:
		return Error
	}
	return Other
}

// openMember reports whether the walk broke inside the value of a member.
func (m *Members) openMember() bool { return m.openKey != nil }

// markOpen notes a member whose value was cut off: that it is there tells the
// kind of the message.
func (m *Message) markOpen(w Members) {
	switch string(w.openKey) {
	case "params":
		m.Params = w.openValue
	case "result":
		m.Result = w.openValue
	case "error":
		m.Error = w.openValue
	}
}
