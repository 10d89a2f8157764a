package skill

import (
	"context"
	"errors"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
)

// answer returns the action that answers event with a text. The kernel uses it for a reply in
// prose.
func (n *Note) answer(event sexp.List, text string) sexp.List {
	specs := n.options.Specs()
	payload, _ := plist.Get(event, "payload")
	return specs.Answer(specs.RouteOf(payload), text).List()
}

// defined returns the kinds of actions that notes define, as far as the note knows them.
func (n *Note) defined() action.Specs {
	own := specsOf(n.actions)
	if n.options.defined != nil {
		return append(own, n.options.defined()...)
	}
	return own
}

// actionDelivery implements (action-delivery ACTION CONTEXT).
func actionDelivery(_ context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	proposed, err := lisp.ToSexp(args[0])
	if err != nil {
		return lisp.Nil, nil // a value that is not data is not an action
	}
	event, err := lisp.ToSexp(args[1])
	if err != nil {
		return nil, errors.New("the second argument is the event that is answered")
	}
	list, _ := proposed.(sexp.List)
	payload, _ := plist.Get(event, "payload")
	a, specs := action.Propose(list).Action(), n.options.Specs()
	route := specs.RouteOf(payload)
	delivery := specs.Delivery(route, a)
	if delivery == "" {
		delivery = n.defined().Delivery(route, a)
	}
	if delivery == "" {
		return lisp.Nil, nil
	}
	return call.Keyword(strings.ToUpper(string(delivery))), nil
}
