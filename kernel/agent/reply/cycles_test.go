package reply

import (
	"strings"
	"testing"
	"time"
)

// A cycle of words of any length up to 2,000 characters is found after twelve times its length at most, or
// 9,000 characters if that is more, at the pace of a model. Of it nearly only the first time is kept.
func TestStuckCycles(t *testing.T) {
	// The words of the cycle do not repeat inside it.
	var words strings.Builder
	for i := 0; words.Len() < 4000; i++ {
		for n := i*7919 + 12345; n > 0; n /= 26 {
			words.WriteByte(byte('a' + n%26))
		}
		words.WriteByte(' ')
	}
	for _, length := range []int{1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 1500, 2000} {
		said := words.String()[:length-1] + "\n"
		if length == 1 {
			said = "x"
		}
		from, found := stuckIn(strings.Repeat(said, 340_000/len(said)), 7)
		if !found {
			t.Errorf("a cycle of %d characters is not found in 340,000", length)
			continue
		}
		if most := length + 64; from > most {
			t.Errorf("a cycle of %d characters is kept to %d, not %d", length, from, most)
		}
		read := 1000
		for ; read < 340_000; read += 1000 { // the first thousand at which it is found
			if _, found := stuckIn(strings.Repeat(said, read/len(said)+1)[:read], 7); found {
				break
			}
		}
		if most := max(12*length, 9000); read > most {
			t.Errorf("a cycle of %d characters is found after %d, not %d", length, read, most)
		}
	}
}

// What repeats itself for long enough is found however fast it comes.
func TestStuckAtAnySpeed(t *testing.T) {
	for name, said := range map[string]string{"letter": "x", "word": "no ", "sentence": "I will now look at the file once more.\n"} {
		s := newStuck()
		s.now = func() time.Time { return time.Time{} } // all at once
		if _, found := s.write(strings.Repeat(said, 40_000/len(said))); found {
			t.Errorf("a %s of 40,000 bytes that was prepared is taken for a loop", name)
		}
		if from, found := s.write(strings.Repeat(said, 40_000/len(said))); !found || from > 64 {
			t.Errorf("a %s of 80,000 bytes is not found, or kept to %d", name, from)
		}
	}
}
