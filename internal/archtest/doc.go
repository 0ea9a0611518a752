// Package archtest holds the rules of the repository as tests, so that a
// change which breaks one fails with the rule and its reason instead of
// waiting for a reviewer to remember it.
//
// edges_test.go is the table of who may import whom, and why; the other files
// watch over modules, files, names, documentation and what text may say. To
// add a package, give it a line in the table.
//
// It imports the standard library only, and nothing imports it. It never
// changes a file and never needs the network.
package archtest
