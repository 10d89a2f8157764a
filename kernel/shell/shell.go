// Package shell reads what a command line would run: every simple command in it, wherever it
// stands, and the files that its redirections touch. It judges nothing.
//
// It never guesses that something is harmless. A word is known or it is not. Where a program runs
// others, its words are read, and each command that it runs is a [Command] of its own. If the words
// do not tell what runs, the command has an [Opacity] that says so, with the word that a person
// would have to agree to. The text is read as bash reads it, so bash has to run it. Where a command
// names another shell, the text for that shell is read as any shell reads it.
//
// All functions depend only on their arguments. Nothing blocks, and the work is bounded by the
// length of the text, which has a limit.
package shell

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	// textLimit is the maximum length of a command line in bytes. A longer text belongs in a file.
	textLimit = 32 << 10
	// depthLimit is how deep brackets may be nested.
	depthLimit = 200
	// nestingLimit is how deep programs that run programs, and shells in shells, may be nested.
	nestingLimit = 12
	// commandLimit is the maximum number of simple commands.
	commandLimit = 2000
)

// Script is what a command line would do, in the order of the text.
type Script struct {
	Commands []Command
	Files    []File
	// Changes are the changes of the directory with which the text begins.
	Changes []Change
}

// Command is one simple command.
type Command struct {
	// Words are Assigns assignments, then the program, if there is one, and its arguments. An
	// assignment that has no effect is left out.
	Words   []Word
	Assigns int
	Line    int // in the text, from 1; a command in the words of another has the line of the outermost
	// By is the index in Script.Commands of the program that runs this command, or -1 for the shell
	// itself. From and At are indices of words of that program: this command begins in the word
	// From, and its program stands in the word At.
	By, From, At int
	// Text is true if the command stands in a text for a shell, which is the word At.
	Text bool
	// OnlyRuns is true if the command does nothing but run others, which follow it in the Script.
	OnlyRuns bool
	// Harmless is true if the command is one of the shell's own that runs nothing and changes nothing
	// outside of its shell. It may still look at the files that it names.
	Harmless bool
	// Neutral are indices of words that change nothing about what the program does, only how fast and
	// how loudly. They may stand in any command of a person's rule.
	Neutral []int
	// Enters are the directories that the program changes to before it works, one after the other.
	Enters []Entry
	// Aside are indices of words that name no file that the program touches: a pattern that it looks
	// for, or what it leaves out.
	Aside []int
	// Obeys is true if the program obeys files of the directory in which it runs, such as its makefile or
	// the settings of its repository. Files says which.
	Obeys bool
	Files Files
	// Reads is true if the program changes no files. What its options can do besides is in Opaque.
	Reads bool
	// After is how many of Script.Changes come before the command. Moved is true if the directory in which it
	// runs is not known from them.
	After int
	Moved bool
	// Opaque lists what else the command could run and cannot be told from its words.
	Opaque []Opacity
}

// Files are the files by which the directory of a command decides what runs.
type Files struct {
	// Names are patterns for files in the directory. "*" stands for any file: which they are is not known.
	Names []string
	// Above are patterns for files in the directory and in those above it.
	Above []string
}

// Entry is a directory that a program changes to. From and At are the indices of the first and the
// last word that say so.
type Entry struct {
	Directory string
	From, At  int
}

// Opacity is one thing that the words of a command do not tell.
type Opacity struct {
	Why string // a sentence about the command
	// At is the index of the word that decides it. A person who agreed to exactly this word agreed
	// to it. At is -1 if no word decides.
	At int
	// Perhaps is the word because of which it is so, if the files that are there can tell that it is not: a
	// pattern that matches no name that begins like an option. nil: they cannot.
	Perhaps *Word
}

