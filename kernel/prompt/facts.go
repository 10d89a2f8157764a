package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/text"
)

// Mode is the length of a prompt.
type Mode string

const (
	Full    Mode = "full"    // everything that applies
	Minimal Mode = "minimal" // the agent's identity, its limits and its tools
	None    Mode = "none"    // the agent's identity and its limits
)

// Modes returns all modes, the longest first.
func Modes() []Mode { return []Mode{Full, Minimal, None} }

// Kind is the kind of turn that a prompt is for.
type Kind string

const (
	Chat      Kind = "chat"      // a person sent a message
	Task      Kind = "task"      // a scheduled task is due
	Heartbeat Kind = "heartbeat" // the agent looks whether there is anything to do
	Subagent  Kind = "subagent"  // another agent delegated a part of its work
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Chat, Task, Heartbeat, Subagent} }

// Roles returns the roles of the files of a home that a prompt may contain, in their order. The
// role IDENTITY is the file IDENTITY.org or IDENTITY.md.
func Roles() []string {
	return []string{"IDENTITY", "SOUL", "USER", "TOOLS", "PROFILES", "WORKSPACE", "MEMORY", "HEARTBEAT"}
}

// Facts are the values of a prompt. Every field may be empty. An empty or unknown mode means Full,
// and an empty kind means Chat.
type Facts struct {
	Mode Mode
	Kind Kind
	// Budget bounds the prompt, in tokens as [Tokens] counts them. 0 means no bound. Required
	// sections stay whole even so.
	Budget int

	// Name is the agent's name, which [Name] cleans. "" means org-agent.
	Name string
	// Files are the person's files, by [Roles]. Days are daily notes, the latest first.
	Files []File
	Days  []File
	// Unwritten is the directory of the files about the agent and the person if they are still
	// empty, and otherwise "".
	Unwritten string
	// Tools are the offered tools. Each has one line, which begins with the name.
	Tools []Tool
	// Formats are the forms of property lists that a reply may have.
	Formats []string
	// Plain is set if text in none of these forms is the answer.
	Plain bool
	// Skills is the list of skills, one on each line. MoreSkills counts the skills that are not in
	// it.
	Skills     string
	MoreSkills int
	// Contacts lists the people that the agent may write to, Schedules its tasks with their times.
	Contacts, Schedules string
	// Chat is the chat of a channel in which the conversation takes place. The zero value is for one on this machine.
	Chat ChatPlace
	// Runtime has names and values about this machine. Those without a value are left out. None is
	// secret, and none changes from turn to turn.
	Runtime [][2]string
	// Delegation is the work of a subagent.
	Delegation Delegation
	// Augments is the text that skills add to every prompt.
	Augments string
	// Extra is the asking skill's own system prompt. It is never cut.
	Extra string
	// Wishes are the person's instructions for the place of the question. They come last, because
	// they differ most between conversations, and are never cut.
	Wishes string
	// WithoutSafety leaves the section safety out. Only an argument of the kernel's start sets it;
	// no text of a home, a skill or a conversation does.
	WithoutSafety bool
}

// ChatPlace is the chat of a conversation on a channel.
type ChatPlace struct {
	Channel string // its name
	Group   bool   // several people read it
}

// File is one of the person's files.
type File struct {
	Role string // of [Roles]; "" for a daily note
	Path string // as the person would write it
	Text string // its text in Org; "" for a file that is only listed
	Size int    // of the file, in bytes
}

// Tool is a tool in a prompt. Without a Line it is only named, because there is no room for more.
type Tool struct{ Name, Line string }

// Delegation is work that another agent, the Requester, gave to a Subagent.
type Delegation struct{ Requester, Subagent, Label, Task string }

// variableNames returns the names that a template may use between two pairs of braces, in addition
// to {{include:NAME}} for another template, {{file:ROLE}} for the text of one of the person's
// files, and {{tool:NAME}} for a tool's name. A line that names a tool which is not offered is left
// out, and so is a line whose variables are all empty.
func variableNames() []string {
	var names []string
	for _, v := range variables() {
		names = append(names, v.name)
	}
	return names
}

// variable is a variable of templates.
type variable struct {
	name  string
	value func(*Facts) string
}

