package reply

import (
	"time"
	"unicode"
	"unicode/utf8"

	"org-agent/kernel/agent/loop"
	"org-agent/kernel/protocol"
)

// stuck finds a model that repeats a letter, a sentence or a page until it reaches its limit. Text that
// people want is never like that for so long: in no table, verse or list is there a run of a thousand
// words each of which ends sixteen words that stood there shortly before. A repetition counts only if
// it took as long as a model takes to write it: text that comes faster was prepared.
type stuck struct {
	now     func() time.Time
	read    int       // bytes
	last    rune      // the last character, where all blanks are one
	alike   int       // how often it came in a row
	first   time.Time // when it did for the first time
	word    uint64    // a hash of the word that is being read
	letters int       // of it
	began   int       // where it stands

	words [runWords]spoken // the last ones, a ring
	count int              // of all words
	seen  map[uint64]int   // the last place of each run of words
	runs  []uint64         // those in seen, a ring once there are so many

	same  int // how many runs, one after the other, stood there before
	apart int // how many words before, at most
	from  int // where the first of them begins
	since time.Time
}

// spoken is a word, and where it stands.
type spoken struct {
	hash uint64
	at   int
}

const (
	runWords      = 16
	longestPeriod = 2048 // words
	stuckWords    = 1000 // are enough, or
	stuckTimes    = 10   // periods, if that is more
	stuckAlike    = 4000 // of the same character in a row
	stuckTime     = 4 * time.Second
	fastest       = 20_000 // bytes a second
	longestWord   = 32     // letters: what is longer is several words
	hashFactor    = 0x9e3779b97f4a7c15
)

// errStuck ends a turn whose model is stuck, if nothing of the reply can be shown.
var errStuck = loop.Ended{State: protocol.TurnFailed, Notice: "the model wrote the same again and again and was stopped: try again, or with another model"}

func newStuck() *stuck {
	return &stuck{now: time.Now, seen: map[uint64]int{}}
}

// write takes more of a reply. If found is true the model is stuck, and its first repetition begins at
// from.
func (s *stuck) write(text string) (from int, found bool) {
	for _, c := range text {
		if unicode.IsSpace(c) {
			c = ' '
		}
		if c != s.last {
			s.last, s.alike = c, 0
		}
		if s.alike++; s.alike == 2 {
			s.first = s.now()
		}
		if s.alike >= stuckAlike && s.alike%64 == 0 && s.slow(s.first, s.alike) {
			return max(0, s.read-(s.alike-1)*utf8.RuneLen(c)), true
		}
		if from, found := s.take(c); found {
			return from, true
		}
		s.read += utf8.RuneLen(c)
	}
	return 0, false
}

// take takes a character. Letters and digits make words, where blanks are between them; any
// other character but a blank is a word by itself, also a letter of those that need no blanks.
func (s *stuck) take(c rune) (from int, found bool) {
	letter := (unicode.IsLetter(c) || unicode.IsDigit(c)) && !unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
	if !letter || s.letters == longestWord {
		from, found = s.end()
	}
	if c == ' ' || found || !letter && s.alike > 1 { // a rule is one sign
		return from, found
	}
	if s.letters == 0 {
		s.began = s.read
	}
	s.letters++
	s.word = (s.word ^ uint64(c)) * hashFactor
	s.word ^= s.word >> 29
	if !letter {
		return s.end()
	}
	return 0, false
}

// end takes the word that was read, if there is one.
func (s *stuck) end() (from int, found bool) {
	if s.letters == 0 {
		return 0, false
	}
	s.words[s.count%runWords] = spoken{s.word, s.began}
	s.count++
	s.word, s.letters = 0, 0
	if s.count < runWords {
		return 0, false
	}
	var run uint64
	for i := range runWords {
		run = (run ^ s.words[(s.count+i)%runWords].hash) * hashFactor
		run ^= run >> 31
	}
	before, known := s.seen[run]
	s.remember(run)
	if !known {
		s.same, s.apart = 0, 0
		return 0, false
	}
	if s.same++; s.same == 1 {
		s.from, s.since = s.words[s.count%runWords].at, s.now() // the oldest of them
	}
	s.apart = max(s.apart, s.count-before)
	return s.from, s.same >= max(stuckWords, stuckTimes*s.apart) && s.slow(s.since, s.read-s.from)
}

// slow reports whether so many bytes took as long as a model takes for them.
func (s *stuck) slow(since time.Time, bytes int) bool {
	took := s.now().Sub(since)
	return took >= stuckTime && took.Seconds()*fastest >= float64(bytes)
}

// remember keeps where a run stands, and forgets the one that stands longestPeriod before.
func (s *stuck) remember(run uint64) {
	at := (s.count - runWords) % longestPeriod
	if at == len(s.runs) {
		s.runs = append(s.runs, run)
	} else if old := s.runs[at]; s.seen[old] == s.count-longestPeriod {
		delete(s.seen, old)
	}
	s.runs[at], s.seen[run] = run, s.count
}
