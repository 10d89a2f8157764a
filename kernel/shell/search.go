package shell

import "strings"

// These are letters of options that have no operand in the next word, but A, B and m a number. C has one in
// some versions only.
const (
	grepFlags    = "nrilwcvEFGPoHhsqxzaILUbTZy0123456789ABm"
	ripgrepFlags = "nilwcvFHhNopsSxUaPquL.0123456789ABm"
)

// readGrep reads the words of grep. It runs nothing.
func readGrep(c *call) {
	for i, w := range c.rest() {
		if w.Kind == Literal && (strings.HasPrefix(w.Text, "--exclude=") || strings.HasPrefix(w.Text, "--exclude-dir=")) {
			c.aside(i)
		}
	}
	c.judge(readPrograms()["grep"], 0)
	c.asidePattern(grepFlags)
}

// readRipgrep reads the words of rg. Some of its options run a program for each file.
func readRipgrep(c *call) {
	c.judge(readPrograms()["rg"], 0)
	c.asidePattern(ripgrepFlags)
}

// asidePattern records that the pattern names no file. Which word it is is told only if every option is
// known not to give it, and not to have an operand that could be taken for it.
func (c *call) asidePattern(flags string) {
	pattern, operand := -1, false
	for i, w := range c.rest() {
		switch {
		case w.Kind != Literal:
			return // it could be an option
		case operand:
			operand = false
			c.aside(i) // a number
		case strings.HasPrefix(w.Text, "--exclude=") || strings.HasPrefix(w.Text, "--exclude-dir=") || strings.HasPrefix(w.Text, "--include=") || strings.HasPrefix(w.Text, "--color="):
		case strings.HasPrefix(w.Text, "-") && strings.Trim(w.Text[1:], flags) != "":
			return
		case strings.HasPrefix(w.Text, "-"):
			operand = strings.Trim(w.Text[len(w.Text)-1:], "ABm") == ""
		case pattern < 0:
			pattern = i
		}
	}
	if pattern >= 0 {
		c.aside(pattern)
	}
}
