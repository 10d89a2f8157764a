// Package presentation says what a person is shown of an action before deciding about it:
// what it is in a line, the whole of what it would do, and which effects that has. It is
// made in one place, for Emacs and the command line alike, and decides nothing.
//
// What an action holds comes from outside. Here it becomes plain text in which nothing is
// hidden: see [Visible]. Making it Org, or cutting it to what a screen holds, is for whoever
// shows it, who then says so.
package presentation

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/chewxy/sexp"

	"org-agent/kernel/diff"
	"org-agent/kernel/plist"
)

// Presentation is what a person is shown of an action.
type Presentation struct {
	Summary  string   // one line, at most 72 characters
	Language string   // of Text: "diff", "text" or "lisp"
	Text     string   // the whole of it
	Effects  []string // one line each
}

// World is what is looked at to say more of an action. The zero value knows nothing.
type World struct {
	// Home and User are directories: the agent's, and the one that is written ~.
	Home, User string
	// Read returns the text of a file as it is on the disk; nil reads none.
	Read func(path string) (string, error)
	// Change returns what calling a tool with arguments would change; nil, or a zero Change,
	// knows nothing.
	Change func(tool string, arguments sexp.List) Change
	// Once: the action can be allowed once only.
	Once bool
}

// Change is what a call of a tool would change in a file, and what that is in a line.
type Change struct {
	Summary       string
	File          string
	Before, After string
	Effects       []string
	// Text is what would be done where it is no change of a text.
	Text string
}

// summaryLimit is how long a summary is at most, in characters.
const summaryLimit = 72

// Of presents an action in the kernel's own view, which the policy has judged.
func Of(action sexp.List, w World) Presentation {
	payload, _ := plist.Get(action, "payload")
	a := view{action: action, world: w}
	a.payload, _ = payload.(sexp.List)
	p := a.present()
	if w.Once {
		p.Effects = append(p.Effects, "you are asked each time: it can be allowed once only")
	}
	hidden := hiddenIn(p.Text)
	if hidden > 0 {
		p.Effects = append(p.Effects, fmt.Sprintf("it holds %s that cannot be seen: each stands here as ⟨U+…⟩", count(hidden, "character")))
	}
	p.Summary, p.Text = clip(line(p.Summary), summaryLimit), Visible(p.Text)
	for i, effect := range p.Effects {
		p.Effects[i] = line(effect)
	}
	return p
}

// view is an action taken apart.
type view struct {
	action, payload sexp.List
	world           World
}

func (a view) present() Presentation {
	target := word(a.action, "target")
	switch target {
	case "emacs":
		switch word(a.payload, "action") {
		case "edit":
			return a.edit()
		case "set-properties":
			return a.properties()
		case "insert-at-end":
			return a.insertion()
		}
	case "shell":
		return a.command()
	case "telegram", "signal", "matrix":
		return a.message(target)
	case "agent":
		return Presentation{
			Summary: "Start a subagent", Language: "text", Text: a.text("task"),
			Effects: []string{"it asks the model as often as its budget lets it: it costs time and tokens, how many is not known before"},
		}
	case "tool":
		if word(a.payload, "action") == "batch" {
			return a.batch()
		}
		return a.call()
	}
	return Presentation{Summary: "Do :" + target, Language: "lisp", Text: plist.Print(a.action), Effects: []string{"what it does is not known here"}}
}

func (a view) insertion() Presentation {
	text := a.text("text")
	return Presentation{
		Summary: "Write into " + a.text("buffer"), Language: "text", Text: text,
		Effects: []string{
			fmt.Sprintf("%s go into that conversation and its file, where all who have it open see them", count(utf8.RuneCountInString(text), "character")),
			"it reads nothing and sends nothing over the network",
		},
	}
}

func (a view) command() Presentation {
	text := a.text("cmd")
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	where := a.text("cwd")
	if where == "" {
		where = "an empty directory"
	}
	if a.world.Change != nil {
		arguments := sexp.List{plist.Keyword("command"), plist.String(text)}
		if cwd, there := plist.Get(a.payload, "cwd"); there {
			arguments = append(arguments, plist.Keyword("cwd"), cwd)
		}
		if c := a.world.Change("exec", arguments); c.Text != "" {
			return Presentation{Summary: "Run " + first, Language: "text", Text: text, Effects: c.Effects}
		}
	}
	return Presentation{
		Summary: "Run " + first, Language: "text", Text: text,
		Effects: []string{
			"it runs a program on this machine as you, in " + where,
			"what it reads, writes or sends over the network cannot be foretold",
		},
	}
}

func (a view) message(target string) Presentation {
	key := "chat-id"
	if target == "matrix" {
		key = "room-id"
	}
	to := plain(a.payload, key)
	effects := []string{
		fmt.Sprintf("%s are sent to %s over the network, through %s", count(utf8.RuneCountInString(a.text("text")), "character"), to, target),
		"what was sent cannot be taken back",
	}
	if v, ok := plist.Get(a.payload, "attachments"); ok && !plist.IsNil(v) {
		effects = append(effects, "with the attachments "+plist.Print(v))
	}
	return Presentation{Summary: fmt.Sprintf("Send a message to %s on %s", to, target), Language: "text", Text: a.text("text"), Effects: effects}
}

