// Package describe defines the form in which people are shown an action, before they decide about
// it and after it was done: a summary in one line, the whole text of what it would do, and its
// effects. Each kind of action makes its own descriptions. The package decides nothing.
//
// The content of an action comes from outside. [Description.Finished] turns it into plain text in
// which nothing is hidden; see [Visible]. A caller that converts the text to Org or shortens it
// must say so to the reader.
package describe

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/text"
)

// Description is what a person is shown of an action.
type Description struct {
	Summary  string   // one line, at most 72 characters
	Language string   // of Text: "diff", "text" or "lisp"
	Text     string   // complete
	Effects  []string // one line each
}

// Deps is what a description may look up. The zero value knows nothing.
type Deps struct {
	// User is the directory that is written as ~.
	User string
	// Read returns the text of a file on the disk. nil: no file can be read.
	Read func(path string) (string, error)
	// Change returns what calling a tool with the arguments would change. nil or a zero Change:
	// that is not known.
	Change func(tool string, arguments sexp.Sexp) Change
	// Once is true if the action can only be allowed once.
	Once bool
}

// Change is what a tool call would change in a file, with a summary.
type Change struct {
	Summary       string
	File          string
	Before, After string
	Effects       []string
	// Text describes what would be done if no text of a file changes.
	Text string
}

// summaryLimit is the maximum length of a summary in characters.
const summaryLimit = 72

// Finished returns the description for display: every character is visible, the summary fits a line,
// and the effects write ~ as the summary does.
func (d Description) Finished(deps Deps) Description {
	d.Effects = slices.Clone(d.Effects)
	if deps.Once {
		d.Effects = append(d.Effects, "you are asked each time: it can only be allowed once")
	}
	if hidden := hiddenIn(d.Text); hidden > 0 {
		d.Effects = append(d.Effects, fmt.Sprintf("it contains %s that cannot be seen: each is shown as ⟨U+…⟩", text.Count(hidden, "character")))
	}
	if _, runs := withoutRuns(d.Text); runs > 0 {
		d.Effects = append(d.Effects, fmt.Sprintf("it contains %s of blanks or empty lines: each is shown as its length", text.Count(runs, "long run")))
	}
	d.Effects = append(d.Effects, alike(d.Text)...)
	d.Summary, d.Text = text.Clip(line(d.Summary), summaryLimit), Visible(d.Text)
	for i, effect := range d.Effects {
		d.Effects[i] = deps.ShortIn(line(effect))
	}
	return d
}

// ChangeOf returns what a tool call would change, or the zero Change if that is not known.
func (d Deps) ChangeOf(tool string, arguments sexp.Sexp) Change {
	if d.Change == nil {
		return Change{}
	}
	return d.Change(tool, arguments)
}

// Short writes a path with ~ for the user's directory.
func (d Deps) Short(path string) string {
	if d.User == "" {
		return path
	}
	if rest, err := filepath.Rel(d.User, path); err == nil && rest != ".." && !strings.HasPrefix(rest, "../") {
		return "~/" + rest
	}
	return path
}

// ShortIn writes ~ for the user's directory wherever a path in a text begins with it or is it.
func (d Deps) ShortIn(text string) string {
	if d.User == "" || d.User == "/" {
		return text
	}
	var b strings.Builder
	for {
		before, behind, found := strings.Cut(text, d.User)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(behind)
		if (before == "" || strings.ContainsRune(" \"'(=:,", last)) && (behind == "" || strings.ContainsRune("/ \"'):,;", next)) {
			b.WriteString("~")
		} else {
			b.WriteString(d.User) // a part of a longer path, or another name that begins so
		}
		text = behind
	}
}

// Plain returns a string's text, or the written form of any other value.
func Plain(value sexp.Sexp) string {
	if s, ok := value.(plist.String); ok {
		return string(s)
	}
	return strings.TrimPrefix(plist.Print(value), ":")
}

// Pretty writes a plist with one key a line.
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
