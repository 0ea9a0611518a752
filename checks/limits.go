package checks

// What an engine keeps at most, per session. Beyond a bound the oldest entry
// is forgotten or the newest is not kept, and the rules that would have needed
// it stay silent; a finding is still counted.
const (
	maxFindings   = 10_000    // distinct findings; more are counted in one finding a rule
	maxHits       = 100       // places in one frame that a rule names one by one
	maxScans      = 10_000    // searches through all open requests
	maxMessage    = 400       // bytes of a finding's message
	maxNodes      = 1 << 18   // values of one message; what lies deeper in a bigger one is not judged
	maxClients    = 4_096     // client sessions with a state of their own
	maxOpen       = 65_536    // open requests
	maxCancelled  = 4_096     // cancelled requests whose answer may still come
	maxExchanges  = 16_384    // HTTP exchanges
	maxIDs        = 1_000_000 // hashes of ids used on one connection, beside runs of numbers
	maxRuns       = 64        // runs of consecutive numbers among the ids
	maxTokens     = 16_384    // progress tokens of one client session, open and recently closed
	maxTools      = 4_096     // tool definitions of one server
	maxSchema     = 256 << 10 // bytes of a schema that is kept to judge results by
	maxListens    = 1_024     // subscriptions of one client session
	maxInputs     = 1_024     // results that ask for input and were not retried
	maxTasks      = 1_024     // tasks of one session
	maxPolls      = 256       // cacheable results of one client session
	maxEventIDs   = 65_536    // ids of server-sent events in one session
	maxCursors    = 4_096     // cursors of one list
	maxSubjectLen = 256       // bytes of a tool name, a path or an id in a finding
)
