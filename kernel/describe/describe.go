// Package describe says what a person is shown of an action before deciding about it, and later
// of what was done: what it is in a line, the whole of what it would do, and which effects that
// has. What that is each kind of action knows; here is the form of it, and what descriptions are
// made with. It decides nothing.
//
// What an action holds comes from outside. [Description.Finished] makes it plain text in which
// nothing is hidden: see [Visible]. Making it Org, or cutting it to what a screen holds, is for
// whoever shows it, who then says so.
package describe

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
)

// Description is what a person is shown of an action.
type Description struct {
	Summary  string   // one line, at most 72 characters
	Language string   // of Text: "diff", "text" or "lisp"
	Text     string   // the whole of it
	Effects  []string // one line each
}

// World is what is looked at to say more of an action. The zero value knows nothing.
type World struct {
	// User is the directory that is written ~.
	User string
	// Read returns the text of a file as it is on the disk; nil reads none.
	Read func(path string) (string, error)
	// Change returns what calling a tool with arguments would change; nil, or a zero Change,
	// knows nothing.
	Change func(tool string, arguments sexp.Sexp) Change
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

// Finished is the description as it is shown: every character of it seen, and the summary of a
// length that fits a line.
func (d Description) Finished(w World) Description {
	d.Effects = slices.Clone(d.Effects)
	if w.Once {
		d.Effects = append(d.Effects, "you are asked each time: it can be allowed once only")
	}
	if hidden := hiddenIn(d.Text); hidden > 0 {
		d.Effects = append(d.Effects, fmt.Sprintf("it holds %s that cannot be seen: each stands here as ⟨U+…⟩", Count(hidden, "character")))
	}
	d.Summary, d.Text = clip(line(d.Summary), summaryLimit), Visible(d.Text)
	for i, effect := range d.Effects {
		d.Effects[i] = line(effect)
	}
	return d
}

// ChangeOf is what the call of a tool would change, the zero Change where nobody knows.
func (w World) ChangeOf(tool string, arguments sexp.Sexp) Change {
	if w.Change == nil {
		return Change{}
	}
	return w.Change(tool, arguments)
}

// Short is a path as people write it.
func (w World) Short(path string) string {
	if w.User == "" {
		return path
	}
	if rest, err := filepath.Rel(w.User, path); err == nil && rest != ".." && !strings.HasPrefix(rest, "../") {
		return "~/" + rest
	}
	return path
}

// Plain is a value as text: what a string says, or else how the value is written.
func Plain(value sexp.Sexp) string {
	if s, ok := value.(plist.String); ok {
		return string(s)
	}
	return strings.TrimPrefix(plist.Print(value), ":")
}

// Pretty is a plist with a key a line.
func Pretty(value sexp.Sexp) string {
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

// Count is a number with what it counts.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if stem, ok := strings.CutSuffix(what, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, what)
}
