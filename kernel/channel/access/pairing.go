package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"org-agent/kernel/channel"
)

// Pairings are the codes by which people get a row in channels.org: whoever sends a code to the agent in a private chat is
// added, once. A code has 128 random bits and is for one channel. Only its hash is kept.
//
// It is safe for many goroutines: of those who send one code at the same time, one is added. A code is taken back before
// the row is written, and given again if that fails, so that no crash leaves a code that was used.
type Pairings struct {
	File *File
	// State returns what is kept of a channel across restarts.
	State func(channel string) channel.State
	// Changed is called after a row was added, so that editors reread the file. nil: nobody is told.
	Changed func()
	Now     func() time.Time
	Logger  *slog.Logger

	mutex sync.Mutex
}

// The limits of codes.
const (
	codeLife        = time.Hour
	attemptsOfOne   = 5  // wrong codes of one sender within an hour; then theirs are refused
	attemptsOfAll   = 30 // wrong codes on one channel within an hour; then all are refused for an hour
	attemptsLast    = time.Hour
	mostCodes       = 20 // that are valid at a time on one channel
	stateOfPairings = "access/pairings"
)

// crockford are the digits of a code. I, L, O and U are none of them, so that nobody takes one for another.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

var encoding = base32.NewEncoding(crockford).WithPadding(base32.NoPadding)

// codeDigits is the length of a code without dashes.
const codeDigits = 26

// pairingState is what is kept of a channel.
type pairingState struct {
	Codes    []codeState    `json:"codes,omitempty"`
	Attempts []attemptState `json:"attempts,omitempty"` // that were wrong
	// Closed is until when all codes are refused.
	Closed time.Time `json:"closed,omitzero"`
}

type codeState struct {
	Hash  string    `json:"hash"`
	Role  Role      `json:"role"`
	Until time.Time `json:"until"`
}

type attemptState struct {
	Sender string    `json:"sender"`
	At     time.Time `json:"at"`
}

// Outcome is what became of a text that may be a code.
type Outcome string

// The outcomes.
const (
	NoCode  Outcome = ""        // it is a message like any other
	Paired  Outcome = "paired"  // its sender was added
	Wrong   Outcome = "wrong"   // it has the shape of a code, and is none that is valid
	Refused Outcome = "refused" // after too many wrong ones, whatever it is
)

// Redemption is the outcome of a text.
type Redemption struct {
	Outcome Outcome
	Role    Role // of who was added
	// Closed is until when the channel takes no codes. It is set once, by the attempt that closed it: the person is to be
	// told, because somebody may be guessing.
	Closed time.Time
}

