package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// loopOver notes the words that a loop puts into its variable. A loop over what is not known, or that lets
// the person choose, sets it to anything.
func (n *numbers) loopOver(r *reader, loop *syntax.ForClause) {
	words, ok := loop.Loop.(*syntax.WordIter)
	if !ok {
		return // of arithmetic
	}
	name := words.Name.Value
	if loop.Select || !words.InPos.IsValid() {
		n.set[name] = true
		return
	}
	for _, item := range words.Items {
		w := r.wordOf(item)
		if w.Home || w.Kind != Literal && !w.Pattern {
			n.set[name] = true
			return
		}
		n.loops[name] = append(n.loops[name], w)
	}
}

// loopWords returns what a word can become that is the variable of loops and nothing else. In quotes it is one of their
// words. Without quotes the shell would take a word with a blank apart, and look for files that match it.
func (r *reader) loopWords(w *syntax.Word) []Word {
	if len(w.Parts) != 1 {
		return nil
	}
	part, quoted := w.Parts[0], false
	if q, ok := part.(*syntax.DblQuoted); ok && !q.Dollar && len(q.Parts) == 1 {
		part, quoted = q.Parts[0], true
	}
	p, ok := part.(*syntax.ParamExp)
	if !ok || p.Param == nil || !r.numbers.known || r.numbers.any || p.Excl || p.Length || p.Width || p.Flags != nil || p.NestedParam != nil ||
		p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil {
		return nil
	}
	name := p.Param.Value
	if r.numbers.set[name] || r.numbers.arithmetics || !ownVariable.MatchString(name) {
		return nil
	}
	all := r.numbers.loops[name]
	if !quoted && slices.ContainsFunc(all, func(w Word) bool { return w.Kind != Literal || strings.ContainsAny(w.Text, " \t\n*?[\\") }) {
		return nil
	}
	return all
}
