package agent

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
)

// secrets are what people gave to running turns as secret answers. They are never written anywhere.
// The zero value is ready.
type secrets struct {
	mu    sync.Mutex
	turns map[string][]string
}

func (s *secrets) keep(turn, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turns == nil {
		s.turns = map[string][]string{}
	}
	s.turns[turn] = append(s.turns[turn], secret)
}

// forget is called when the turn has ended.
func (s *secrets) forget(turn string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.turns, turn)
}

// spellings are the secrets as they would stand in a text, as they are and in a plist.
func (s *secrets) spellings() []string {
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

// redacted stands where a secret would have.
const redacted = "REDACTED"

// Hide returns the text without the secrets that people gave to running turns. Everything that is
// journalled, logged, shown or sent to a model goes through it.
func (a *Agent) Hide(text string) string {
	if a == nil { // notes log while they are loaded, which is before there is an agent
		return text
	}
	for _, secret := range a.secrets.spellings() {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	return text
}

// hideJSON is Hide for JSON.
func (a *Agent) hideJSON(raw []byte) []byte {
	for _, secret := range a.secrets.spellings() {
		if quoted, err := json.Marshal(secret); err == nil {
			raw = []byte(strings.ReplaceAll(string(raw), string(quoted[1:len(quoted)-1]), redacted))
		}
	}
	return raw
}

// hideIn is Hide for every string in a proposal. A skill may use a secret in its own functions; an
// action that it proposes does not have it.
func (a *Agent) hideIn(x sexp.Sexp) sexp.Sexp {
	switch x := x.(type) {
	case sexp.List:
		list := make(sexp.List, len(x))
		for i := range x {
			list[i] = a.hideIn(x[i])
		}
		return list
	case plist.String:
		return plist.String(a.Hide(string(x)))
	}
	return x
}
