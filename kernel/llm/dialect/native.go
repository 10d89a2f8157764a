package dialect

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/llm"
	"org-agent/kernel/lru"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// Native is the dialect of servers that have functions: the model calls them by the server's own
// notation, and each result is a message of its own. A reply that is only text is the answer.
//
// A request whose note teaches the model to write calls as text is rendered as text, unless Always is
// set: a model that is taught one notation and offered another uses neither well.
type Native struct {
	// Always is set if the person chose this dialect for the model.
	Always bool

	text *Plist
	// functions are the calls of the functions by actions. A long conversation shows the same ones in
	// every request.
	functions *lru.Cache[string, []llm.FunctionCall]
}

// functionsKept is how many bytes of calls are cached.
const functionsKept = 8 << 20

// NewNative returns the dialect.
func NewNative(always bool) *Native {
	return &Native{Always: always, text: NewPlist(), functions: lru.New[string, []llm.FunctionCall](functionsKept)}
}

// Name implements [llm.Dialect].
func (*Native) Name() string { return "native" }

// Render implements [llm.Dialect]. Calls and results stay values, each with its function; a batch becomes
// several. What the kernel adds to a result stands in a message of its own, where no result can forge it.
func (n *Native) Render(request llm.Request) llm.Request {
	if request.TextCalls && !n.Always {
		return n.text.Render(request)
	}
	request.Sections = request.SectionsFor(llm.NotationFunctions)
	if len(request.Tools) > 0 {
		request.Grammar = "" // servers refuse both together
	}
	var ids identifiers
	messages := make([]llm.Message, 0, len(request.Messages))
	for i := range request.Messages {
		m := &request.Messages[i]
		switch {
		case len(m.Calls) > 0:
			messages = append(messages, llm.Message{Role: m.Role, Text: m.Text, Calls: n.calls(m.Calls, &ids), Original: m.Original})
		case m.Outcome != nil:
			if results := n.results(m.Outcome.Results, &ids); len(results) > 0 {
				messages = append(messages, llm.Message{Role: llm.RoleKernel, Outcome: &llm.Outcome{Results: results}})
			}
			if said := remarks(m); said != "" {
				messages = append(messages, llm.Message{Role: llm.RoleUser, Text: said})
			}
		case m.Role == llm.RoleKernel:
			messages = append(messages, llm.Message{Role: llm.RoleUser, Text: m.Text})
		default:
			messages = append(messages, llm.Message{Role: m.Role, Text: m.Text, Images: m.Images})
		}
	}
	request.Messages = alternating(messages)
	return request
}

// Text implements [llm.Dialect].
func (n *Native) Text(m llm.Message) string {
	if len(m.Calls) == 0 && m.Outcome == nil {
		return m.Text
	}
	var b strings.Builder
	b.WriteString(m.Text)
	for _, c := range m.Calls {
		for _, f := range n.functionsOf(c) {
			b.WriteString("\n" + f.Name + f.Arguments)
		}
	}
	for _, r := range n.results(m.Results(), new(identifiers)) {
		b.WriteString("\n" + r.Call.Function.Name + "\n" + r.Text)
	}
	b.WriteString(remarks(&m))
	return strings.TrimPrefix(b.String(), "\n")
}

// calls returns calls as calls of functions.
func (n *Native) calls(calls []llm.Call, ids *identifiers) (all []llm.Call) {
	for _, c := range calls {
		for _, f := range n.functionsOf(c) {
			f.ID = ids.next(f)
			all = append(all, llm.Call{ID: c.ID, Action: c.Action, Function: &f})
		}
	}
	return all
}

// results returns a result for each function that was called. Their Text is all that a model is sent.
func (n *Native) results(results []llm.Result, ids *identifiers) (all []llm.Result) {
	for _, r := range results {
		functions := n.functionsOf(r.Call)
		for i, f := range functions {
			f.ID = ids.result(f)
			one := llm.Result{Call: llm.Call{ID: r.Call.ID, Action: r.Call.Action, Function: &f}, Verdict: r.Verdict, Text: r.Text, Failure: r.Failure}
			if i < len(r.Parts) {
				part := r.Parts[i]
				one.Verdict, one.Text, one.Failure = part.Verdict, part.Text, part.Failure
				f.Name = llm.FunctionName(part.Tool)
			}
			one.Text = outcome(one)
			all = append(all, one)
		}
	}
	return all
}

// outcome returns the text of a result, with the kind of its error in front.
func outcome(r llm.Result) string {
	if r.Failure == nil {
		if r.Text == "" {
			return "done"
		}
		return r.Text
	}
	text := r.Verdict + " (" + r.Failure.Code
	if r.Failure.Retryable {
		text += ", the same call may succeed later"
	}
	return text + "): " + r.Text
}

