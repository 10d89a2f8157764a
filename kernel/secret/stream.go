package secret

import (
	"strings"
	"sync"
)

// hiddenLength is how long a secret of a [Set] is at least. Shorter ones are no secrets: servers on this
// machine take any word as a key, and such a word may occur in any text.
const hiddenLength = 16

// Set is the secrets that are known so far. The zero value has none. It is safe for use by several
// goroutines.
type Set struct {
	mu        sync.Mutex
	known     map[Text]bool
	spellings []string
}

// Add adds a secret. A short one is ignored.
func (s *Set) Add(secret Text) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(secret) < hiddenLength || s.known[secret] {
		return
	}
	if s.known == nil {
		s.known = map[Text]bool{}
	}
	s.known[secret] = true
	s.spellings = append(s.spellings[:len(s.spellings):len(s.spellings)], secret.spellings()...)
}

// Stream returns a stream that hides the secrets of the set as it is now.
func (s *Set) Stream() *Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Stream{spellings: s.spellings}
}

// Stream hides secrets in a text that comes in pieces. It holds back the end of the text while that may be
// the beginning of a secret.
type Stream struct {
	spellings []string
	held      string
}

// Write returns the text that is certain with the next piece.
func (s *Stream) Write(piece string) string {
	if len(s.spellings) == 0 || piece == "" {
		return piece
	}
	text := s.held + piece
	for _, spelling := range s.spellings {
		text = strings.ReplaceAll(text, spelling, Redacted)
	}
	keep := 0
	for _, spelling := range s.spellings {
		for n := min(len(spelling)-1, len(text)); n > keep; n-- {
			if text[len(text)-n] == spelling[0] && strings.HasPrefix(spelling, text[len(text)-n:]) {
				keep = n
			}
		}
	}
	s.held = text[len(text)-keep:]
	return text[:len(text)-keep]
}

// Flush returns the text that was held back. The text has ended.
func (s *Stream) Flush() string {
	held := s.held
	s.held = ""
	return held
}
