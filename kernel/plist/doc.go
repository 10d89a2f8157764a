// Package plist reads, prints and recovers s-expressions: the wire's messages,
// the actions that models propose and the source of skill notes.
//
// There is one reader with two modes. [Lisp] mode reads the Common Lisp syntax
// of notes; [Data] mode reads everything that comes from outside and has no "#"
// syntax at all. The reader is generic: a [Maker] decides what is built. Trees
// are made of the types of github.com/chewxy/sexp (Sexp, List, Symbol) with the
// atoms of this package beside them; that library's parser is not used.
//
// [Print] gives the canonical form: one line, which [Read] and Emacs both read
// back as the same data. [Recover] finds the one proposal in a model's reply and
// says what it had to do; [Stream] reads the same reply while it arrives.
//
// Every function is pure: nothing blocks, nothing is interned or kept between
// calls, and the only state is in values the caller owns ([Reader] and [Stream]
// belong to one goroutine). Trees are never changed by this package; functions
// that change a list return a new one that shares its elements. Strings in a
// tree share memory with the source they were read from. All work is linear in
// the input and bounded by [Limits]; hostile input gives an error, not a panic.
package plist
