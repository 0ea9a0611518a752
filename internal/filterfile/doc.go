// Package filterfile keeps the filters of a user in two small text files: the
// ones that have names, a line NAME = FILTER each, which people edit by hand,
// and the ones that were used last.
//
// What a person has written stays as it is: comments, order, and lines that
// cannot be used, which are named and skipped. Both files are bounded, and
// replaced whole or not at all. It imports nothing of this module.
package filterfile
