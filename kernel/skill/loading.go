package skill

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"

	"org-agent/kernel/lisp"
	"org-agent/kernel/org"
)

// load makes the environment and loads the blocks that are not tests. It goes on behind a form that
// fails, so that one look shows all faults. A fault that follows from another is left out.
func (n *Note) load(ctx context.Context) []Diagnostic {
	if err := n.makeEnvironment(ctx); err != nil {
		return []Diagnostic{{File: n.File, Line: 1, Column: 1, Message: err.Error()}}
	}
	var failed []failure
	for i := range n.blocks {
		if !n.blocks[i].Test {
			failed = append(failed, n.loadForms(ctx, i)...)
		}
		if ctx.Err() != nil || slices.ContainsFunc(failed, failure.limit) {
			break
		}
	}
	if len(failed) > 0 && (ctx.Err() != nil || slices.ContainsFunc(failed, failure.limit)) {
		return n.diagnostics(failed)
	}
	warnings := n.Diagnostics
	faults := n.problems(ctx)
	if len(failed) == 0 {
		if len(faults) == 0 {
			faults = n.probe(ctx)
			n.warnOfPriorities()
		}
		return faults
	}
	n.Diagnostics = warnings // those about names may only follow from what failed
	told := n.diagnostics(failed)
	faults = slices.DeleteFunc(faults, func(d Diagnostic) bool {
		return n.follows(d.Message) || slices.ContainsFunc(told, func(t Diagnostic) bool { return t.Line == d.Line })
	})
	return append(told, faults...)
}

// independentFaults returns the faults of the loaded blocks that do not follow from faults of the text. A name may
// be unknown because a block or a capability is not there.
func (n *Note) independentFaults(text, loaded []Diagnostic) []Diagnostic {
	return slices.DeleteFunc(loaded, func(d Diagnostic) bool {
		return unknownName.MatchString(d.Message) || strings.Contains(d.Message, "needs the capability") ||
			slices.ContainsFunc(text, func(t Diagnostic) bool { return t.Line == d.Line })
	})
}

// failure is a form that failed.
type failure struct {
	Diagnostic
	fault *lisp.Error
}

func (f failure) limit() bool { return f.fault != nil && f.fault.Limit() }

// unknownName matches the message about a name that is not defined.
var unknownName = regexp.MustCompile(`(?i)the (?:function|variable) (\S+) is (?:not defined|undefined|unbound)`)

// follows reports whether a fault is about a name that the note means to define, in a form that failed
// or could not be read.
func (n *Note) follows(message string) bool {
	found := unknownName.FindStringSubmatch(message)
	if found == nil {
		return false
	}
	definition := regexp.MustCompile(`(?i)\(def\S*\s+\(?` + regexp.QuoteMeta(found[1]) + `[\s()]`)
	return slices.ContainsFunc(n.blocks, func(b org.SkillBlock) bool { return definition.MatchString(b.Body) })
}

func (n *Note) diagnostics(failed []failure) (all []Diagnostic) {
	for _, f := range failed {
		unknown := f.fault != nil && (f.fault.Class == undefinedFunction || f.fault.Class == "UNBOUND-VARIABLE")
		if unknown && (n.follows(f.Message) || slices.ContainsFunc(all, func(d Diagnostic) bool { return d.Line == f.Line })) {
			continue
		}
		all = append(all, f.Diagnostic)
	}
	return all
}

// loadForms loads the forms of one block.
func (n *Note) loadForms(ctx context.Context, i int) (failed []failure) {
	b := &n.blocks[i]
	n.block = b
	defer func() { n.block = nil }()
	faults, err := n.environment.For(&invocation{purpose: purposeLoad}).LoadAll(ctx, b.Body, n.File, n.lineOf(i))
	for _, f := range faults {
		one := failure{Diagnostic: hintEscapedQuote(n.diagnose(b.Line, n.mapPlace(f)), *b)}
		one.fault, _ = errors.AsType[*lisp.Error](f)
		failed = append(failed, one)
	}
	if err != nil && len(failed) == 0 {
		failed = append(failed, failure{Diagnostic: n.diagnose(b.Line, err)})
	}
	return failed
}
