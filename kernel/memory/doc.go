// Package memory is what an agent knows of itself, of its user and of earlier days: files in
// its home that a person writes and reads as well, and an index over them.
//
// The files are the truth. What is kept of them in the program, the last good text of a
// file or the index, can be thrown away and made again from them.
//
// Text that a person wrote stays byte for byte. What the agent adds to a file are headings
// of its own, and those alone it may change, as long as nobody else did.
package memory
