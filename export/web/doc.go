// Package web is the page that an export as HTML makes: one file that shows a
// capture in a browser, needs nothing else and reaches nothing else.
//
// Begin writes what stands before the data, End what stands behind it: the
// program. In between the caller writes blocks of data: JSON in the element
// with the id "doc", and lists with one JSON text a line in elements with
// data-list. What a capture holds is data and nothing else: it is put into the
// page as text, never as markup, never as a link, and a policy that allows one
// script and one style by their hashes stands before it.
//
// The sources are the modules in src; dist/page.js is their bundle. After a
// change run go generate.
//
// It imports no room of this program. It reads no file but its own and no
// data: it never sees a capture.
package web
