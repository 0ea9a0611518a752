package main

import (
	"os"

	"github.com/mcpsnoop/mcpsnoop/cmd/mcpsnoop/cli"
)

func main() {
	os.Exit(cli.Main(os.Args, os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
