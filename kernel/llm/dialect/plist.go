package dialect

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/llm"
	"org-agent/kernel/lru"
	"org-agent/kernel/plist"
	"org-agent/kernel/text"
)

// Plist is the dialect in which everything is text: the model writes a call as a property list, and
// reads the result in a message of the user, between two lines that it does not contain. Any model
// understands it.
//
// A call stands in the history as the system prompt teaches it, with all fields in one list. Models
// imitate what they see of themselves.
type Plist struct {
	// results are the texts of messages with an outcome, and calls those of actions. A long conversation
	// has many, and shows them again in every request.
	results *lru.Cache[*llm.Outcome, string]
	calls   *lru.Cache[string, string]
}

// Constrained is the same for servers that hold a reply to a grammar. The grammar is in the request. Schema is the
// dialect in its place for servers that take a JSON Schema and no grammar.
type Constrained struct {
	*Plist
	Schema Structured
}

// UnderSchema returns the dialect for a server that takes a JSON Schema.
func (c Constrained) UnderSchema() llm.Dialect { return c.Schema }

// Name implements [llm.Dialect].
func (Constrained) Name() string { return "constrained" }

// resultsKept and callsKept are how many bytes of rendered results and calls are cached.
const (
	resultsKept = 16 << 20
	callsKept   = 8 << 20
)

// NewPlist returns the dialect.
func NewPlist() *Plist {
	return &Plist{results: lru.New[*llm.Outcome, string](resultsKept), calls: lru.New[string, string](callsKept)}
}

// Name implements [llm.Dialect].
func (*Plist) Name() string { return "plist" }

// Render implements [llm.Dialect]. The system prompt offers the tools.
func (p *Plist) Render(request llm.Request) llm.Request {
	request.Tools = nil
	request.Sections = request.SectionsFor(llm.NotationText)
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
		return p.textOf(m)
	}
	if known, ok := p.results.Get(m.Outcome); ok {
		return known
	}
	text := p.textOf(m)
	p.results.Put(m.Outcome, text, len(text))
	return text
}

// textOf returns the text of a message followed by its values, separated by empty lines. A text beside calls
// is left out: the model is taught to write a call with nothing before or after it.
func (p *Plist) textOf(m llm.Message) string {
	var b strings.Builder
	if len(m.Calls) == 0 {
		b.WriteString(m.Text)
	}
	apart := func() {
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
	}
	for _, c := range m.Calls {
		apart()
		b.WriteString(p.written(c))
	}
	if m.Outcome == nil {
		return b.String()
	}
	groups := make([][]block, 0, len(m.Outcome.Results)+1)
	for _, r := range m.Outcome.Results {
		groups = append(groups, append(resultBlocks(r), hookBlocks(r.Added)...))
	}
	groups = append(groups, hookBlocks(m.Outcome.Added))
	mark := markFor(slices.Concat(groups...))
	for i, group := range groups {
		if len(group) == 0 {
			continue
		}
		apart()
		for _, one := range group {
			one.write(&b, mark)
		}
		if i < len(m.Outcome.Results) {
			b.WriteString(behind(m.Outcome.Results[i]))
		} else {
			b.WriteString("This is what hooks of the user's notes add, not a message of the user. Answer the user.")
		}
	}
	return b.String()
}

// written returns a call in the form that the model is taught. One that is no action was written in another
// notation.
func (p *Plist) written(c llm.Call) string {
	if c.Action == "" && c.Function != nil {
		return c.Function.Name + " " + c.Function.Arguments
	}
	if known, ok := p.calls.Get(c.Action); ok {
		return known
	}
	text := flat(c.Action)
	p.calls.Put(c.Action, text, len(text)+len(c.Action))
	return text
}

// flat returns an action with the fields of its payload beside its type. An action that cannot be read, or
// whose payload has a field that stands there already, is returned unchanged.
func flat(action string) string {
	x, err := plist.Read(action)
	list, ok := x.(sexp.List)
	if err != nil || !ok || len(list)%2 != 0 {
		return action
	}
	beside, fields, seen := sexp.List{}, sexp.List{}, map[string]bool{}
	for i := 0; i < len(list); i += 2 {
		name := strings.ToLower(plist.Print(list[i]))
		if payload, is := list[i+1].(sexp.List); is && name == ":payload" && len(payload)%2 == 0 {
			fields = payload
			continue
		}
		beside, seen[name] = append(beside, list[i], list[i+1]), true
	}
	for i := 0; i < len(fields); i += 2 {
		if seen[strings.ToLower(plist.Print(fields[i]))] {
			return action
		}
	}
	return plist.Print(append(beside, fields...))
}

// block is a text that is data, with a line that says whose it is.
type block struct{ what, text string }

// resultBlocks returns the texts of a result: one, or one for each call of a batch.
func resultBlocks(r llm.Result) (all []block) {
	for i, part := range r.Parts {
		all = append(all, block{fmt.Sprintf("result %d of %d, of %s: %s", i+1, len(r.Parts), text.Line(part.Tool), verdict(part.Verdict, part.Failure)), part.Text})
	}
	if len(r.Parts) == 0 || r.Failure != nil {
		all = append(all, block{"result" + of(r.Call) + ": " + verdict(r.Verdict, r.Failure), r.Text})
	}
	return all
}

// of names what was called: the tool, or the target of another action; "" if it cannot be read.
func of(c llm.Call) string {
	if c.Action == "" && c.Function != nil {
		return " of " + text.Line(c.Function.Name)
	}
	x, _ := plist.Read(flat(c.Action)) // one that cannot be read has no fields
	for _, field := range [...]string{"tool", "target"} {
		if name, ok := plist.Get(x, field); ok {
			return " of " + text.Line(strings.Trim(plist.Print(name), `:"`))
		}
	}
	return ""
}

// hookBlocks returns the texts that hooks add.
func hookBlocks(added []llm.Addition) (all []block) {
	for _, a := range added {
		all = append(all, block{"added by the user's hook " + text.Line(a.From), a.Text})
	}
	return all
}

// verdict says what became of a call, with the kind of its error.
func verdict(verdict string, f *llm.Failure) string {
	switch {
	case f == nil, f.Code == verdict && !f.Retryable:
		return verdict
	case f.Retryable:
		return verdict + ", " + f.Code + ", the same call may succeed later"
	}
	return verdict + ", " + f.Code
}

// write writes the block between two lines with the mark. The text stands there exactly as it is.
func (b block) write(to *strings.Builder, mark string) {
	fmt.Fprintf(to, "--- %s %s ---\n%s", mark, b.what, b.text)
	if b.text != "" && !strings.HasSuffix(b.text, "\n") {
		to.WriteByte('\n')
	}
	fmt.Fprintf(to, "--- %s end ---\n", mark)
}

// markFor returns a word that is in none of the blocks, so none can contain what looks like its end. It depends
// only on them: the same results are always the same bytes.
func markFor(blocks []block) string {
	seed := sha256.New()
	for _, b := range blocks {
		fmt.Fprintf(seed, "%q %q ", b.what, b.text)
	}
	return text.Mark(seed, func(mark string) bool {
		return slices.ContainsFunc(blocks, func(b block) bool { return strings.Contains(b.what, mark) || strings.Contains(b.text, mark) })
	})
}

// behind returns the kernel's own line after a result, behind the mark of its end.
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
