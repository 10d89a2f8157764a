package skill

import (
	"context"
	"errors"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
)

// probeEvent is an event that never occurs. A trigger that accepts it accepts everything.
var probeEvent = sexp.List{
	plist.Keyword("type"), plist.Keyword("event"),
	plist.Keyword("payload"), sexp.List{plist.Keyword("sensor"), plist.Keyword("probe")},
}

// probe calls each trigger once. An error is a warning, because it counts as false for events. A
// trigger that does not end is a fault.
func (n *Note) probe(ctx context.Context) []Diagnostic {
	for _, k := range n.skills {
		if k.trigger == nil {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, triggerTime)
		o := &invocation{purpose: purposeTrigger}
		err := n.apply(limited, o, k.trigger, lisp.NewData(probeEvent))
		cancel()
		if err == nil {
			k.catchAll = o.isTrue
			continue
		}
		d := n.diagnose(k.line, err)
		d.Message = "the trigger of the skill " + k.Name + " fails for an event it does not know: " + d.Message
		var fault *lisp.Error
		if errors.As(err, &fault) && (fault.Limit() || fault.Class == undefinedFunction) {
			return []Diagnostic{d}
		}
		d.Warning = true
		n.Diagnostics = append(n.Diagnostics, d)
	}
	return nil
}
