// Package stream carries the files of a folder of session logs to another
// machine: a line protocol over any pair of byte streams, in which the side that
// wants logs asks and the side that has them answers, so that the pace is that
// of the one who asks.
//
// # The protocol, version 1
//
// Each message is a JSON object on a line of its own. The answering side begins:
//
//	{"op":"hello","v":1,"host":"box","version":"1.0.0","time":1754065943003591214}
//
// time is its clock in Unix nanoseconds. Then it answers requests in order, one
// answer for each, until its input ends:
//
//	{"op":"list"}     {"op":"files","files":[{"name","size","mtime"},…],"more":true}, the last without more
//	{"op":"wait"}     the same, with what has changed since it was last told, names that are gone in
//	                  "gone"; before it, while nothing changes, {"op":"beat","time":…} every ten seconds.
//	                  Another request ends the wait.
//	{"op":"read","name":"x.jsonl","at":4096,"len":1048576,"check":"…"}
//	                  {"op":"data","raw":1048576,"packed":81234,"size":…} and packed bytes: zstd,
//	                  or, when packed is missing, raw bytes as they are. Fewer than len at the end.
//	                  {"op":"moved","size":…}: the file is shorter than at, or check is not the
//	                  digest of what stands before at: it is another file, or was cut.
//	                  {"op":"gone"}: there is no such file.
//
// {"op":"error","text":…} answers what cannot be answered. Names are those of
// files in the folder: never a path, always ending in .jsonl or .jsonl.zst.
//
// Memory: both sides hold a few pieces of MaxRead bytes, and the answering side
// a name and two numbers for each file.
//
// It imports internal/capture, for the file system, and nothing else of ours. It
// never interprets a log, never writes to a file and knows nothing of SSH.
package stream
