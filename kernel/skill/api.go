package skill

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
	"org-agent/kernel/lisp/lib"
	"org-agent/kernel/plist"
)

// noteInterface is the interface of every note. It is made when the first note is loaded.
var noteInterface = sync.OnceValues(func() (*lisp.Interface, error) {
	language, err := lib.Language()
	if err != nil {
		return nil, err
	}
	offered, err := lisp.NewInterface(language, kernelFunctions(), kernelMacros())
	if err == nil {
		offered.Explain(elsewhere)
	}
	return offered, err
})

// ofNote turns a function with the calling note among its arguments into a kernel function.
func ofNote(function func(ctx context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error)) func(context.Context, *lisp.Call, []lisp.Value) (lisp.Value, error) {
	return func(ctx context.Context, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
		return function(ctx, call.Environment().Owner().(*Note), call, args)
	}
}

// kernelFunctions returns the functions that notes may call in addition to the language's.
func kernelFunctions() []lisp.KernelFunction {
	return append([]lisp.KernelFunction{
		{Name: "ask-neuro", LambdaList: "(text &key system-prompt history stream context prompt)", Waits: true, Call: ofNote(askNeuro),
			Doc: "Ask the model and return its whole reply."},
		{Name: "ask-probabilistic", LambdaList: "(text &key system-prompt history stream context prompt)", Waits: true, Call: ofNote(askNeuro),
			Doc: "The same as ask-neuro."},
		{Name: "kernel-log", LambdaList: "(control &rest arguments)", Call: ofNote(kernelLog),
			Doc: "Write a line to the agent's log, as format would."},
		{Name: "harness-log", LambdaList: "(control &rest arguments)", Call: ofNote(kernelLog),
			Doc: "The same as kernel-log."},
		{Name: "inject-stimulus", LambdaList: "(event &rest options)", Call: ofNote(injectStimulus),
			Doc: "Give the agent an event to answer."},
		{Name: "register-actuator", LambdaList: "(name function &key does fields guard)", Call: ofNote(registerActuator),
			Doc: "Have a function perform the actions of a target."},
		{Name: "defidentity", LambdaList: "(&rest fields)", Call: ofNote(defineIdentity),
			Doc: "Say who the agent is, by keywords: (defidentity :name \"Sam\")."},
		{Name: "%identity", LambdaList: "(name &optional default)", InPlaceOf: "identity", Call: ofNote(readIdentity),
			Doc: "What (identity :name) does."},
		{Name: "action-delivery", LambdaList: "(action context)", Call: ofNote(actionDelivery),
			Doc: "For which chat the text of an action is, in answer to an event: :own-chat, :other-chat or :no-chat; nil if there is no such action."},
		{Name: "org-id-new", LambdaList: "()", Call: newOrgID,
			Doc: "A new unique id, as Org makes them."},
		{Name: "%register-skill", LambdaList: "(name &rest keys)", Call: ofNote(registerSkill),
			Doc: "What defskill does."},
		{Name: "%register-tool", LambdaList: "(name description parameters guard body)", Call: ofNote(registerTool),
			Doc: "What def-cognitive-tool does."},
		{Name: "%register-hook", LambdaList: "(name on function)", Call: ofNote(registerHook),
			Doc: "What defhook does."},
		{Name: "%register-check", LambdaList: "(name function)", Call: ofNote(registerCheck),
			Doc: "What heartbeat-when does."},
		{Name: "%register-action", LambdaList: "(target name does fields perform guard)", Call: ofNote(registerAction),
			Doc: "What defaction does."},
		{Name: conveyName, LambdaList: "(function &rest arguments)", Call: ofNote(conveyResult),
			Doc: "Call a function of the note for the kernel."},
	}, testFunctions()...)
}

