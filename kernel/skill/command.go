package skill

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
	"org-agent/kernel/suggest"
	"org-agent/kernel/text"
)

// Command is a request to a skill that a person makes by name, with /NAME in a conversation or from
// a buffer. The skill answers it without a call of its trigger.
type Command struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Wants lists what the command gets from the person's Emacs: a part of [contextKinds]. Nothing else
	// is sent to it.
	Wants []string `json:"wants,omitempty"`
	// Skill is the skill that answers.
	Skill string `json:"skill"`
	line  int
}

// Limits of the commands of a skill.
const (
	maximumCommandName = 32
	maximumCommands    = 100 // of one skill
	maximumDescription = 200 // characters
)

// contextKinds returns everything that a command can get from the person's Emacs: the buffer or
// region they are in, and their agenda.
func contextKinds() []string { return []string{"agenda", "buffer"} }

// commandsOf parses the value of :commands, a list of (NAME DESCRIPTION :wants (…)).
func commandsOf(v lisp.Value) ([]Command, error) {
	rows, ok := lisp.Slice(v, maximumCommands)
	if !ok {
		return nil, fmt.Errorf("its :commands are not a list of at most %d rows such as (\"name\" \"what it does\")", maximumCommands)
	}
	var commands []Command
	for _, row := range rows {
		command, err := commandOf(row)
		if err != nil {
			return nil, fmt.Errorf("its :commands: %w", err)
		}
		if slices.ContainsFunc(commands, func(c Command) bool { return c.Name == command.Name }) {
			return nil, fmt.Errorf("its :commands name /%s twice", command.Name)
		}
		commands = append(commands, command)
	}
	return commands, nil
}

func commandOf(v lisp.Value) (Command, error) {
	fields, ok := lisp.Slice(v, 4)
	if !ok || len(fields) < 2 || len(fields) == 3 {
		return Command{}, errors.New(`each is a list ("name" "what it does"), or with :wants (:buffer) behind that`)
	}
	name, err := nameOf(fields[0])
	if err != nil {
		return Command{}, fmt.Errorf("the name of a command: %w", err)
	}
	if !validCommand(name) {
		return Command{}, fmt.Errorf("%q is no name for a command: small letters, digits and hyphens, %d at most, such as %q", name, maximumCommandName, mendedCommand(name))
	}
	description, ok := fields[1].(*lisp.String)
	if !ok {
		return Command{}, fmt.Errorf("what /%s does is not said in a string", name)
	}
	command := Command{Name: name, Description: text.Clip(text.Line(description.String()), maximumDescription)}
	if command.Description == "" {
		return Command{}, fmt.Errorf("what /%s does is not said; people see it beside the name", name)
	}
	if len(fields) < 4 {
		return command, nil
	}
	if key, ok := fields[2].(*lisp.Symbol); !ok || !key.Keyword() || key.Name() != "WANTS" {
		return Command{}, fmt.Errorf("behind what /%s does only :wants can stand", name)
	}
	command.Wants, err = wantsOf(fields[3])
	if err != nil {
		return Command{}, fmt.Errorf("what /%s wants: %w", name, err)
	}
	return command, nil
}

// wantsOf parses a list of keywords from [contextKinds].
func wantsOf(v lisp.Value) ([]string, error) {
	known := contextKinds()
	items, ok := lisp.Slice(v, len(known))
	if !ok {
		items = []lisp.Value{v}
	}
	var wants []string
	for _, item := range items {
		key, ok := item.(*lisp.Symbol)
		if !ok || !key.Keyword() || !slices.Contains(known, strings.ToLower(key.Name())) {
			return nil, fmt.Errorf("it is a list of :%s", strings.Join(known, " and :"))
		}
		if want := strings.ToLower(key.Name()); !slices.Contains(wants, want) {
			wants = append(wants, want)
		}
	}
	return wants, nil
}

func validCommand(name string) bool {
	return name != "" && len(name) <= maximumCommandName && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

// mendedCommand returns a valid name for a command that is similar to the given one.
func mendedCommand(name string) string {
	mended := strings.Map(func(r rune) rune {
		if validCommand(string(r)) {
			return r
		}
		return ' '
	}, strings.ToLower(name))
	mended = strings.Join(strings.Fields(mended), "-")
	if mended = mended[:min(len(mended), maximumCommandName)]; mended == "" {
		return "my-command"
	}
	return mended
}

// SplitCommand splits "/NAME ARGUMENTS". ok is false for a text that cannot be a command, such as
// "/home/me" or "/ x". A command with that name need not exist.
func SplitCommand(text string) (name, arguments string, ok bool) {
	rest, ok := strings.CutPrefix(text, "/")
	if !ok {
		return "", "", false
	}
	name = rest
	if end := strings.IndexAny(rest, " \t\r\n"); end >= 0 {
		name, arguments = rest[:end], strings.TrimSpace(rest[end:])
	}
	name = strings.ToLower(name)
	return name, arguments, validCommand(name)
}

// Commands returns the commands of the live skills, by name. The slice is the caller's.
func (s *Set) Commands() []Command {
	if s == nil {
		return nil
	}
	return slices.Clone(s.commands)
}

// Command returns the command with that name.
func (s *Set) Command(name string) (Command, bool) {
	if s == nil {
		return Command{}, false
	}
	at, found := slices.BinarySearchFunc(s.commands, name, func(c Command, name string) int { return strings.Compare(c.Name, name) })
	if !found {
		return Command{}, false
	}
	return s.commands[at], true
}

// NearCommand returns the command that an unknown name probably meant, or "" if none is similar. A
// part of a name and an ordinary word are not similar.
func (s *Set) NearCommand(name string) string {
	if s == nil {
		return ""
	}
	best, least := "", min(2, (len(name)-1)/3)+1
	for _, c := range s.commands {
		if d := suggest.Distance(name, c.Name); d < least {
			best, least = c.Name, d
		}
	}
	return best
}

// commandSkill returns the skill whose command the event is, or nil.
func (s *Set) commandSkill(event sexp.List) *Skill {
	command, ok := s.Command(commandIn(event))
	if !ok {
		return nil
	}
	for _, k := range s.skills {
		if k.Name == command.Skill {
			return k
		}
	}
	return nil
}

// commandIn returns the name of the command in an event, or "".
func commandIn(event sexp.List) string {
	payload, _ := plist.Get(event, "payload")
	if sensor, _ := plist.KeywordValue(payload, "sensor"); sensor != "user-command" {
		return ""
	}
	if word, ok := plist.KeywordValue(payload, "command"); ok {
		return string(word)
	}
	name, _ := plist.Text(payload, "command")
	return name
}

// assignCommands gives each command to the first note in the order that declares it. The others get a
// warning, and stay live without the command.
func assignCommands(order []*slot) []Command {
	var all []Command
	owners := map[string]*Note{}
	for _, s := range order {
		s.without = nil
		if !s.published {
			continue
		}
		n := s.version()
		for _, k := range n.skills {
			for _, command := range k.Commands {
				owner := owners[command.Name]
				if owner == nil {
					owners[command.Name] = n
					all = append(all, command)
					continue
				}
				s.without = append(s.without, Diagnostic{File: n.File, Line: command.line, Column: 1, Warning: true, Message: fmt.Sprintf(
					"the command /%s is that of %s already, and this note is live without it; give it another name", command.Name, ShownFile(owner.File))})
			}
		}
	}
	slices.SortFunc(all, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	return all
}
