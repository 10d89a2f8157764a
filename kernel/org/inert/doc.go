// Package inert makes the Org text that a model wrote safe to have in a file.
//
// An answer is a document that people refile, tangle, export and plan with. So Org stays as it was
// written, except for what is in the list (list.go): what runs code, reaches outside, changes the
// whole file, or speaks as the kernel. Such a place is held: one zero-width space stands in it, and
// Org takes it for text. In a drawer the key is renamed to HELD_NAME, because a zero-width space
// would break the drawer. A person makes a held place real with C-c C-c in Emacs, and nobody else.
//
// A [Writer] takes a text in pieces and returns what is final. Its result does not depend on how the
// text was cut. It waits for the end of a line whose beginning decides what it is, such as a
// keyword, and otherwise only for a few characters. Time and memory are linear in the text.
//
// The client has its own implementation of the list, elisp/org-agent-inert.el. Neither was made from
// the other. Both are tested with the cases in testdata/held.
//
// Ordering, blocking, ownership: nothing here does input or output, blocks, or starts a goroutine. A
// Writer belongs to one goroutine and serves one text.
package inert
