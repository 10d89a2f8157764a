package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/text"
)

// Mode is how much a prompt says.
type Mode string

const (
	Full    Mode = "full"    // everything that applies
	Minimal Mode = "minimal" // who it is, what it may not do, its tools
	None    Mode = "none"    // who it is and what it may not do
)

// Modes are all modes, the longest first.
func Modes() []Mode { return []Mode{Full, Minimal, None} }

// Kind is what a prompt is for.
type Kind string

const (
	Chat      Kind = "chat"      // somebody said something
	Task      Kind = "task"      // a task is due that somebody wrote down
	Heartbeat Kind = "heartbeat" // it is time to see whether anything is to be done
	Subagent  Kind = "subagent"  // another agent handed on a part of its work
)

// Kinds are all kinds.
func Kinds() []Kind { return []Kind{Chat, Task, Heartbeat, Subagent} }

// Roles are the files of a home that a prompt has a place for, in the order in which they
// are listed: IDENTITY is IDENTITY.org, or IDENTITY.md.
func Roles() []string {
	return []string{"IDENTITY", "SOUL", "USER", "TOOLS", "PROFILES", "WORKSPACE", "MEMORY", "HEARTBEAT"}
}

// Facts are what a prompt is made of. Every field may be empty: without a mode, or with one that
// is none, all is told, and without a kind it is for a chat.
type Facts struct {
	Mode Mode
	Kind Kind
	// Budget is the most tokens the prompt may be, as [Tokens] counts; 0 is no bound.
	// Sections that are required stay whole, whatever the budget.
	Budget int

	// Name is the agent's, taken as [Name] has it; "" is org-agent.
	Name string
	// Files are the person's, by [Roles]; Days are daily notes, the latest first.
	Files []File
	Days  []File
	// Unwritten is the directory of files in which nobody has said yet who the agent is and
	// whom it works for; "" when somebody has.
	Unwritten string
	// Tools are those that are offered, a line each that begins with the name.
	Tools []Tool
	// Formats are the property lists that a reply may be, one each.
	Formats []string
	// Skills is the list of skills, a line each; MoreSkills is how many are not in it.
	Skills     string
	MoreSkills int
	// Contacts and Schedules say whom it may write to, and what it is to do when.
	Contacts, Schedules string
	// Runtime is where it runs, names and values; those without a value are left out.
	// Nothing secret, and nothing that changes from turn to turn.
	Runtime [][2]string
	// Handed is a subagent's work.
	Handed Handed
	// Augments is what live skills add for everyone.
	Augments string
	// Extra is the asking skill's own system prompt. It is never cut.
	Extra string
	// Wishes are what the person wants where the question was asked. They come last, as they
	// change the most from one conversation to the next, and are never cut.
	Wishes string
	// WithoutSafety leaves the section of that name out. Only whoever starts the kernel may say
	// so: nothing that is written in a home, a skill or a conversation becomes this.
	WithoutSafety bool
}

// File is one of the person's files.
type File struct {
	Role string // of [Roles]; "" for a daily note
	Path string // as the person would write it
	Text string // what is put in, in Org; "" for a file that is only listed
	Size int    // of the file, in bytes
}

// Tool is what is said of a tool.
type Tool struct{ Name, Line string }

// Handed is work that another agent handed on.
type Handed struct{ Requester, Child, Label, Task string }

// Variables are the names that a template may use between two pairs of braces, beside
// {{include:NAME}} for another template, {{file:ROLE}} for the text of one of the person's
// files, and {{tool:NAME}} for a tool's name. A line that names a tool which is not offered
// is left out, and so is a line with variables that are all empty.
func Variables() []string {
	var names []string
	for _, v := range variables() {
		names = append(names, v.name)
	}
	return names
}

// variable is what a name in a template stands for.
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
		{"formats", func(f *Facts) string { return strings.Join(f.Formats, "\n") }},
		{"skills", func(f *Facts) string { return f.Skills }},
		{"more-skills", func(f *Facts) string { return number(f.MoreSkills) }},
		{"contacts", func(f *Facts) string { return f.Contacts }},
		{"schedules", func(f *Facts) string { return f.Schedules }},
		{"runtime", (*Facts).runtimeLine},
		{"requester", func(f *Facts) string { return text.Line(f.Handed.Requester) }},
		{"child", func(f *Facts) string { return text.Line(f.Handed.Child) }},
		{"label", func(f *Facts) string { return text.Line(f.Handed.Label) }},
		{"task", func(f *Facts) string { return f.Handed.Task }},
		{"augments", func(f *Facts) string { return f.Augments }},
		{"extra", func(f *Facts) string { return f.Extra }},
		{"wishes", func(f *Facts) string { return f.Wishes }},
	}
}

// values are what the variables stand for, and the files as "file:ROLE".
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

// fileLines lists the files, those of roles first and in their order.
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

// toolLines are the tools by name, each once.
func (f *Facts) toolLines() string {
	tools := slices.Clone(f.Tools)
	slices.SortStableFunc(tools, func(a, b Tool) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	var b strings.Builder
	for i, t := range tools {
		if i == 0 || !strings.EqualFold(t.Name, tools[i-1].Name) {
			fmt.Fprintf(&b, "- %s\n", text.Line(t.Line))
		}
	}
	return b.String()
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

// nameLength is the most characters that a name has in a prompt.
const nameLength = 80

// Name is a name as a prompt has it, whatever somebody wrote for one: a line without control
// characters or marks that turn the direction of what follows, at most 80 characters long.
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
	case n < 1000: // not to the byte: the prompt changes when a file does, and no more than it must
		return "under 1 kB"
	case n < 1000_000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
