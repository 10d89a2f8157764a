package org

import (
	"slices"
	"strings"
)

// languageName returns the bare language in an info string.
func languageName(info string) string {
	name := strings.TrimLeft(strings.TrimPrefix(firstField(info), zeroWidthSpace), "{.-+_#")
	end := 0
	for end < len(name) && end < wordLimit && (isAlnum(name[end]) || strings.IndexByte("-+_#.", name[end]) >= 0) {
		end++
	}
	return name[:end]
}

// capitals are the languages whose names Org knows with a capital letter.
var capitals = []string{"C", "C++", "D", "R"}

// beginCode returns the kind of the block for code in a language, and the block's first line
// without indentation.
func beginCode(language string) (kind, first string) {
	if language == "" {
		return "example", "#+begin_example"
	}
	if !slices.Contains(capitals, language) {
		language = strings.ToLower(language)
	}
	return "src", "#+begin_src " + language
}
