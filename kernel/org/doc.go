// Package org reads, extends and writes Org text.
//
// It promises four things:
//
//   - [Parse] finds the structure of a note with positions: headings, property
//     drawers, keywords and blocks, each with its line and byte offsets, so that an
//     error can point at the note and an edit can leave every other byte alone.
//   - [InsertUnder] and [InsertBeforeDraft] are pure functions from text to
//     text that add a turn to a conversation.
//   - [Converter] turns what a model writes (Markdown, Org, or a mixture) into Org
//     that is inert: package inert has the list of what is held in it, and the rest stays
//     Org as it was written. Its result does not depend on how the text was cut into
//     deltas. It decides what a line is (convert_kind.go), opens and closes what stands around it (convert_markdown.go,
//     convert_orgtext.go), keeps its beginning from being Org (convert_guard.go), and
//     writes its text token by token (inline.go and its neighbours). A construct that
//     the next line of a paragraph may close waits for it (convert_paragraph.go).
//   - [Tangle] returns what org-babel-tangle (Org 9.5, Emacs 28.2 with its defaults)
//     writes for a note, byte for byte and mode for mode, or says which line Org would
//     evaluate, ask about or fail on. It runs nothing.
//
// Ordering, blocking, ownership: nothing here starts a goroutine or blocks. Only [WriteTangled]
// does input or output. Only a [Converter] keeps state between calls, and it belongs to one
// goroutine. A [Document] does not change after Parse and may be read by many goroutines. Time and
// memory are linear in the input, up to [MaxSource] bytes.
//
// Lines are counted from 1, columns from 1 in characters, offsets from 0 in bytes.
package org
