// Command mcpsnoop shows what an MCP client and an MCP server say to each
// other. All of it is in package cli; here the process's arguments,
// environment and streams are handed over.
//
// It imports cli and the standard library, and never anything else.
package main
