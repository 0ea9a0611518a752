package cli

import "github.com/mcpsnoop/mcpsnoop/export"

// safe escapes what came from outside, for messages.
func safe(s string) string { return export.Safe(s) }
