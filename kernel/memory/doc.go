// Package memory contains what an agent knows of itself, of its user and of earlier days: files in
// its home that a person writes and reads as well, and an index over them.
//
// The files are authoritative. The program also stores the last good text of each file, and the
// index. Both can be deleted and made again from the files.
//
// Text that a person wrote stays byte for byte. The agent adds headings of its own to a file. It
// may change only these, and only as long as nobody else has changed them.
package memory