func (a view) call() Presentation {
	name := plain(a.payload, "tool")
	arguments, _ := plist.Get(a.payload, "args")
	effects := []string{"the tool does more than read"}
	if a.world.Change != nil {
		list, _ := arguments.(sexp.List)
		c := a.world.Change(name, list)
		if c.Text != "" {
			return Presentation{Summary: c.Summary, Language: "text", Text: Visible(c.Text), Effects: c.Effects}
		}
		if c.Summary != "" {
			file := a.short(c.File)
			return Presentation{
				Summary: c.Summary, Language: "diff", Text: diff.Unified(c.Before, c.After, diff.Options{OldName: file, NewName: file}),
				Effects: append(c.Effects, "it runs nothing and sends nothing over the network"),
			}
		}
		if len(c.Effects) > 0 {
			effects = c.Effects
		}
	}
	return Presentation{
		Summary: "Call the tool " + name, Language: "lisp", Text: pretty(arguments), Effects: effects,
	}
}

// batch presents the calls of a batch, one below the other.
func (a view) batch() Presentation {
	value, _ := plist.Get(a.payload, "calls")
	calls, _ := value.(sexp.List)
	p := Presentation{Summary: fmt.Sprintf("Make %s together", count(len(calls), "call")), Language: "text"}
	same := len(calls) > 0
	first := ""
	var text strings.Builder
	for i, item := range calls {
		call, _ := item.(sexp.List)
		one := view{action: a.action, payload: call, world: a.world}.call()
		if i == 0 {
			first = one.Summary
		}
		same = same && one.Summary == first
		fmt.Fprintf(&text, "%d. %s\n%s\n\n", i+1, one.Summary, strings.TrimRight(one.Text, "\n"))
		for _, effect := range one.Effects {
			if !slices.Contains(p.Effects, effect) {
				p.Effects = append(p.Effects, effect)
			}
		}
	}
	if same {
		p.Summary = fmt.Sprintf("%s, %d times", first, len(calls))
	}
	p.Text = strings.TrimRight(text.String(), "\n") + "\n"
	return p
}

// properties presents :set-properties: what is there now only the Emacs that performs it
// knows.
func (a view) properties() Presentation {
	value, _ := plist.Get(a.payload, "properties")
	list, _ := value.(sexp.List)
	var names []string
	var lines strings.Builder
	add := func(name string, value sexp.Sexp) {
		text, isText := value.(plist.String)
		if !isText {
			text = plist.String(plist.Print(value))
		}
		names = append(names, name)
		fmt.Fprintf(&lines, "+:%s: %s\n", name, string(text))
	}
	for i := 0; i < len(list); i++ {
		if pair, isPair := list[i].(sexp.List); isPair && len(pair) == 2 {
			name, _ := pair[0].(plist.String)
			add(strings.ToUpper(string(name)), pair[1])
			continue
		}
		if key, isKey := list[i].(plist.Keyword); isKey && i+1 < len(list) {
			add(strings.ToUpper(string(key)), list[i+1])
			i++
		}
	}
	return Presentation{
		Summary: fmt.Sprintf("Set %s of the entry %s", strings.Join(names, ", "), a.id()), Language: "diff", Text: lines.String(),
		Effects: []string{
			fmt.Sprintf("%s of the entry with the :ID: %s change, in the buffer that has it, as one undo step", count(len(names), "property"), a.id()),
			"it sends nothing over the network",
		},
	}
}

// edit presents :edit with a diff: of the lines of its file, if the old text is there once,
// or else of the two texts alone.
func (a view) edit() Presentation {
	before, after, path := a.text("old"), a.text("new"), a.text("file")
	name := a.short(path)
	if path == "" {
		name = "the entry " + a.id()
	}
	p := Presentation{Summary: "Change " + name, Language: "diff"}
	p.Effects = []string{fmt.Sprintf("it changes %s in the buffer that visits it, as one undo step; a buffer without unsaved work is saved", name)}
	p.Text = a.lines(path, name, before, after, &p.Effects)
	p.Effects = append(p.Effects, "it runs nothing and sends nothing over the network")
	return p
}

func (a view) text(key string) string {
	s, _ := plist.Text(a.payload, key)
	return s
}

// id is the entry that is acted on; :id may stand beside the payload.
func (a view) id() string {
	if id := a.text("id"); id != "" {
		return id
	}
	id, _ := plist.Text(a.action, "id")
	return id
}

// short is a path as people write it.
func (a view) short(path string) string {
	if a.world.User == "" {
		return path
	}
	if rest, err := filepath.Rel(a.world.User, path); err == nil && rest != ".." && !strings.HasPrefix(rest, "../") {
		return "~/" + rest
	}
	return path
}

func word(list sexp.List, key string) string {
	k, _ := plist.KeywordValue(list, key)
	return string(k)
}

// plain is a value as text: what a string says, or else how the value is written.
func plain(list sexp.List, key string) string {
	value, _ := plist.Get(list, key)
	if s, ok := value.(plist.String); ok {
		return string(s)
	}
	return strings.TrimPrefix(plist.Print(value), ":")
}

// pretty is a plist with a key a line.
func pretty(value sexp.Sexp) string {
	list, _ := value.(sexp.List)
	if len(list) < 4 {
		return plist.Print(value)
	}
	var lines []string
	for pair := range slices.Chunk(list, 2) {
		printed := plist.Print(sexp.List(pair))
		lines = append(lines, printed[1:len(printed)-1])
	}
	return "(" + strings.Join(lines, "\n ") + ")"
}

// count is a number with what it counts.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ok := strings.CutSuffix(what, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
