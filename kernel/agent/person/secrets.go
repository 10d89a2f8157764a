package person

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
)

// Secrets holds the secret answers to running turns. They are never written anywhere. The zero value is
// ready. It is safe for many goroutines.
type Secrets struct {
	mu    sync.Mutex
	turns map[string][]string
}

func (s *Secrets) add(turn, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns == nil {
		s.turns = map[string][]string{}
	}
	s.turns[turn] = append(s.turns[turn], secret)
}

// Forget removes the secrets of a turn that has ended.
func (s *Secrets) Forget(turn string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.turns, turn)
}

// spellings returns the secrets in the forms in which a text may have them: plain, and as in a printed
// plist.
func (s *Secrets) spellings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, secrets := range s.turns {
		for _, secret := range secrets {
			all = append(all, secret)
			if printed := plist.Print(plist.String(secret)); printed[1:len(printed)-1] != secret {
				all = append(all, printed[1:len(printed)-1])
			}
		}
	}
	return all
}

// redacted replaces a secret.
const redacted = "REDACTED"

// Hide returns the text without the secrets that people gave to running turns. All text that is
// journalled, logged, shown or sent to a model goes through it.
func (s *Secrets) Hide(text string) string {
	for _, secret := range s.spellings() {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	return text
}

// HideJSON is Hide for JSON.
func (s *Secrets) HideJSON(raw []byte) []byte {
	for _, secret := range s.spellings() {
		if quoted, err := json.Marshal(secret); err == nil {
			raw = []byte(strings.ReplaceAll(string(raw), string(quoted[1:len(quoted)-1]), redacted))
		}
	}
	return raw
}

// HideIn is Hide for every string in a proposal. A skill's own functions may use a secret, but the
// actions that it proposes do not have it.
func (s *Secrets) HideIn(x sexp.Sexp) sexp.Sexp {
	switch x := x.(type) {
	case sexp.List:
		list := make(sexp.List, len(x))
		for i := range x {
			list[i] = s.HideIn(x[i])
		}
		return list
	case plist.String:
		return plist.String(s.Hide(string(x)))
	}
	return x
}
