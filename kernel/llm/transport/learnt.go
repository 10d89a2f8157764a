package transport

import (
	"slices"
	"strings"
	"sync"

	"org-agent/kernel/llm"
)

// learntLimit is of how many models something is kept. A router lists some thousands.
const learntLimit = 10_000

// Learnt is what a server has shown of its models while it was asked, by their names. The zero value is ready. It is
// safe for many goroutines. Of more than 10,000 models nothing is kept.
type Learnt[V any] struct {
	mu    sync.Mutex
	known map[string]V
}

// Of returns what is known of a model, or the zero value.
func (l *Learnt[V]) Of(model string) V {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[model]
}

// Set keeps what a model is like.
func (l *Learnt[V]) Set(model string, value V) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[string]V{}
	}
	if _, known := l.known[model]; known || len(l.known) < learntLimit {
		l.known[model] = value
	}
}

// RefusedField returns which of the fields that a request had its server says that it does not take, "" if it says so
// of none. Servers have no code for it, and name the field.
func RefusedField(failure *llm.Error, fields ...string) string {
	if failure.Class != llm.ClassBadRequest {
		return ""
	}
	message := strings.ToLower(failure.Message)
	if !slices.ContainsFunc([]string{"unsupported", "not supported", "does not support", "unrecognized", "unknown", "not permitted", "extra_forbidden", "not allowed", "unexpected"},
		func(words string) bool { return strings.Contains(message, words) }) {
		return ""
	}
	found, at := "", len(message)
	for _, field := range fields { // the first that it names: it may name another that does
		if i := wordIndex(message, field); i >= 0 && i < at {
			found, at = field, i
		}
	}
	return found
}

// wordIndex returns where a word stands in a text by itself, -1 if it does not.
func wordIndex(text, word string) int {
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return -1
		}
		at += from
		from = at + len(word)
		if (at == 0 || !isWord(text[at-1])) && (from == len(text) || !isWord(text[from])) {
			return at
		}
	}
}

func isWord(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
