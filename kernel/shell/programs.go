package shell

import "strings"

const (
	codeWhy    = "it runs code that is not looked into"
	optionWhy  = "the option makes it run or write something else"
	optionsWhy = "its options are not known well enough to tell what it runs"
	stdinWhy   = "it runs what it is given to read"
	ownWhy     = "what it runs stands in files of its own"
)

// wrapper describes a program that runs the words after its options and operands. onlyRuns is true
// if it does nothing else.
func wrapper(onlyRuns bool, o options, operands int) program {
	return program{onlyRuns: onlyRuns, read: func(c *call) {
		next, ok := o.skip(c.rest())
		if !ok {
			c.unknown(-1, optionsWhy)
			return
		}
		for ; operands > 0 && next < len(c.rest()); operands-- {
			if spreadsAt(c.rest(), next) {
				c.unknown(-1, optionsWhy)
				return
			}
			next++
		}
		if next < len(c.rest()) {
			c.runs(next)
		}
	}}
}

// interpreter reads the words of an interpreter: the first operand, a script or code, decides what
// it does.
func interpreter(c *call) {
	words := c.rest()
	obeys(c, strings.TrimRight(c.name, "0123456789."), len(words) > 0 && words[0].Kind == Literal && !strings.HasPrefix(words[0].Text, "-"))
	for i, w := range words {
		if w.Kind != Literal || w.Home && i == 0 {
			c.unknown(-1, codeWhy)
			return
		}
		if w.Text == "-" {
			break
		}
		if !strings.HasPrefix(w.Text, "-") {
			if i == 0 {
				c.literal(0, 1, codeWhy) // a script; the arguments are the script's own
			} else {
				c.literal(0, len(words), codeWhy)
			}
			return
		}
		if w.Text == "-m" && i == 0 && strings.HasPrefix(c.name, "python") {
			c.literal(0, 2, codeWhy)
			return
		}
		if w.Text == "--version" || w.Text == "--help" || w.Text == "-V" && strings.HasPrefix(c.name, "python") || w.Text == "-v" && (c.name == "node" || c.name == "ruby" || c.name == "php" || c.name == "perl") {
			c.literal(0, len(words), codeWhy)
			return
		}
	}
	for _, w := range words { // -e'CODE', and options before nothing
		if len(w.Text) > 2 && w.Text[0] == '-' && strings.ContainsAny(w.Text, " ;(=") {
			c.literal(0, len(words), codeWhy)
			return
		}
	}
	c.unknown(-1, stdinWhy)
}

// opaqueProgram describes a program whose words do not tell what it runs.
func opaqueProgram(why string) program { return program{read: func(c *call) { c.unknown(-1, why) }} }

// firstWordsDecide describes a program where the first n operands, and every option, decide what it
// runs.
func firstWordsDecide(n int, why string) program {
	return program{read: func(c *call) {
		operands := 0
		for i, w := range c.rest() {
			switch {
			case operands >= n && w.Kind == Literal && !strings.HasPrefix(w.Text, "-") && !isAssignment(w):
			case operands >= n && w.Kind != Literal:
				c.unknown(-1, why)
				return
			default:
				c.unknown(i, why)
				if !strings.HasPrefix(w.Text, "-") {
					operands++
				} else if len(w.Text) == 2 { // it may have an operand
					c.literal(i+1, i+2, why)
				}
			}
		}
		if len(c.rest()) < n {
			c.unknown(-1, stdinWhy)
		}
	}}
}
