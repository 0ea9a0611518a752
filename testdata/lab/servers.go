package main

// The servers at the far end: as little work as a server can do.

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
)

// echo: a JSON-RPC server which answers each line. A request line begins with
// {"jsonrpc":"2.0","id":N, and the answer carries the same padding.
func echo() {
	r := bufio.NewReaderSize(os.Stdin, 4<<20)
	w := bufio.NewWriterSize(os.Stdout, 4<<20)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			if i := bytes.Index(line, []byte(`,"method"`)); i > 0 {
				w.Write(line[:i])
				w.WriteString(`,"result":{"x":`)
				// copy the padding string as result
				if j := bytes.Index(line, []byte(`"pad":`)); j > 0 {
					end := bytes.LastIndexByte(line, '"')
					w.Write(line[j+6 : end+1])
				} else {
					w.WriteString(`""`)
				}
				w.WriteString("}}\n")
				w.Flush()
			}
		}
		if err != nil {
			return
		}
	}
}

// serve is a server whose every message is legal, so that a checker has nothing to say about the traffic: what it
// does say is then a fault of whoever recorded it.
func serve() {
	r := bufio.NewReaderSize(os.Stdin, 64<<10)
	w := bufio.NewWriterSize(os.Stdout, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if id, ok := requestID(line); ok {
			result := `{"content":[{"type":"text","text":"ok"}]}`
			if bytes.Contains(line, []byte(`"method":"initialize"`)) {
				result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"lab","version":"1"}}`
			}
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
		}
		if r.Buffered() == 0 {
			w.Flush()
		}
		if err != nil {
			return
		}
	}
}

// requestID is the id of a line written by req or answered by serve: {"jsonrpc":"2.0","id":N,...
func requestID(line []byte) (id string, ok bool) {
	const head = `{"jsonrpc":"2.0","id":`
	rest, ok := bytes.CutPrefix(line, []byte(head))
	if !ok {
		return "", false
	}
	end := bytes.IndexByte(rest, ',')
	if end < 0 {
		return "", false
	}
	return string(rest[:end]), true
}
