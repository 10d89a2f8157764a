package shell

import (
	"regexp"
	"slices"
	"strings"
)

// readAwk reads the words of awk, whose programs can run commands and write files.
func readAwk(c *call) {
	words := c.rest()
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.Kind != Literal:
			c.unknown(-1, codeWhy)
			return
		case w.Text == "-F" || w.Text == "-v":
			if i++; spreadsAt(words, i) {
				c.unknown(-1, codeWhy)
				return
			}
		case w.Text == "--":
		case strings.HasPrefix(w.Text, "-F") || strings.HasPrefix(w.Text, "-v"):
		case strings.HasPrefix(w.Text, "-"):
			c.literal(0, len(words), optionWhy)
			return
		default:
			if !onlyComputes(w.Text) {
				c.unknown(i, "the program can run commands or touch other files")
			}
			c.aside(i)
			return
		}
	}
}

// onlyComputes reports whether a program of awk runs no command and touches no file but those that it
// is given. It does more only by the functions of [awkReaches], by a bar, by the output of print and printf
// into a file, and in gawk by an @. Where versions of awk divide a text differently, for example a slash
// in the brackets of a pattern, the answer is false.
func onlyComputes(program string) bool {
	a := awkProgram{text: program, after: "\n"}
	for a.at < len(a.text) {
		if !a.token() {
			return false
		}
	}
	return true
}

// awkReaches are the names with which a program runs something, or reads or writes what it was not given.
var awkReaches = [...]string{"system", "getline", "extension", "ARGV", "ARGC", "SYMTAB", "FUNCTAB"}

// beforePattern are the words of the language behind which a slash begins a pattern.
var beforePattern = [...]string{"print", "printf", "return", "in", "case", "do", "else", "delete", "exit"}

// awkProgram is a program that is divided into its tokens.
type awkProgram struct {
	text  string
	at    int
	after string // the token before: a name, "0" for what is a value, or a sign
	// open has for each open parenthesis whether a statement such as if stands before it. closed is that of
	// the last one that was closed.
	open   []bool
	closed bool
	// printing is one more than how many were open where a print began that has not ended, or 0.
	printing int
}

const (
	awkLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	awkDigits  = "0123456789"
)

// token passes the next token. It returns false if it could be one that does more than compute.
func (a *awkProgram) token() bool {
	c := a.text[a.at]
	switch {
	case c == ' ' || c == '\t':
		a.at++
		return true
	case c == '#':
		for a.at < len(a.text) && a.text[a.at] != '\n' {
			a.at++
		}
		return true
	case strings.IndexByte(awkLetters, c) >= 0:
		name := a.run(awkLetters + awkDigits)
		if name == "print" || name == "printf" {
			a.printing = len(a.open) + 1
		}
		a.after = name
		return !slices.Contains(awkReaches[:], name)
	case strings.IndexByte(awkDigits+".", c) >= 0:
		a.at += len(awkNumber.FindString(a.text[a.at:]))
		a.after = "0"
		return a.at == len(a.text) || strings.IndexByte(awkLetters, a.text[a.at]) < 0 // else a name may begin in it
	case c == '"':
		a.after = "0"
		return a.until('"', false)
	case c == '/':
		return a.slash()
	}
	return a.sign(c)
}

// run passes the longest text of these letters.
func (a *awkProgram) run(letters string) string {
	from := a.at
	for a.at < len(a.text) && strings.IndexByte(letters, a.text[a.at]) >= 0 {
		a.at++
	}
	return a.text[from:a.at]
}

// until passes a text or a pattern up to the sign that ends it.
func (a *awkProgram) until(end byte, pattern bool) bool {
	brackets := false
	for a.at++; a.at < len(a.text); a.at++ {
		switch c := a.text[a.at]; {
		case c == '\n':
			return false
		case c == '\\':
			if a.at++; a.at == len(a.text) || a.text[a.at] == '\n' || brackets {
				return false
			}
		case c == end:
			a.at++
			return !brackets
		case c == '[' && pattern:
			if brackets {
				return false // a class, or a bracket: versions differ in how they find its end
			}
			brackets = true
			if strings.HasPrefix(a.text[a.at:], "[^") {
				a.at++
			}
			if strings.HasPrefix(a.text[a.at+1:], "]") {
				return false
			}
			if end := classes.FindString(a.text[a.at+1:]); end != "" {
				a.at += len(end)
			}
		case c == ']':
			brackets = false
		}
	}
	return false
}

// slash passes a division or a pattern. What it is is told by the token before it.
func (a *awkProgram) slash() bool {
	first, value := a.after[0], false
	switch {
	case a.after == ")":
		if a.closed {
			return false // behind if (…) it is a pattern, and behind another one a division
		}
		value = true
	case a.after == "0" || a.after == "]":
		value = true
	case a.after == "+" || a.after == "-":
		return false // it could be one of two
	case a.after == "length" || a.after == "$":
		return false
	case strings.IndexByte(awkLetters, first) >= 0:
		value = !slices.Contains(beforePattern[:], a.after)
	}
	if value {
		a.at++
		a.after = "/"
		return true
	}
	a.after = "0"
	return a.until('/', true)
}

// endsLine reports whether the end of a line ends the statement in every version of awk.
func (a *awkProgram) endsLine() bool {
	switch first := a.after[0]; {
	case first == '0' || first == ')' || first == ']' || a.after == "print" || a.after == "printf":
		return true
	default:
		return strings.IndexByte(awkLetters, first) >= 0 && !slices.Contains(beforePattern[:], a.after)
	}
}

// sign passes any other sign.
func (a *awkProgram) sign(c byte) bool {
	switch c {
	case '(':
		a.open = append(a.open, a.after == "if" || a.after == "while" || a.after == "for" || a.after == "switch")
	case ')':
		if len(a.open) == 0 {
			return false
		}
		a.closed = a.open[len(a.open)-1]
		a.open = a.open[:len(a.open)-1]
	case ';', '}', '{':
		a.printing = 0
	case '\n':
		if a.endsLine() {
			a.printing = 0
		} else if a.printing > 0 {
			a.at++
			return true // versions differ in where a line goes on
		}
	case '>':
		if a.printing > 0 && len(a.open) < a.printing {
			return false
		}
	case '|':
		if !strings.HasPrefix(a.text[a.at:], "||") {
			return false
		}
		a.at++
	case '$', '[', ']', ',', '+', '-', '*', '%', '^', '!', '<', '=', '~', '?', ':', '&':
	default:
		return false
	}
	a.at++
	a.after = string(c)
	return true
}

// awkNumber matches a number, or a dot.
var awkNumber = regexp.MustCompile(`^[0-9.]+(?:[eE][-+]?[0-9]+)?`)

// classes matches the classes of letters at the beginning of brackets, and what stands before and between them.
var classes = regexp.MustCompile(`^(?:[^\]\[\\/\n]*\[:[a-z]+:\])+`)
