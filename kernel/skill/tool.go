package skill

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
	"org-agent/kernel/text"
)

// Tool is a tool that a note defines with def-cognitive-tool: what a model is told of it, and the
// functions of the note that guard and perform a call. Its fields do not change.
type Tool struct {
	// Name has small letters, digits, hyphens and underscores.
	Name string
	// Does says what the tool is for.
	Does string
	// Parameters are its arguments, in the order of the note.
	Parameters []Parameter
	// File is the note, as diagnostics name it.
	File string
	Line int
	// Digest identifies the code of the note and what it was granted.
	Digest string

	note        *Note
	guard, body lisp.Value // guard is nil if there is none
}

// ToolStatus describes one tool of a note.
type ToolStatus struct {
	Name string `json:"name"`
	Does string `json:"does"`
}

// maximumTools is how many tools a note may define.
const maximumTools = 32

// toolKeys are the keys of def-cognitive-tool, with those that the description may have.
var toolKeys = []string{"description", "parameters", "guard", "body"}

// expandTool turns both forms of def-cognitive-tool into a call. The parameters stand behind
// :parameters or directly behind the description.
func expandTool(call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	name, err := toolName(args[0])
	if err != nil {
		return nil, err
	}
	rest, values := args[1:], map[string]lisp.Value{}
	if len(rest) > 0 {
		if description, ok := rest[0].(*lisp.String); ok {
			values["description"], rest = description, rest[1:]
		}
	}
	if len(rest) > 0 {
		if key, ok := rest[0].(*lisp.Symbol); !ok || !key.Keyword() {
			values["parameters"], rest = rest[0], rest[1:]
		}
	}
	for i := 0; i < len(rest); i += 2 {
		key, ok := rest[i].(*lisp.Symbol)
		word := ""
		if ok {
			word = strings.ToLower(key.Name())
		}
		switch {
		case !ok || !key.Keyword() || !slices.Contains(toolKeys, word):
			return nil, fmt.Errorf("the tool %s: def-cognitive-tool has the keys :%s%s", name, strings.Join(toolKeys, " :"), suggestKey(word, toolKeys))
		case i+1 == len(rest):
			return nil, fmt.Errorf("the last key of the tool %s has no value", name)
		case values[word] != nil:
			return nil, fmt.Errorf("the tool %s has two values for :%s", name, word)
		}
		values[word] = rest[i+1]
	}
	for _, word := range []string{"description", "body"} {
		if values[word] == nil {
			return nil, fmt.Errorf(`the tool %s has no %s; it is written as (def-cognitive-tool :%s "What it does." :parameters ((:text :type :string :required t)) :body (lambda (args) …))`, name, map[string]string{"description": "description", "body": ":body"}[word], name)
		}
	}
	form := []lisp.Value{call.Symbol("%REGISTER-TOOL"), lisp.NewString(name)}
	for _, word := range toolKeys {
		value := values[word]
		switch {
		case value == nil:
			value = lisp.Nil
		case word == "parameters" && !isForm(value):
			value = quoted(call, value)
		}
		form = append(form, value)
	}
	return lisp.NewList(form...), nil
}

