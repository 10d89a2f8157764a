package skill

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
)

// Recording is a turn of the journal that a test replays.
type Recording struct {
	// Event is the event that the skill received.
	Event sexp.List
	// Replies are the model's replies in order.
	Replies []string
	// Action is the turn's answer after the skill and the policy had checked it.
	Action sexp.List
}

// expandReplay makes the body of a test. A body that begins with (:turn "ID") has the parts of that
// turn in the variables EVENT, REPLIES and ACTION. Without other forms, the test checks that the
// event and the replies lead to the same action again.
func expandReplay(call *lisp.Call, body []lisp.Value) ([]lisp.Value, error) {
	if len(body) == 0 {
		return body, nil
	}
	options, ok := body[0].(*lisp.Cons)
	if !ok {
		return body, nil
	}
	if key, ok := options.Car.(*lisp.Symbol); !ok || !key.Keyword() {
		return body, nil
	}
	items, proper := lisp.Slice(options, 16)
	if !proper || len(items) != 2 || items[0] != call.Keyword("TURN") {
		return nil, errors.New("the options of a test are (:turn \"ID\")")
	}
	event, replies, action := call.Symbol("EVENT"), call.Symbol("REPLIES"), call.Symbol("ACTION")
	body = body[1:]
	if len(body) == 0 {
		body = []lisp.Value{lisp.NewList(call.Symbol("PROPOSES"), event, action, call.Keyword("REPLY"), replies)}
	}
	recording := call.Symbol("%RECORDED")
	bindings := lisp.NewList(
		lisp.NewList(event, lisp.NewList(recording, items[1], call.Keyword("EVENT"))),
		lisp.NewList(replies, lisp.NewList(recording, items[1], call.Keyword("REPLIES"))),
		lisp.NewList(action, lisp.NewList(recording, items[1], call.Keyword("ACTION"))))
	ignorable := lisp.NewList(call.Symbol("DECLARE"), lisp.NewList(call.Symbol("IGNORABLE"), event, replies, action))
	return []lisp.Value{lisp.NewList(append([]lisp.Value{call.Symbol("LET"), bindings, ignorable}, body...)...)}, nil
}

// recorded returns a part of a turn of the journal.
func recorded(ctx context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	id, ok := args[0].(*lisp.String)
	part, isSymbol := args[1].(*lisp.Symbol)
	if !ok || !isSymbol {
		return nil, errors.New("the :turn of a test is a string, the turn's id")
	}
	if n.options.Recorded == nil {
		return nil, errors.New("there is no journal here to replay a turn from")
	}
	recording, err := n.options.Recorded(ctx, id.String())
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	switch strings.ToLower(part.Name()) {
	case "event":
		return call.Environment().FromSexp(recording.Event)
	case "action":
		return call.Environment().FromSexp(recording.Action)
	}
	var replies []lisp.Value
	for _, reply := range recording.Replies {
		replies = append(replies, lisp.NewString(reply))
	}
	return lisp.NewList(replies...), nil
}