func variables() []variable {
	return []variable{
		{"name", func(f *Facts) string { return cmp.Or(Name(f.Name), "org-agent") }},
		{"files", (*Facts).fileLines},
		{"days", (*Facts).dayTexts},
		{"unwritten", func(f *Facts) string { return text.Line(f.Unwritten) }},
		{"tools", (*Facts).toolLines},
		{"answer", func(f *Facts) string {
			if f.Plain {
				return "the answer"
			}
			return ""
		}},
		{"more-tools", (*Facts).namedTools},
		{"formats", func(f *Facts) string { return strings.Join(f.Formats, "\n") }},
		{"skills", func(f *Facts) string { return f.Skills }},
		{"more-skills", func(f *Facts) string { return number(f.MoreSkills) }},
		{"contacts", func(f *Facts) string { return f.Contacts }},
		{"schedules", func(f *Facts) string { return f.Schedules }},
		{"channel", func(f *Facts) string { return text.Line(f.Chat.Channel) }},
		{"group", func(f *Facts) string {
			if f.Chat.Group {
				return "group"
			}
			return ""
		}},
		{"runtime", (*Facts).runtimeLine},
		{"requester", func(f *Facts) string { return text.Line(f.Delegation.Requester) }},
		{"subagent", func(f *Facts) string { return text.Line(f.Delegation.Subagent) }},
		{"label", func(f *Facts) string { return text.Line(f.Delegation.Label) }},
		{"task", func(f *Facts) string { return f.Delegation.Task }},
		{"augments", func(f *Facts) string { return f.Augments }},
		{"extra", func(f *Facts) string { return f.Extra }},
		{"wishes", func(f *Facts) string { return f.Wishes }},
	}
}

// values returns the values of the variables, and the texts of the files as "file:ROLE".
func (f *Facts) values() map[string]string {
	values := map[string]string{}
	for _, v := range variables() {
		values[v.name] = strings.TrimSpace(v.value(f))
	}
	for _, file := range f.Files {
		values["file:"+file.Role] = strings.TrimSpace(file.Text)
	}
	return values
}

// fileLines lists the files, first those with a role, in the order of the roles.
func (f *Facts) fileLines() string {
	var b strings.Builder
	add := func(file File) {
		state := "its text is here"
		if file.Text == "" {
			state = "not shown"
		}
		fmt.Fprintf(&b, "- %s (%s, %s)\n", text.Line(file.Path), bytes(file.Size), state)
	}
	for _, role := range Roles() {
		for _, file := range f.Files {
			if file.Role == role {
				add(file)
			}
		}
	}
	for _, day := range f.Days {
		add(day)
	}
	return b.String()
}

func (f *Facts) dayTexts() string {
	var texts []string
	for _, day := range f.Days {
		if body := strings.TrimSpace(day.Text); body != "" {
			texts = append(texts, text.Line(day.Path)+":\n"+body)
		}
	}
	return strings.Join(texts, "\n\n")
}

// toolLines lists the tools by name, each once.
func (f *Facts) toolLines() string {
	tools := slices.Clone(f.Tools)
	slices.SortStableFunc(tools, func(a, b Tool) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	var b strings.Builder
	for i, t := range tools {
		if t.Line != "" && (i == 0 || !strings.EqualFold(t.Name, tools[i-1].Name)) {
			fmt.Fprintf(&b, "- %s\n", text.Line(t.Line))
		}
	}
	return b.String()
}

// namedTools lists the names of the tools that are only named, in their order.
func (f *Facts) namedTools() string {
	var names []string
	for _, t := range f.Tools {
		if t.Line == "" {
			names = append(names, t.Name)
		}
	}
	return text.Line(strings.Join(names, ", "))
}

func (f *Facts) runtimeLine() string {
	var parts []string
	for _, part := range f.Runtime {
		if value := text.Line(part[1]); value != "" {
			parts = append(parts, part[0]+"="+value)
		}
	}
	return strings.Join(parts, " | ")
}

// nameLength is the maximum length of a name in characters.
const nameLength = 80

// Name returns a name that is safe in a prompt: one line without control characters and marks of
// direction, at most 80 characters long.
func Name(name string) string {
	return text.PlainLine(strings.ReplaceAll(strings.ToValidUTF8(name, ""), "\uFFFD", ""), nameLength)
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

func bytes(n int) string {
	switch {
	case n < 1000: // rounded: the prompt changes when a file does, and no more than it must
		return "under 1 kB"
	case n < 1000_000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