var validToolName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`)

func toolName(v lisp.Value) (string, error) {
	name, err := nameOf(v)
	if err != nil {
		return "", fmt.Errorf("the name of a tool: %w", err)
	}
	if !validToolName.MatchString(name) {
		return "", fmt.Errorf("%q is no name for a tool: small letters, digits, hyphens and underscores, 64 at most, a letter first", name)
	}
	return name, nil
}

// registerTool adds a tool whose keys were evaluated, in the order of toolKeys.
func registerTool(_ context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	name, err := toolName(args[0])
	if err != nil {
		return nil, err
	}
	t := &Tool{Name: name, File: n.File, Digest: n.digest(), note: n}
	t.Line = n.definitionLine("def-cognitive-tool", name)
	if err := t.define(args[1], args[2], args[3], args[4]); err != nil {
		return nil, fmt.Errorf("the tool %s: %w", name, err)
	}
	if defines, err := defining(call, "def-cognitive-tool"); !defines {
		return args[0], err
	}
	same := func(other string) bool { return sameToolName(other, name) }
	switch {
	case slices.ContainsFunc(n.tools, func(other *Tool) bool { return same(other.Name) }):
		return nil, fmt.Errorf("the note defines the tool %s twice", name)
	case len(n.tools) == maximumTools:
		return nil, fmt.Errorf("the note has more than %d tools", maximumTools)
	case slices.ContainsFunc(n.options.Tools(), same):
		return nil, fmt.Errorf("the kernel has a tool %s; give this one another name, such as %s-%s", name, mendedCommand(n.key), name)
	}
	n.tools = append(n.tools, t)
	return args[0], nil
}

// sameToolName reports whether two names are of the same tool for those who call it.
func sameToolName(a, b string) bool {
	fold := strings.NewReplacer("-", "", "_", "")
	return strings.EqualFold(fold.Replace(a), fold.Replace(b))
}

// define sets the tool from the values of the keys.
func (t *Tool) define(description, parameters, guard, body lisp.Value) (err error) {
	if does, ok := description.(*lisp.String); ok {
		t.Does = text.Clip(text.Line(does.String()), maximumToolDescription)
	}
	if t.Does == "" {
		return errors.New("its description is not a string that says what it does")
	}
	if t.Parameters, err = parametersOf(parameters); err != nil {
		return err
	}
	if guard != lisp.Nil {
		if t.guard, err = functionOf("guard", guard); err != nil {
			return err
		}
	}
	t.body, err = functionOf("body", body)
	return err
}

// maximumToolDescription is how many characters of a description a model is shown.
const maximumToolDescription = 400

// Consult asks the tool's guard about a call. ask is the reason why a person is to be asked, or "".
// The error is the reason why the call is refused. session is the conversation of the call.
func (t *Tool) Consult(ctx context.Context, arguments sexp.List, session string) (ask string, err error) {
	return t.note.consult(ctx, t.guard, arguments, about(session))
}

// Perform calls the body with the arguments, and returns the text for the model. The note may write
// the files that it was granted. The error says where in the note the body failed.
func (t *Tool) Perform(ctx context.Context, arguments sexp.List, session string) (string, error) {
	o := &invocation{purpose: purposeTool, fitting: true}
	if err := t.note.apply(ctx, o, t.body, lisp.NewData(arguments), lisp.NewData(about(session))); err != nil {
		return "", inNote(err)
	}
	if o.unfit != nil {
		return "", fmt.Errorf("it was done, and what came of it is no data: %w", o.unfit)
	}
	return resultText(o.result), nil
}

// Granted returns the capabilities that the note was granted, or nil for none.
func (t *Tool) Granted() []string { return t.note.granted() }

// Injects reports whether the note may inject events, so that a call can do more than compute.
func (t *Tool) Injects() bool { return injection.MatchString(t.note.text) }

var injection = regexp.MustCompile(`(?i)inject-stimulus`)

// status returns the tool for a list.
func (t *Tool) status() ToolStatus { return ToolStatus{Name: t.Name, Does: t.Does} }

// Tools returns the tools that the note defines. The slice is the caller's.
func (n *Note) Tools() []*Tool { return slices.Clone(n.tools) }

// Tools returns the tools that the live notes define, by name. The slice is the caller's.
func (s *Set) Tools() []*Tool {
	if s == nil {
		return nil
	}
	return slices.Clone(s.tools)
}

// assignTools returns the tools of the live notes, by name.
func assignTools(order []*slot) (tools []*Tool) {
	for _, s := range order {
		if s.published {
			tools = append(tools, s.live.tools...)
		}
	}
	slices.SortFunc(tools, func(a, b *Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools
}
