package checks

// Undecidable is a rule of the specification that no finding is made of, and
// why.
type Undecidable struct {
	ID, Title, Why string
}

// Undecided lists what a passive observer cannot decide. The caller does not
// change it.
func Undecided() []Undecidable { return undecidable }

const browser = "This goes from the user's browser to the authorization server; it is in no log."

var undecidable = []Undecidable{
	{"auth-pkce-missing", "The authorization request has no code_challenge, or a plain one", browser},
	{"auth-resource-param", "The authorization or token request has no resource", browser},
	{"auth-redirect-uri", "The redirect URI is neither https nor on the own machine", browser},
	{"auth-state-missing", "The authorization request has no state", browser},
	{"auth-iss-mismatch", "The answer of the authorization server names another issuer", browser},
	{"auth-iss-absent-advertised", "The answer of the authorization server does not name its issuer", browser},
	{"auth-dcr-used", "The client registered itself dynamically", "Registration goes to the authorization server; it is in no log."},
	{"auth-dcr-application-type", "The registration of the client has no application_type", "Registration goes to the authorization server; it is in no log."},
	{"auth-cimd-shape", "The metadata document of the client is malformed", "The authorization server fetches it from the client; it is in no log."},
	{"frame-after-eof", "The server writes after the client closed its input", "The log does not say when a pipe was closed, and draining answers is normal."},
	{"sse-listen-no-keepalive", "A silent stream was dropped for want of comments", "Why a stream ended is not on the wire, and comments are not recorded."},
	{"sse-keepalive-misread", "The client hangs up at a comment", "Comments are not recorded, and that one thing followed another is no reason."},
	{"err-code-semantics", "A code means something else than what happened", "What the server saw may differ from what was recorded on the way. The cases that can be told have rules of their own: http-mismatch-rejected, capability-missing-contradiction and unsupported-version-contradiction."},
}
