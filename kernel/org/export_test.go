package org

// An insertion has a place whether or not there is a draft or a question, so the places themselves
// have no door.

// DraftStart is draftStart.
func DraftStart(text string) (offset int, ok bool) { return draftStart(text) }

// DraftOf is draftOf.
func DraftOf(text string) (offset int, turns, ok bool) { return draftOf(text) }

// SubtreeEnd is subtreeEnd.
func SubtreeEnd(text, id string) (offset int, ok bool) { return subtreeEnd(text, id) }

// The outline that another parser makes of Markdown names languages, footnotes and targets as the
// converter does, which writes them only within whole elements.

// LanguageName is languageName.
func LanguageName(info string) string { return languageName(info) }

// FootnoteLabel is footnoteLabel.
func FootnoteLabel(label string) (string, bool) { return footnoteLabel(label) }

// LinkTarget is linkTarget.
func LinkTarget(destination string) (string, bool) { return linkTarget(destination) }
