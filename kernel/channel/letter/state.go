package letter

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/protocol"
)

const (
	stateKey     = "letters"
	keptSettled  = 50 // letters about what is decided, by which their buttons are known
	keptSenders  = 200
	wrongOfOne   = 10        // wrong buttons of a sender within an hour; then theirs are refused
	wrongFor     = time.Hour // that is remembered
	refusedFor   = time.Hour
	secretLength = 26 // digits of base32: 130 bits
)

// state is what is kept of a channel.
type state struct {
	Letters []letterState `json:"letters,omitempty"`
	Wrong   []wrongState  `json:"wrong,omitempty"` // buttons that were none
}

// letterState is a letter, without its secrets.
type letterState struct {
	Ask     string        `json:"ask"`
	Of      string        `json:"of"` // what is asked, as [subject] names it
	Owner   string        `json:"owner"`
	Chat    string        `json:"chat"`
	Message string        `json:"message,omitempty"` // the id that the chat gave to it
	Sent    bool          `json:"sent,omitempty"`    // or the chat will never take it
	Settled bool          `json:"settled,omitempty"` // it says what was decided
	Choices []choiceState `json:"choices,omitempty"`
}

// choiceState is a button.
type choiceState struct {
	Hash     string                 `json:"hash"`
	Decision protocol.Decision      `json:"decision"`
	Answers  []protocol.FieldAnswer `json:"answers,omitempty"`
}

// wrongState are the wrong buttons of a sender.
type wrongState struct {
	Sender  string      `json:"sender"`
	At      []time.Time `json:"at,omitempty"`
	Refused time.Time   `json:"refused,omitzero"` // until then theirs are refused
}

// readState returns what is kept of a channel.
func readState(ctx context.Context, kept channel.State) (s state, err error) {
	text, err := kept.Load(ctx, stateKey)
	if err != nil || text == "" {
		return s, err
	}
	return s, json.Unmarshal([]byte(text), &s)
}

func (s *state) write(ctx context.Context, kept channel.State) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return kept.Store(ctx, stateKey, string(text))
}

// forget removes what is over: the oldest letters about what is decided, and wrong buttons of an hour ago.
func (s *state) forget(now time.Time) {
	settled := 0
	for _, l := range s.Letters {
		if l.Settled {
			settled++
		}
	}
	s.Letters = slices.DeleteFunc(s.Letters, func(l letterState) bool {
		if over := l.Settled && settled > keptSettled; over {
			settled--
			return true
		}
		return false
	})
	for i := range s.Wrong {
		w := &s.Wrong[i]
		w.At = slices.DeleteFunc(w.At, func(at time.Time) bool { return now.Sub(at) >= wrongFor })
	}
	s.Wrong = slices.DeleteFunc(s.Wrong, func(w wrongState) bool { return len(w.At) == 0 && !now.Before(w.Refused) })
}

// find returns the letter about an ask to a chat, nil if there is none.
func (s *state) find(chat, ask string) *letterState {
	i := slices.IndexFunc(s.Letters, func(l letterState) bool { return l.Chat == chat && l.Ask == ask })
	if i < 0 {
		return nil
	}
	return &s.Letters[i]
}

// put adds a letter in place of an earlier one about the same ask.
func (s *state) put(l letterState) {
	if old := s.find(l.Chat, l.Ask); old != nil {
		*old = l
		return
	}
	s.Letters = append(s.Letters, l)
}

// pressed returns the letter and the choice of a button. How long it takes does not depend on which one it is.
func (s *state) pressed(hash string) (l letterState, c choiceState, found bool) {
	letter, choice := -1, -1
	for i := range s.Letters {
		for k := range s.Letters[i].Choices {
			same := subtle.ConstantTimeCompare([]byte(s.Letters[i].Choices[k].Hash), []byte(hash))
			letter, choice = subtle.ConstantTimeSelect(same, i, letter), subtle.ConstantTimeSelect(same, k, choice)
		}
	}
	if letter < 0 {
		return l, c, false
	}
	return s.Letters[letter], s.Letters[letter].Choices[choice], true
}

// refuses reports whether buttons of a sender are refused.
func (s *state) refuses(sender string, now time.Time) bool {
	return slices.ContainsFunc(s.Wrong, func(w wrongState) bool { return w.Sender == sender && now.Before(w.Refused) })
}

// wrong counts a wrong button of a sender, and reports whether theirs are refused from now on.
func (s *state) wrong(sender string, now time.Time) (refused bool) {
	i := slices.IndexFunc(s.Wrong, func(w wrongState) bool { return w.Sender == sender })
	if i < 0 {
		if len(s.Wrong) >= keptSenders {
			s.Wrong = slices.Delete(s.Wrong, 0, 1)
		}
		s.Wrong = append(s.Wrong, wrongState{Sender: sender})
		i = len(s.Wrong) - 1
	}
	w := &s.Wrong[i]
	if w.At = append(w.At, now); len(w.At) < wrongOfOne {
		return false
	}
	w.At, w.Refused = nil, now.Add(refusedFor)
	return true
}

// newSecret returns what nobody can guess: at least 128 random bits in base32.
func newSecret() string { return rand.Text() }

// hashOf returns the hash of a secret for one channel.
func hashOf(name, secret string) string {
	sum := sha256.Sum256([]byte(name + "\x00" + secret))
	return hex.EncodeToString(sum[:])
}

// subject names what is asked, so that an ask with the same id that asks something else is another one.
func subject(a protocol.Ask) string {
	sum := sha256.New()
	form, _ := json.Marshal(a.Form) // a form has nothing that cannot be written
	for _, part := range []string{string(a.Sort), a.Hash, a.Action, a.Text, string(form)} {
		sum.Write([]byte(hashOf("", part)))
	}
	return hex.EncodeToString(sum.Sum(nil))
}