// remarks returns what the kernel and hooks add to the results in a message.
func remarks(m *llm.Message) string {
	var all []string
	hooks := func(added []llm.Addition) {
		for _, a := range added {
			all = append(all, fmt.Sprintf("The user's hook %s adds:\n%s", a.From, a.Text))
		}
	}
	for _, r := range m.Results() {
		if len(r.Parts) > 0 && r.Failure != nil {
			all = append(all, "The calls together: "+outcome(r))
		}
		hooks(r.Added)
		if r.Note != "" {
			all = append(all, "The kernel says: "+r.Note)
		}
	}
	if m.Outcome != nil {
		hooks(m.Outcome.Added)
	}
	return strings.Join(all, "\n\n")
}

// functionsOf returns an action as calls of functions, without ids.
func (n *Native) functionsOf(c llm.Call) []llm.FunctionCall {
	if c.Function != nil {
		f := *c.Function
		f.Name, f.Arguments = llm.FunctionName(strings.TrimSpace(f.Name)), object(f.Arguments)
		return []llm.FunctionCall{f}
	}
	if known, ok := n.functions.Get(c.Action); ok {
		return known
	}
	functions := functionsOf(c.Action)
	size := len(c.Action)
	for _, f := range functions {
		size += len(f.Name) + len(f.Arguments)
	}
	n.functions.Put(c.Action, functions, size)
	return functions
}

// functionsOf returns an action as calls of functions: the calls of tools that it consists of, or itself.
// An action that cannot be read is a call of a function that is not offered, with its text.
func functionsOf(action string) []llm.FunctionCall {
	x, err := plist.Read(action)
	list, ok := x.(sexp.List)
	var written protocol.Arguments
	if err == nil && ok {
		err = plist.Unmarshal(list, &written)
	}
	fields := protocol.Object(written)
	if err != nil || !ok {
		return []llm.FunctionCall{{Name: "action", Arguments: arguments(protocol.Object{{Key: "text", Value: action}})}}
	}
	if payload, ok := fields.Get("payload").(protocol.Object); ok {
		for _, f := range payload {
			fields.Set(f.Key, f.Value)
		}
		fields.Remove("payload")
	}
	if calls, ok := fields.Get("calls").([]any); ok {
		var all []llm.FunctionCall
		for _, item := range calls {
			if one, ok := item.(protocol.Object); ok {
				all = append(all, called(one))
			}
		}
		if len(all) > 0 {
			return all
		}
	}
	if fields.Text("tool") != "" {
		return []llm.FunctionCall{called(fields)}
	}
	name := fields.Remove("type")
	if target := fields.Remove("target"); target != "" {
		name = target
	}
	if action := fields.Remove("action"); action != "" {
		name += "_" + action
	}
	return []llm.FunctionCall{{Name: llm.FunctionName(name), Arguments: arguments(fields)}}
}

// called returns the call of a tool with these fields.
func called(fields protocol.Object) llm.FunctionCall {
	args, _ := fields.Get("args").(protocol.Object)
	return llm.FunctionCall{Name: llm.FunctionName(fields.Text("tool")), Arguments: arguments(args)}
}

// arguments returns fields as a JSON object.
func arguments(fields protocol.Object) string {
	text, err := json.Marshal(fields)
	if err != nil || len(fields) == 0 {
		return "{}"
	}
	return string(text)
}

// object returns arguments as a JSON object. Servers refuse a conversation in which a call has anything
// else, also if the model wrote it.
func object(written string) string {
	var fields map[string]json.RawMessage
	if strings.TrimSpace(written) == "" {
		return "{}"
	}
	if json.Unmarshal([]byte(written), &fields) != nil || fields == nil {
		return arguments(protocol.Object{{Key: "unreadable", Value: written}})
	}
	return written
}

// identifiers makes the ids by which servers link calls and results. An id depends on what is called and
// on how often that was called before, so a longer conversation begins with the same ones, and no two
// calls have the same. Every server accepts nine letters and digits, and Mistral's nothing else. The zero
// value is ready.
type identifiers struct {
	count map[string]int  // of equal calls so far
	used  map[string]bool // the ids so far
	open  []string        // the ids of calls whose results have not come
}

// next returns the id of a further call.
func (ids *identifiers) next(f llm.FunctionCall) string {
	id := ids.of(f)
	ids.open = append(ids.open, id)
	return id
}

// result returns the id of the call of the next result. Results come in the order of their calls.
func (ids *identifiers) result(f llm.FunctionCall) string {
	if len(ids.open) == 0 {
		return ids.of(f)
	}
	id := ids.open[0]
	ids.open = ids.open[1:]
	return id
}

func (ids *identifiers) of(f llm.FunctionCall) string {
	key := f.Name + f.Arguments
	if ids.count == nil {
		ids.count, ids.used = map[string]int{}, map[string]bool{}
	}
	id := f.ID
	for ids.count[key]++; id == "" || ids.used[id]; ids.count[key]++ {
		hash := sha256.Sum256(fmt.Appendf(nil, "%d %s", ids.count[key], key))
		id = strings.ToLower(base32.StdEncoding.EncodeToString(hash[:])[:9])
	}
	ids.used[id] = true
	return id
}
