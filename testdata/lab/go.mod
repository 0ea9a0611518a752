module github.com/mcpsnoop/mcpsnoop/testdata/lab

go 1.26