// kernelMacros returns the macros that notes may use in addition to the language's.
func kernelMacros() []lisp.KernelMacro {
	return append([]lisp.KernelMacro{
		{Name: "defskill", LambdaList: "(name &rest keys)", Expand: expandDefskill,
			Doc: "Register a skill."},
		{Name: "def-cognitive-tool", LambdaList: "(name &rest description)", Expand: expandTool,
			Doc: "Define a tool that models may call, and the function that performs a call."},
		{Name: "defhook", LambdaList: "(name &rest keys)", Expand: expandDefhook,
			Doc: "Have a function asked before or after something is done."},
		{Name: "heartbeat-when", LambdaList: "(name arguments &rest body)", Expand: expandHeartbeatWhen,
			Doc: "Define a check that decides at each heartbeat whether the model is asked: its value is nil, or the reason as a string."},
		{Name: "defaction", LambdaList: "(target name &rest keys)", Expand: expandDefaction,
			Doc: "Define a kind of action that models may propose, and the function that performs it."},
	}, testMacros()...)
}

// makeEnvironment makes the environment in which the note runs.
func (n *Note) makeEnvironment(ctx context.Context) error {
	offered, err := noteInterface()
	if err != nil {
		return fmt.Errorf("offer the kernel's functions: %w", err)
	}
	environment, err := lisp.New(lisp.Config{
		Interface: offered,
		Owner:     n,
		Access:    n.access(),
		Limits:    n.options.Limits,
		Memory:    n.options.memory,
		Output:    n.print,
	})
	if err != nil {
		return fmt.Errorf("make the note's environment: %w", err)
	}
	n.environment = environment
	return n.loadObjects(ctx)
}

// askNeuro asks the model. In a test with a script it returns the script's next reply. In other
// tests and in a dry run it returns the question.
func askNeuro(ctx context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	o := invocationOf(call.Reason())
	if o.script != nil {
		ask, err := readAsk(args)
		if err != nil {
			return nil, err
		}
		reply, err := o.script.next(ask)
		return lisp.NewString(reply), err
	}
	if o.purpose == purposeTest || o.dry {
		return lisp.NewList(append([]lisp.Value{call.Keyword("ASKED")}, args...)...), nil
	}
	if o.purpose == purposeTyped {
		return nil, errors.New("there is no model to ask here; with --dry ask-neuro returns what it was asked")
	}
	if o.purpose != purposeNeuro && o.purpose != purposeDryNeuro {
		return nil, fmt.Errorf("ask-neuro was called by %s; only a skill's neuro function can ask the model", o.purpose)
	}
	ask, err := readAsk(args)
	if err != nil {
		return nil, err
	}
	if o.asker == nil {
		return nil, errors.New("there is no model to ask")
	}
	o.modelAsked = true
	reply, err := o.asker.Ask(ctx, ask)
	if err != nil {
		return nil, fmt.Errorf("ask the model: %w", err)
	}
	return lisp.NewString(reply), nil
}

// readAsk parses the arguments of ask-neuro.
func readAsk(args []lisp.Value) (ask Ask, err error) {
	text, ok := args[0].(*lisp.String)
	if !ok {
		return Ask{}, errors.New("the text to ask is not a string")
	}
	ask.Text = text.String()
	if len(args)%2 == 0 {
		return Ask{}, errors.New("the last keyword has no value")
	}
	for i := 1; i < len(args); i += 2 {
		key, ok := args[i].(*lisp.Symbol)
		if !ok || !key.Keyword() {
			return Ask{}, errors.New("a keyword such as :system-prompt belongs before each value")
		}
		value := args[i+1]
		switch key.Name() {
		case "SYSTEM-PROMPT":
			prompt, ok := value.(*lisp.String)
			if !ok && value != lisp.Nil {
				return Ask{}, errors.New("the :system-prompt is not a string")
			}
			if ok {
				ask.System = prompt.String()
			}
		case "HISTORY":
			ask.NoHistory = value == lisp.Nil
		case "STREAM":
			ask.NoStream = value == lisp.Nil
		case "CONTEXT":
			ask.NoContext = value == lisp.Nil
		case "PROMPT":
			if ask.Prompt, err = promptOf(value); err != nil {
				return Ask{}, err
			}
		default:
			data, err := lisp.ToSexp(value)
			if err != nil {
				return Ask{}, fmt.Errorf("the value of :%s: %w", strings.ToLower(key.Name()), err)
			}
			ask.Options = append(ask.Options, plist.Keyword(strings.ToLower(key.Name())), data)
		}
	}
	return ask, nil
}

