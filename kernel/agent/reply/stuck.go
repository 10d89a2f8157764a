package reply

import (
	"time"
	"unicode"
	"unicode/utf8"

	"org-agent/kernel/agent/loop"
	"org-agent/kernel/protocol"
)

// stuck finds a model that repeats a letter, a sentence or a page until it reaches its limit. Useful
// text never repeats for so long: no table, verse or list has a thousand words in a row, each of which
// ends sixteen words that occurred shortly before. A repetition counts only if it took as long as a
// model needs to write it. Text that comes faster was prepared, and may repeat itself for longer.
type stuck struct {
	now        func() time.Time
	bytesRead  int       // bytes
	lastChar   rune      // the last character; all white space counts as a blank
	charCount  int       // how often it occurred in a row
	charTime   time.Time // when it occurred the second time in a row
	wordHash   uint64    // the hash of the incomplete word
	wordLength int       // its letters
	wordStart  int       // its offset

	words     [runWords]wordPosition // the last words, a ring
	wordCount int                    // all words
	runPlaces map[uint64]int         // the last place of each run of words, by its hash
	runs      []uint64               // the keys of runPlaces, a ring of longestPeriod

	repeatedRuns int // successive runs that occurred before
	period       int // the largest distance to the earlier occurrence, in words
	repeatStart  int // the offset of the first of these runs
	repeatTime   time.Time
}

// wordPosition is a word and its offset.
type wordPosition struct {
	hash uint64
	at   int
}

const (
	runWords      = 16
	longestPeriod = 2048 // words
	stuckWords    = 1000 // repeated words that are enough, or
	stuckTimes    = 10   // repeated periods, if these have more words
	stuckChars    = 4000 // equal characters in a row
	stuckTime     = 4 * time.Second
	fastest       = 20_000 // bytes a second
	stuckBytes    = 64_000 // repeated bytes that are enough at any speed
	longestWord   = 32     // letters; a longer word counts as several
	hashFactor    = 0x9e3779b97f4a7c15
)

// errStuck ends a turn whose model is stuck, if no part of the reply is an answer.
var errStuck = loop.EndError{State: protocol.TurnFailed, Notice: "the model repeated the same text endlessly and was stopped: try again, or with another model"}

func newStuck() *stuck {
	return &stuck{now: time.Now, runPlaces: map[uint64]int{}}
}

// write reads the next part of a reply. If found is true the model is stuck, and its first repetition
// begins at the offset from.
func (s *stuck) write(text string) (from int, found bool) {
	for _, c := range text {
		if unicode.IsSpace(c) {
			c = ' '
		}
		if c != s.lastChar {
			s.lastChar, s.charCount = c, 0
		}
		if s.charCount++; s.charCount == 2 {
			s.charTime = s.now()
		}
		if s.charCount >= stuckChars && s.charCount%64 == 0 && s.asSlowAsModel(s.charTime, s.charCount) {
			return max(0, s.bytesRead-(s.charCount-1)*utf8.RuneLen(c)), true
		}
		if from, found := s.addChar(c); found {
			return from, true
		}
		s.bytesRead += utf8.RuneLen(c)
	}
	return 0, false
}

// addChar reads a character. Letters and digits form words that blanks separate. Any other character
// except a blank is a word by itself, and so is a letter of a script without blanks.
func (s *stuck) addChar(c rune) (from int, found bool) {
	letter := (unicode.IsLetter(c) || unicode.IsDigit(c)) && !unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
	if !letter || s.wordLength == longestWord {
		from, found = s.endWord()
	}
	if c == ' ' || found || !letter && s.charCount > 1 { // a row of equal signs is one word
		return from, found
	}
	if s.wordLength == 0 {
		s.wordStart = s.bytesRead
	}
	s.wordLength++
	s.wordHash = (s.wordHash ^ uint64(c)) * hashFactor
	s.wordHash ^= s.wordHash >> 29
	if !letter {
		return s.endWord()
	}
	return 0, false
}

// endWord ends the incomplete word, if there is one.
func (s *stuck) endWord() (from int, found bool) {
	if s.wordLength == 0 {
		return 0, false
	}
	s.words[s.wordCount%runWords] = wordPosition{s.wordHash, s.wordStart}
	s.wordCount++
	s.wordHash, s.wordLength = 0, 0
	if s.wordCount < runWords {
		return 0, false
	}
	var run uint64
	for i := range runWords {
		run = (run ^ s.words[(s.wordCount+i)%runWords].hash) * hashFactor
		run ^= run >> 31
	}
	before, known := s.runPlaces[run]
	s.remember(run)
	if !known {
		s.repeatedRuns, s.period = 0, 0
		return 0, false
	}
	if s.repeatedRuns++; s.repeatedRuns == 1 {
		s.repeatStart, s.repeatTime = s.words[s.wordCount%runWords].at, s.now() // the oldest word of the run
	}
	s.period = max(s.period, s.wordCount-before)
	return s.repeatStart, s.repeatedRuns >= max(stuckWords, stuckTimes*s.period) && s.asSlowAsModel(s.repeatTime, s.bytesRead-s.repeatStart)
}

// asSlowAsModel reports whether so many bytes since a time took as long as a model needs for them, or are more
// than anybody prepares.
func (s *stuck) asSlowAsModel(since time.Time, bytes int) bool {
	if bytes >= stuckBytes {
		return true
	}
	took := s.now().Sub(since)
	return took >= stuckTime && took.Seconds()*fastest >= float64(bytes)
}

// remember stores the place of a run, and forgets the run longestPeriod words before.
func (s *stuck) remember(run uint64) {
	at := (s.wordCount - runWords) % longestPeriod
	if at == len(s.runs) {
		s.runs = append(s.runs, run)
	} else if old := s.runs[at]; s.runPlaces[old] == s.wordCount-longestPeriod {
		delete(s.runPlaces, old)
	}
	s.runs[at], s.runPlaces[run] = run, s.wordCount
}
