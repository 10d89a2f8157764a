// Package files reads, finds and changes the files of a machine for tools: to the byte, in
// bounded memory, and none but the ones that are named. Whether a file may be touched is judged
// above; here a name becomes the one file that is judged, by [Resolve], and is checked again to be
// that file when it is touched.
//
// Nothing is kept between two calls and nothing outlives one. What takes long looks at its
// context. Errors are [protocol.ToolError]s that say what to do instead.
package files
