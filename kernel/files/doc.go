// Package files reads, finds and changes files for tools: exact to the byte, in bounded memory, and
// only the named files. Whether a file may be used is judged elsewhere. [Resolve] turns a name into
// the one path that is judged, and every access checks that the path still leads to that file
// without links.
//
// The functions keep no state, and nothing outlives a call. Long work ends with its context. Errors
// are [protocol.ToolError]s that say what to do instead.
package files
