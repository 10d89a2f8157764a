// Package shell reads what a command line would run: every simple command in it, wherever it
// stands, and the files that its redirections touch. It judges nothing.
//
// It never guesses that something is harmless. A word is known or it is not; a program that
// runs others is seen through, and what it runs is a [Command] of its own; what cannot be seen
// through is said to be so, with the words that a person would have to have agreed to. Text is
// read as bash reads it, which is the shell that has to be given it, or as any other does
// where a command names one.
//
// All of it is functions of their arguments; nothing blocks, and work is bounded by the length
// of the text, which has a limit.
package shell

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// textLimit is the most bytes of a command line; longer ones belong in a file.
	textLimit = 32 << 10
	// depthLimit is how deep brackets may be nested.
	depthLimit = 200
	// throughLimit is how many programs that run others may stand before one another.
	throughLimit = 12
	// commandLimit is how many simple commands there may be.
	commandLimit = 2000
)

// Script is what a command line would do, in the order of the text.
type Script struct {
	Commands []Command
	Files    []File
}

// Command is one simple command.
type Command struct {
	// Words begin with as many assignments as Assigns says, unless nothing follows from them;
	// then comes the program, if there is one, and its arguments.
	Words   []Word
	Assigns int
	Line    int // of the text, from 1; of the outermost if it stands in the words of another
	// By is the place in Script.Commands of the program that runs it, -1 if it is the shell
	// itself. From and At are that one's words in which this command begins, and in which its
	// program stands.
	By, From, At int
	// Text: it stands in the text that is the word At.
	Text bool
	// Through: it does nothing but run others, which come behind it.
	Through bool
	// Opaque is what it could run besides that cannot be told.
	Opaque []Opacity
}

// Opacity is one thing that cannot be told of a command.
type Opacity struct {
	Why string // a sentence about the command
	// At is the word that decides what it is: who agreed to this very word agreed to it. It is
	// negative where no word does.
	At int
}

// Word is one argument.
type Word struct {
	Text string // what it is; as it was written where that is not known
	Kind WordKind
	// Home: the Text begins with a ~ that the shell replaces by the user's directory.
	Home bool
}

// WordKind says what is known of a word before it runs.
type WordKind int

const (
	Literal WordKind = iota // its text
	One                     // that it is one word
	Many                    // nothing: it can become any number of words
)

// File is a file that the shell itself opens for a command.
type File struct {
	Path   Word
	Write  bool
	Line   int
	Within bool // of a directory that a command before it chose, if the name is relative
}

// ErrTooLarge is in the chain of the error of a text that is too long or nested too deep.
var ErrTooLarge = errors.New("too much for one command line")

// Parse reads a command line. The error says what is wrong with it.
func Parse(text string) (Script, error) {
	r := &reader{}
	if err := r.text(text, origin{by: -1}); err != nil {
		return Script{}, err
	}
	for i := range r.script.Files {
		r.script.Files[i].Within = r.moves
	}
	return r.script, nil
}

// reader collects what is in a text.
type reader struct {
	script Script
	moves  bool   // a command changes the directory
	source string // the text that is read
	posix  bool   // the shell may be another one than bash
	depth  int    // of texts in texts
	err    error
}

// origin is where a text came from.
type origin struct {
	by, from, at int // as in Command
	text         bool
	line         int // of the outermost text; 0: it is that
}

// text reads a command line into the script.
func (r *reader) text(text string, from origin) error {
	if len(text) > textLimit {
		return fmt.Errorf("%w: it has %d bytes and may have %d; put it into a file", ErrTooLarge, len(text), textLimit)
	}
	if r.depth++; r.depth > throughLimit {
		return fmt.Errorf("%w: shells in shells, more than %d deep", ErrTooLarge, throughLimit)
	}
	defer func() { r.depth-- }()
	if strings.ContainsAny(text, "\x00\r") {
		return errors.New("a command has no NUL and no carriage return in it: shells do not agree on what they are")
	}
	if nested(text) > depthLimit {
		return fmt.Errorf("%w: it is nested more than %d deep", ErrTooLarge, depthLimit)
	}
	file, err := parse(text)
	if err != nil {
		return err
	}
	if joinsLines(text) {
		from := origin{by: from.by, from: from.from, at: from.at, text: from.text, line: max(from.line, 1)}
		r.add(Command{Words: []Word{{Text: text, Kind: Many}}, Opaque: []Opacity{{Why: "what a backslash at the end of a line joins is not looked into", At: -1}}}, from)
	}
	before := r.source
	r.source = text
	r.walk(file, from)
	r.source = before
	return r.err
}

// commented is a comment with a backslash at the end of its line.
var commented = regexp.MustCompile("(?:^|[\\s;&|()<>`])#[^\n]*\\\\\n")

// joinsLines reports whether a backslash joins lines where the parser and a shell may not agree
// that it does: in a comment, in a here-document, and within what could be one sign of the
// shell's, as no blank stands before.
func joinsLines(text string) bool {
	if !strings.Contains(text, "\\\n") {
		return false
	}
	for at := range len(text) - 1 {
		if text[at] == '\\' && text[at+1] == '\n' && at > 0 && text[at-1] != ' ' && text[at-1] != '\t' {
			return true
		}
	}
	return strings.Contains(text, "<<") || commented.MatchString(text)
}

// parse is the library's parser, of which a panic is an error like any other.
func parse(text string) (file *syntax.File, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("the command cannot be read: %v", fault)
		}
	}()
	file, err = syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, fmt.Errorf("the command cannot be read: %s", strings.TrimPrefix(err.Error(), ":"))
	}
	return file, nil
}

// nested is how deep the brackets of a text may be nested, whether or not they are quoted:
// cheaply, so that the parser's stack stays small whatever it is given.
func nested(text string) int {
	open, most := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '{', '[':
			open++
			most = max(most, open)
		case ')', '}', ']':
			open = max(open-1, 0)
		}
	}
	return most
}