// New returns a code that gives a role on a channel, with dashes for people, and until when it is valid.
func (p *Pairings) New(ctx context.Context, on string, role Role) (code string, until time.Time, err error) {
	if role != Owner && role != Friend {
		return "", time.Time{}, fmt.Errorf("a code is for an owner or a friend, not for %q", role)
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	state, err := p.load(ctx, on)
	if err != nil {
		return "", time.Time{}, err
	}
	if len(state.Codes) >= mostCodes {
		return "", time.Time{}, fmt.Errorf("%d codes for %s are valid and not used: the first of them ends at %s", mostCodes, on, state.Codes[0].Until.Format("15:04"))
	}
	var random [16]byte
	rand.Read(random[:]) // it never fails
	digits := encoding.EncodeToString(random[:])
	until = p.Now().Add(codeLife)
	state.Codes = append(state.Codes, codeState{Hash: hashOf(on, digits), Role: role, Until: until})
	if err := p.store(ctx, on, state); err != nil {
		return "", time.Time{}, err
	}
	p.Logger.Info("pairing code made", "channel", on, "role", role, "until", until)
	return strings.Join([]string{digits[:5], digits[5:10], digits[10:15], digits[15:20], digits[20:]}, "-"), until, nil
}

// Redeem takes a message of somebody without a row for a code, and adds them if it is one that is valid. Only the text of
// a private message is taken. It is an error, and the code stays valid, if the row cannot be written.
func (p *Pairings) Redeem(ctx context.Context, on string, m channel.Message) (Redemption, error) {
	digits, shaped := normalized(m.Text)
	if !shaped || m.Chat.Group || m.Myself || m.Kind != channel.Said || m.Forwarded != "" || m.Sender.ID == "" {
		return Redemption{}, nil
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	state, err := p.load(ctx, on)
	if err != nil {
		return Redemption{}, err
	}
	if p.Now().Before(state.Closed) || state.attemptsOf(m.Sender.ID) >= attemptsOfOne {
		p.Logger.Warn("pairing code refused", "channel", on, "sender", m.Sender.ID)
		return Redemption{Outcome: Refused}, nil
	}
	at := state.find(hashOf(on, digits))
	if at < 0 {
		return p.wrong(ctx, on, m.Sender.ID, state)
	}
	code := state.Codes[at]
	state.Codes = slices.Delete(state.Codes, at, at+1)
	if err := p.store(ctx, on, state); err != nil {
		return Redemption{}, err
	}
	if err := p.File.admit(on, m.Sender.ID, m.Sender.Name, code.Role, p.Now()); err != nil {
		state.Codes = append(state.Codes, code)
		return Redemption{}, errors.Join(fmt.Errorf("add %s of %s, who sent a code: %w", m.Sender.ID, on, err), p.store(context.WithoutCancel(ctx), on, state))
	}
	if p.Changed != nil {
		p.Changed()
	}
	p.Logger.Info("paired", "channel", on, "sender", m.Sender.ID, "role", code.Role)
	return Redemption{Outcome: Paired, Role: code.Role}, nil
}

// wrong counts a wrong code.
func (p *Pairings) wrong(ctx context.Context, on, sender string, state pairingState) (Redemption, error) {
	state.Attempts = append(state.Attempts, attemptState{Sender: sender, At: p.Now()})
	outcome := Redemption{Outcome: Wrong}
	if len(state.Attempts) >= attemptsOfAll {
		state.Closed = p.Now().Add(attemptsLast)
		state.Attempts = nil // they have had their effect
		outcome.Closed = state.Closed
	}
	if err := p.store(ctx, on, state); err != nil {
		return Redemption{}, err
	}
	p.Logger.Warn("wrong pairing code", "channel", on, "sender", sender, "attempts", state.attemptsOf(sender))
	if !outcome.Closed.IsZero() {
		p.Logger.Error("pairing closed after too many wrong codes", "channel", on, "until", outcome.Closed)
	}
	return outcome, nil
}

// attemptsOf returns how many wrong codes somebody has sent.
func (s *pairingState) attemptsOf(sender string) (n int) {
	for _, a := range s.Attempts {
		if a.Sender == sender {
			n++
		}
	}
	return n
}

// find returns the index of a code, -1 if there is none. How long it takes does not depend on which one it is.
func (s *pairingState) find(hash string) int {
	at := -1
	for i, code := range s.Codes {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare([]byte(code.Hash), []byte(hash)), i, at)
	}
	return at
}

// load returns the state of a channel without what is over.
func (p *Pairings) load(ctx context.Context, on string) (state pairingState, err error) {
	text, err := p.State(on).Load(ctx, stateOfPairings)
	if err != nil {
		return state, fmt.Errorf("load the pairing codes of %s: %w", on, err)
	}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &state); err != nil {
			return state, fmt.Errorf("load the pairing codes of %s: %w", on, err)
		}
	}
	now := p.Now()
	state.Codes = slices.DeleteFunc(state.Codes, func(c codeState) bool { return !now.Before(c.Until) })
	state.Attempts = slices.DeleteFunc(state.Attempts, func(a attemptState) bool { return now.Sub(a.At) >= attemptsLast })
	return state, nil
}

func (p *Pairings) store(ctx context.Context, on string, state pairingState) error {
	text, err := json.Marshal(state)
	if err == nil {
		err = p.State(on).Store(ctx, stateOfPairings, string(text))
	}
	if err != nil {
		return fmt.Errorf("keep the pairing codes of %s: %w", on, err)
	}
	return nil
}

// hashOf returns the hash of a code for one channel.
func hashOf(on, digits string) string {
	sum := sha256.Sum256([]byte(on + "\x00" + digits))
	return hex.EncodeToString(sum[:])
}

// normalized returns the digits of a code, whatever its case, blanks and dashes, and reports whether the text has the shape of one.
// Digits that people confuse are taken for those that exist. A command /start or /pair may stand before it.
func normalized(text string) (digits string, shaped bool) {
	if len(text) > 200 {
		return "", false
	}
	if first, rest, found := strings.Cut(strings.TrimSpace(text), " "); found && (first == "/start" || first == "/pair") {
		text = rest
	}
	var b strings.Builder
	for _, c := range text {
		switch c = unicode.ToUpper(c); {
		case unicode.IsSpace(c) || unicode.Is(unicode.Pd, c) || unicode.Is(unicode.Cf, c):
		case c == 'O':
			b.WriteByte('0')
		case c == 'I' || c == 'L':
			b.WriteByte('1')
		case strings.ContainsRune(crockford, c):
			b.WriteRune(c)
		default:
			return "", false
		}
	}
	return b.String(), b.Len() == codeDigits
}
