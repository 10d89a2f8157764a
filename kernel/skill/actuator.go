package skill

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/action"
	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
)

// registerActuator adds an action without a name: the function performs all actions of the target.
// What a note registers for a target of the kernel is never called, of which it is warned.
func registerActuator(_ context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	name, err := nameOf(args[0])
	if err == nil && !validCommand(name) {
		err = fmt.Errorf("%q is not written in small letters, digits and hyphens", name)
	}
	if err != nil {
		return nil, fmt.Errorf("the name of an actuator: %w", err)
	}
	a := &Action{Spec: action.Spec{Target: name, Does: "to have :" + name + " do something"}, File: n.File, Digest: n.digest(), note: n}
	a.Line = n.definitionLine("register-actuator", name)
	if err := a.defineActuator(args[1:]); err != nil {
		return nil, fmt.Errorf("the actuator %s: %w", name, err)
	}
	if defines, err := defining(call, "register-actuator"); !defines {
		return args[0], err
	}
	if slices.ContainsFunc(n.options.Specs(), func(s action.Spec) bool { return s.Target == name }) {
		n.warnAt(a.Line, "the target :%s belongs to the kernel, which performs its actions itself; this function is never called", name)
		return args[0], nil
	}
	if err := n.mayDefine(a); err != nil {
		return nil, err
	}
	n.actions = append(n.actions, a)
	return args[0], nil
}

// defineActuator sets the actuator from its function and the values of the keys.
func (a *Action) defineActuator(args []lisp.Value) error {
	values := map[string]lisp.Value{"does": lisp.NewString(a.Does), "fields": lisp.Nil, "guard": lisp.Nil}
	if len(args)%2 == 0 {
		return fmt.Errorf("its last key has no value")
	}
	for i := 1; i < len(args); i += 2 {
		key, err := nameOf(args[i])
		if err != nil || values[key] == nil {
			return fmt.Errorf("register-actuator has the keys :does :fields :guard%s", suggestKey(key, []string{"does", "fields", "guard"}))
		}
		values[key] = args[i+1]
	}
	if err := a.define(values["does"], values["fields"], args[0], values["guard"]); err != nil {
		return err
	}
	a.Closed = len(a.Fields) > 0
	which := action.Field{Name: "action", Kind: action.Name, Example: plist.Keyword("<what>")}
	a.Fields = append([]action.Field{which}, a.Fields...)
	return nil
}

// warnAt adds a warning at a line of the note.
func (n *Note) warnAt(line int, format string, arguments ...any) {
	if len(n.Diagnostics) < maximumDiagnostics {
		n.Diagnostics = append(n.Diagnostics, Diagnostic{File: n.File, Line: line, Column: 1, Warning: true, Message: strings.TrimSpace(fmt.Sprintf(format, arguments...))})
	}
}
