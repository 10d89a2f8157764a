package text

import (
	"encoding/hex"
	"hash"
)

// Mark returns a word that does not occur in some texts, so that none of them can contain what looks like a line with
// it. seed is a hash of the texts, and occurs reports whether a word is in one of them. The word depends on nothing
// else: the same texts are always enclosed by the same bytes.
func Mark(seed hash.Hash, occurs func(mark string) bool) string {
	for {
		mark := hex.EncodeToString(seed.Sum(nil))[:8]
		if !occurs(mark) {
			return mark
		}
		seed.Write([]byte(mark))
	}
}
