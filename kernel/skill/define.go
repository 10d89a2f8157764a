package skill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/lisp"
	"org-agent/kernel/suggest"
)

// defaultPriority is the priority of a skill that sets none.
const defaultPriority = 10

// skillKeys are the keys of defskill with the name of each in the kernel. Notes use two
// vocabularies.
var skillKeys = map[string]string{
	"PRIORITY": "priority", "DEPENDENCIES": "dependencies", "TRIGGER": "trigger",
	"NEURO": "neuro", "PROBABILISTIC": "neuro", "SYMBOLIC": "symbolic", "DETERMINISTIC": "symbolic",
	"SYSTEM-PROMPT-AUGMENT": "system-prompt-augment", "COMMANDS": "commands",
}

// expandDefskill turns (defskill NAME :key form…) into a call that evaluates the forms.
func expandDefskill(call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	name, err := nameOf(args[0])
	if err != nil {
		return nil, fmt.Errorf("the name of a skill: %w", err)
	}
	if len(args)%2 == 0 {
		return nil, fmt.Errorf("the last key of the skill %s has no value", name)
	}
	form := []lisp.Value{call.Symbol("%REGISTER-SKILL"), lisp.NewString(name)}
	seen := map[string]bool{}
	for i := 1; i < len(args); i += 2 {
		known, err := skillKey(name, args[i])
		if err != nil {
			return nil, err
		}
		if seen[known] {
			return nil, fmt.Errorf("the skill %s has two values for :%s", name, known)
		}
		seen[known] = true
		value := args[i+1]
		if known == "dependencies" || known == "commands" && !isForm(value) {
			value = quoted(call, value)
		}
		form = append(form, args[i], value)
	}
	return lisp.NewList(form...), nil
}

func skillKey(skill string, v lisp.Value) (string, error) {
	key, ok := v.(*lisp.Symbol)
	if !ok || !key.Keyword() {
		return "", fmt.Errorf("in the skill %s a key such as :trigger belongs before each value", skill)
	}
	if known, ok := skillKeys[key.Name()]; ok {
		return known, nil
	}
	var names []string
	for known := range skillKeys {
		names = append(names, known)
	}
	slices.Sort(names)
	message := fmt.Sprintf("defskill has no key :%s", strings.ToLower(key.Name()))
	if near := suggest.Of(key.Name(), names); near != "" {
		return "", fmt.Errorf("%s; did you mean :%s?", message, strings.ToLower(near))
	}
	return "", fmt.Errorf("%s; it has :%s", message, strings.ToLower(strings.Join(names, " :")))
}

// isForm reports whether v is a call. Rows and lists of names are not calls.
func isForm(v lisp.Value) bool {
	cell, ok := v.(*lisp.Cons)
	if !ok {
		return true
	}
	head, ok := cell.Car.(*lisp.Symbol)
	return ok && !head.Keyword()
}

// quoted quotes a list of names that a note wrote without a quote.
func quoted(call *lisp.Call, v lisp.Value) lisp.Value {
	cell, ok := v.(*lisp.Cons)
	if !ok {
		return v
	}
	if head, ok := cell.Car.(*lisp.Symbol); ok && !head.Keyword() && (head.Name() == "QUOTE" || head.Name() == "LIST") {
		return v
	}
	return lisp.NewList(call.Symbol("QUOTE"), v)
}

// registerSkill adds a skill whose keys were evaluated.
func registerSkill(_ context.Context, n *Note, call *lisp.Call, args []lisp.Value) (lisp.Value, error) {
	name, err := nameOf(args[0])
	if err != nil {
		return nil, fmt.Errorf("the name of a skill: %w", err)
	}
	if slices.ContainsFunc(n.skills, func(k *Skill) bool { return k.Name == name }) {
		return nil, fmt.Errorf("the note defines the skill %s twice", name)
	}
	k := &Skill{
		Name: name, File: n.File, Hash: n.Hash, Title: n.Title, Description: n.Description, Version: n.Version,
		Priority: defaultPriority, Shipped: n.options.Shipped, note: n, line: 1,
	}
	if n.block != nil {
		k.line = n.block.Line
	}
	for i := 1; i+1 < len(args); i += 2 {
		key, err := skillKey(name, args[i])
		if err == nil {
			err = k.set(key, args[i+1])
		}
		if err != nil {
			return nil, fmt.Errorf("the skill %s: %w", name, err)
		}
	}
	if defines, err := defining(call, "defskill"); !defines {
		return args[0], err
	}
	if err := n.takeCommands(k); err != nil {
		return nil, err
	}
	if k.trigger == nil && k.augment == nil && k.augmentText == "" && len(k.Commands) == 0 {
		n.warn("the skill %s has no :trigger and answers no event", name)
	}
	n.skills = append(n.skills, k)
	return args[0], nil
}

// takeCommands sets the lines of a skill's commands. Two skills of a note cannot have the same
// command.
func (n *Note) takeCommands(k *Skill) error {
	for i := range k.Commands {
		command := &k.Commands[i]
		command.Skill, command.line = k.Name, k.line
		for _, other := range n.skills {
			if slices.ContainsFunc(other.Commands, func(c Command) bool { return c.Name == command.Name }) {
				return fmt.Errorf("the skill %s: the command /%s is that of the skill %s already", k.Name, command.Name, other.Name)
			}
		}
	}
	if len(k.Commands) > 0 && k.neuro == nil {
		return fmt.Errorf("the skill %s has :commands and no :neuro function to answer them", k.Name)
	}
	return nil
}

// set sets the value of one key.
func (k *Skill) set(key string, v lisp.Value) (err error) {
	if v == lisp.Nil {
		return nil
	}
	switch key {
	case "priority":
		priority, ok := v.(int64)
		if !ok || priority < -1_000_000 || priority > 1_000_000 {
			return errors.New("its :priority is not an integer between -1000000 and 1000000")
		}
		k.Priority = int(priority)
	case "dependencies":
		k.Dependencies, err = namesOf(v)
		return err
	case "commands":
		k.Commands, err = commandsOf(v)
		return err
	case "trigger":
		k.trigger, err = functionOf(key, v)
	case "neuro":
		k.neuro, err = functionOf(key, v)
	case "symbolic":
		k.symbolic, err = functionOf(key, v)
	case "system-prompt-augment":
		if text, ok := v.(*lisp.String); ok {
			k.augmentText = text.String()
			return nil
		}
		k.augment, err = functionOf(key, v)
	}
	return err
}

// functionOf returns the function in a function value, a name of a function, or a lambda
// expression.
func functionOf(key string, v lisp.Value) (lisp.Value, error) {
	switch x := v.(type) {
	case *lisp.Function:
		return v, nil
	case *lisp.Symbol:
		if !x.Keyword() && x != lisp.T {
			return v, nil
		}
	case *lisp.Cons:
		if head, ok := x.Car.(*lisp.Symbol); ok && head.Name() == "LAMBDA" {
			return v, nil
		}
	}
	return nil, fmt.Errorf("its :%s is no function; write #'NAME or (lambda …)", key)
}

// namesOf parses a list of names.
func namesOf(v lisp.Value) ([]string, error) {
	const most = 100
	items, ok := lisp.Slice(v, most)
	if !ok {
		items = []lisp.Value{v}
	}
	var names []string
	for _, item := range items {
		name, err := nameOf(item)
		if err != nil {
			return nil, fmt.Errorf("its :dependencies: %w", err)
		}
		names = append(names, name)
	}
	return names, nil
}
