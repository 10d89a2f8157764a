// Package plist reads, prints and recovers s-expressions: the messages of the wire, the actions
// that models propose, and the source of skill notes.
//
// One reader has two modes. [Lisp] mode reads the Common Lisp syntax of notes. [Data] mode reads
// everything from outside and has no "#" syntax. The reader is generic: a [Maker] builds the
// values. Trees consist of the types of github.com/chewxy/sexp (Sexp, List, Symbol) and the atoms
// of this package. The parser of that library is not used.
//
// [Print] returns the canonical form, which is one line that [Read] and Emacs read back as the same
// data. [Recover] finds the one proposal in a model's reply and reports the steps that it took.
// [Stream] reads the same reply while it arrives.
//
// All functions are pure: nothing blocks, and nothing is interned or stored between calls. The only
// state is in values that the caller owns; a [Reader] and a [Stream] belong to one goroutine. The
// package never changes a tree. A function that changes a list returns a new list, which shares its
// elements. Strings in a tree share memory with their source. All work is linear in the input and
// bounded by [Limits]. Malicious input gives an error and not a panic.
package plist
