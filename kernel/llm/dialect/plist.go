package dialect

import (
	"github.com/chewxy/sexp"

	"org-agent/kernel/llm"
	"org-agent/kernel/lru"
	"org-agent/kernel/plist"
)

// Plist is the dialect in which everything is text: the model writes a call as a property list, and
// reads the result as a property list in a message of the user. Any model understands it.
type Plist struct {
	// results are the texts of messages with an outcome. A long conversation has many, and shows them
	// again in every request.
	results *lru.Cache[*llm.Outcome, string]
}

// resultsKept is how many bytes of rendered results are cached.
const resultsKept = 16 << 20

// NewPlist returns the dialect.
func NewPlist() *Plist {
	return &Plist{results: lru.New[*llm.Outcome, string](resultsKept)}
}

// Name implements [llm.Dialect].
func (*Plist) Name() string { return "plist" }

// Render implements [llm.Dialect]. The system prompt offers the tools.
func (p *Plist) Render(request llm.Request) llm.Request {
	request.Tools = nil
	messages := make([]llm.Message, len(request.Messages))
	for i := range request.Messages {
		m, rendered := &request.Messages[i], &messages[i]
		rendered.Role, rendered.Text, rendered.Images = m.Role, m.Text, m.Images
		if m.NeedsDialect() {
			rendered.Text = p.Text(*m)
		}
		if m.Role == llm.RoleKernel {
			rendered.Role = llm.RoleUser
		}
	}
	request.Messages = alternating(messages)
	return request
}

// Text implements [llm.Dialect].
func (p *Plist) Text(m llm.Message) string {
	switch {
	case m.Outcome == nil && len(m.Calls) == 0:
		return m.Text
	case m.Outcome == nil:
		return textOf(m)
	}
	if known, ok := p.results.Get(m.Outcome); ok {
		return known
	}
	text := textOf(m)
	p.results.Put(m.Outcome, text, len(text))
	return text
}

// textOf returns the text of a message followed by its values, separated by empty lines.
func textOf(m llm.Message) string {
	text := m.Text
	add := func(more string) {
		if text != "" {
			text += "\n\n"
		}
		text += more
	}
	for _, c := range m.Calls {
		add(c.Action)
	}
	for _, r := range m.Results() {
		add(plist.Print(sexp.List{plist.Keyword("result"), result(r)}) + "\n" + behind(r))
	}
	if m.Outcome != nil && len(m.Outcome.Added) > 0 {
		add(plist.Print(sexp.List{plist.Keyword("hooks"), additions(m.Outcome.Added)}) +
			"\nThis is what hooks of the user's notes add, not a message of the user. Answer the user.")
	}
	return text
}

// result returns a result as a property list. None of its texts can end the list.
func result(r llm.Result) sexp.List {
	list := sexp.List{
		plist.Keyword("action"), plist.String(r.Call.Action),
		plist.Keyword("verdict"), plist.Keyword(r.Verdict),
		plist.Keyword("text"), plist.String(r.Text),
	}
	list = append(list, failure(r.Failure)...)
	if len(r.Parts) > 0 {
		parts := make(sexp.List, len(r.Parts))
		for i, part := range r.Parts {
			parts[i] = append(sexp.List{
				plist.Keyword("tool"), plist.String(part.Tool), plist.Keyword("verdict"), plist.Keyword(part.Verdict),
				plist.Keyword("text"), plist.String(part.Text),
			}, failure(part.Failure)...)
		}
		list = append(list, plist.Keyword("calls"), parts)
	}
	if len(r.Added) > 0 {
		list = append(list, plist.Keyword("hooks"), additions(r.Added))
	}
	return list
}

// failure returns an error as properties to stand beside its text, or nothing without an error.
func failure(f *llm.Failure) sexp.List {
	if f == nil {
		return nil
	}
	var again sexp.Sexp = sexp.List{}
	if f.Retryable {
		again = plist.T
	}
	return sexp.List{plist.Keyword("error"), plist.T, plist.Keyword("code"), plist.Keyword(f.Code), plist.Keyword("retryable"), again}
}

func additions(all []llm.Addition) sexp.List {
	list := make(sexp.List, len(all))
	for i, a := range all {
		list[i] = sexp.List{plist.Keyword("hook"), plist.String(a.From), plist.Keyword("text"), plist.String(a.Text)}
	}
	return list
}

// behind returns the kernel's own line after a result. Nothing of the result can stand there,
// because the result is all on the line before.
func behind(r llm.Result) string {
	const what = "This is a result, not a message of the user. "
	switch {
	case r.Last:
		return what + r.Note
	case r.Note != "":
		return what + r.Note + " Go on, or answer the user now."
	}
	return what + "Go on, or answer the user now."
}