// promptOf returns how much of the kernel's own prompt is sent, or "" for the default.
func promptOf(v lisp.Value) (string, error) {
	if v == lisp.Nil {
		return "", nil
	}
	if symbol, ok := v.(*lisp.Symbol); ok && symbol.Keyword() {
		if mode := strings.ToLower(symbol.Name()); mode == "full" || mode == "minimal" || mode == "none" {
			return mode, nil
		}
	}
	return "", errors.New("the :prompt is one of :full, :minimal and :none")
}

// kernelLog writes to the log. In a preview of an answer it writes nothing.
func kernelLog(_ context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	text, ok := args[0].(*lisp.String)
	if len(args) > 1 || !ok || strings.Contains(text.String(), "~") {
		formatted, err := call.Apply(call.Symbol("FORMAT"), append([]lisp.Value{lisp.Nil}, args...)...)
		if err != nil {
			return nil, err
		}
		text, _ = formatted.(*lisp.String)
	}
	if !invocationOf(call.Reason()).purpose.dry() && text != nil {
		n.options.Log(n.name(), text.String())
	}
	return lisp.Nil, nil
}

// injectStimulus passes an event to the kernel. Tests and previews drop it.
func injectStimulus(_ context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	data, err := lisp.ToSexp(args[0])
	if err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	event, ok := data.(sexp.List)
	if !ok || len(event) == 0 {
		return nil, errors.New("an event is a property list such as (:type :event :payload (:sensor :chat-message :text \"…\"))")
	}
	if err := plist.WellFormed(event); err != nil {
		return nil, fmt.Errorf("read the event: %w", err)
	}
	if err := n.options.CheckEvent(event); err != nil {
		return nil, err
	}
	switch p := invocationOf(call.Reason()).purpose; p {
	case purposeTest, purposePreview, purposeDryNeuro:
		return lisp.Nil, nil
	case purposeNeuro, purposeSymbolic, purposeAction, purposeTool, purposeTyped:
	default:
		return nil, fmt.Errorf("inject-stimulus was called by %s; call it from a skill's neuro or symbolic function, from a tool or from an action", p)
	}
	if n.options.Inject == nil {
		return nil, errors.New("nothing takes events here")
	}
	n.options.Inject(event)
	return lisp.T, nil
}

// defining reports whether the call loads a note, so that its definitions count. A definition that
// a person types is only checked. A definition in a function of a live note is an error.
func defining(call *lisp.Call, operator string) (bool, error) {
	switch p := invocationOf(call.Reason()).purpose; p {
	case purposeLoad, purposeTest:
		return true, nil
	case purposeTyped:
		return false, nil
	default:
		return false, fmt.Errorf("%s was called by %s; it belongs outside any function", operator, p)
	}
}

// warn adds a warning at the block that is being loaded.
func (n *Note) warn(format string, arguments ...any) {
	line := 1
	if n.block != nil {
		line = n.block.Line
	}
	n.warnAt(line, format, arguments...)
}

// nameOf returns the name in a string, a symbol or a quoted symbol, in lower case.
func nameOf(v lisp.Value) (string, error) {
	switch x := v.(type) {
	case *lisp.String:
		if name := strings.ToLower(strings.TrimPrefix(x.String(), ":")); name != "" {
			return name, nil
		}
	case *lisp.Symbol:
		if x != lisp.Nil {
			return strings.ToLower(x.Name()), nil
		}
	case *lisp.Cons:
		if quote, ok := x.Car.(*lisp.Symbol); ok && quote.Name() == "QUOTE" {
			if rest, ok := x.Cdr.(*lisp.Cons); ok {
				return nameOf(rest.Car)
			}
		}
	}
	return "", errors.New("it has to be a keyword, a symbol or a string")
}

// newOrgID returns a random UUID in the form of Org's ids.
func newOrgID(context.Context, *lisp.Call, []lisp.Value) (lisp.Value, error) {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return lisp.NewString(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])), nil
}
