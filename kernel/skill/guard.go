package skill

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
)

// consult calls a guard with data and the context of the call. ask is the reason why a person is to
// be asked, or "". The error is the reason why it is refused. A guard that fails refuses.
func (n *Note) consult(ctx context.Context, guard lisp.Value, data, about sexp.List) (ask string, err error) {
	if guard == nil {
		return "", nil
	}
	o := &invocation{purpose: purposeGuard, fitting: true}
	if err := n.applyQuickly(ctx, o, guard, lisp.NewData(data), lisp.NewData(about)); err != nil {
		return "", fmt.Errorf("its guard failed: %w", err)
	}
	if !o.isTrue {
		return "", errors.New("its guard refuses it")
	}
	answer, ok := o.result.(sexp.List)
	if !ok || len(answer) == 0 {
		return "", nil
	}
	why := ""
	if len(answer) > 1 {
		text, _ := answer[1].(plist.String)
		why = strings.TrimSpace(string(text))
	}
	switch word, _ := answer[0].(plist.Keyword); strings.ToLower(string(word)) {
	case "refuse":
		if why == "" {
			why = "its guard refuses it"
		}
		return "", errors.New(why)
	case "ask":
		if why == "" {
			why = "its guard wants a person to decide"
		}
		return why, nil
	}
	return "", nil
}

// digest identifies what the note's functions do: its code, and what it was granted. An approval
// holds for one digest.
func (n *Note) digest() string {
	if !n.consent.granted {
		return n.Hash
	}
	sum := sha256.Sum256([]byte(n.Hash + " " + strings.Join(n.consent.names(), " ")))
	return hex.EncodeToString(sum[:])
}

// granted returns the capabilities that the note was granted, or nil for none.
func (n *Note) granted() []string {
	if !n.consent.granted {
		return nil
	}
	return n.consent.names()
}

// resultText returns the value that a function of a note returned as a text for the model.
func resultText(result sexp.Sexp) string {
	if text, ok := result.(plist.String); ok {
		return string(text)
	}
	return plist.Print(result)
}