// Word is one argument.
type Word struct {
	Text string // its value, or the text as written if the value is unknown
	Kind WordKind
	// Home is true if the Text begins with a ~, which the shell replaces by the user's directory.
	Home bool
	// Number is true for a word of the kind One that becomes a number.
	Number bool
	// Starts is what every word begins with that a word of the kinds One and Many can become. "": that is not
	// known.
	Starts string
	// Pattern is true if the Text is a pattern for the names of files and nothing else.
	Pattern bool
	// Among are the words of which a word of the kind One is one, known texts and patterns, or the empty text. None: they
	// are not known.
	Among []Word
}

// isOneOf reports whether all that the word can become is known and satisfies the condition.
func (w Word) isOneOf(satisfies func(text string) bool) bool {
	for _, of := range w.Among {
		if of.Kind != Literal || !satisfies(of.Text) {
			return false
		}
	}
	return len(w.Among) > 0
}

// begins reports whether the beginning of all that the word can become is known and satisfies the condition.
func (w Word) begins(satisfies func(text string) bool) bool {
	for _, of := range w.Among {
		if of.Kind == Literal && !satisfies(of.Text) || of.Kind != Literal && !of.begins(satisfies) {
			return false
		}
	}
	return len(w.Among) > 0 || w.Starts != "" && satisfies(w.Starts+"…")
}

// WordKind says how much of a word is known before the command runs.
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
	After  int  // as in Command
	Within bool // a relative Path may be in another directory, as for a Command that is Moved
}

// ErrTooLarge is wrapped by the error for a text that is too long or nested too deep.
var ErrTooLarge = errors.New("too much for one command line")

// Parse reads a command line. The error says what is wrong with it.
func Parse(text string) (Script, error) {
	r := &reader{}
	if err := r.text(text, origin{by: -1}); err != nil {
		return Script{}, err
	}
	r.course.settle(&r.script)
	return r.script, nil
}

// reader collects the commands and files of a text.
type reader struct {
	script  Script
	course  course // how the directory changes
	source  string // the text that is read
	numbers numbers
	posix   bool // the shell may be another one than bash
	depth   int  // how many texts contain this one
	err     error
}

// origin is where a text stands.
type origin struct {
	by, from, at int // as in Command
	text         bool
	line         int // in the outermost text; 0 for that text itself
}

// text reads a command line into the script.
func (r *reader) text(text string, from origin) error {
	if len(text) > textLimit {
		return fmt.Errorf("%w: it has %d bytes and may have %d; put it into a file", ErrTooLarge, len(text), textLimit)
	}
	if r.depth++; r.depth > nestingLimit {
		return fmt.Errorf("%w: shells in shells, more than %d deep", ErrTooLarge, nestingLimit)
	}
	defer func() { r.depth-- }()
	if strings.ContainsAny(text, "\x00\r") {
		return errors.New("a command has no NUL and no carriage return in it: shells do not agree on what they are")
	}
	if bracketDepth(text) > depthLimit {
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
	before, numbersBefore := r.source, r.numbers
	r.source, r.numbers = text, numbers{}
	arithmetics := strings.Contains(text, "((") || strings.Contains(text, "$[")
	if from.by < 0 && (arithmetics || strings.Contains(text, "for")) { // the variables of any other text may be set outside of it
		r.numbers = r.numbersIn(file)
		r.numbers.arithmetics = arithmetics
	}
	if from.by < 0 && r.course.leads == nil {
		r.leading(file)
	}
	r.course.repeating(file)
	r.walk(file, from)
	r.source, r.numbers = before, numbersBefore
	return r.err
}

// commented is a comment with a backslash at the end of its line.
var commented = regexp.MustCompile("(?:^|[\\s;&|()<>`])#[^\n]*\\\\\n")

// joinsLines reports whether a backslash stands at the end of a line where the parser and a shell
// may disagree on whether it joins the lines. That is in a comment, in a here-document, and behind
// anything but a blank, where it could split an operator of the shell.
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

// parse calls the library's parser. A panic of the parser is an error like any other.
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

// bracketDepth returns an upper bound of how deep the brackets of a text are nested, without regard
// to quotes. It keeps the parser's stack small for any text.
func bracketDepth(text string) int {
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
