package llm

import "time"

// Speed is how fast replies came. The zero value is that of no reply.
type Speed struct {
	// Replies is how many replies began, and First the time in which they did together, from the request
	// to the first piece.
	Replies int
	First   time.Duration
	// Tokens are the tokens of the replies that came in pieces, and Writing the time from their first
	// pieces to their ends.
	Tokens  int
	Writing time.Duration
}

// leastWriting is how long a reply must take to come for its rate to be counted. A reply that came at once
// was written before.
const leastWriting = 100 * time.Millisecond

// SpeedOf returns the speed of one reply. first is the time from the request to the first piece, 0 if none
// came, and took that to the end. Thinking that the server does not show happens before the first piece
// and is no part of the rate; thoughts reports whether it was shown.
func SpeedOf(usage *Usage, thoughts bool, first, took time.Duration) (s Speed) {
	if first <= 0 {
		return s
	}
	s.Replies, s.First = 1, first
	if usage == nil || took-first < leastWriting {
		return s
	}
	s.Tokens, s.Writing = usage.Output, took-first
	if !thoughts {
		s.Tokens = max(usage.Output-usage.Reasoning, 0)
	}
	return s
}

// Add returns the speed of the replies of both.
func (s Speed) Add(t Speed) Speed {
	return Speed{s.Replies + t.Replies, s.First + t.First, s.Tokens + t.Tokens, s.Writing + t.Writing}
}

// Mean returns the mean time to the first piece, 0 if no reply began.
func (s Speed) Mean() time.Duration {
	if s.Replies == 0 {
		return 0
	}
	return s.First / time.Duration(s.Replies)
}

// Rate returns the tokens per second after the first piece, 0 if it is not known.
func (s Speed) Rate() float64 {
	if s.Writing <= 0 {
		return 0
	}
	return float64(s.Tokens) / s.Writing.Seconds()
}
