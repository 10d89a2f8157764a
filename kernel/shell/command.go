package shell

import (
	"path"
	"slices"
	"strings"
)

// command adds a simple command, and what its program would run.
func (r *reader) command(words []Word, assigns int, from origin, input stdin) {
	index := r.add(Command{Words: words, Assigns: assigns}, from)
	if r.err != nil || assigns == len(words) {
		return
	}
	if words[assigns].Kind != Literal || words[assigns].Home {
		r.dark(index, -1, "which program it is is not known before it runs")
		return
	}
	name, standard := programOf(words[assigns].Text)
	if name == "" {
		r.dark(index, -1, "it names no program")
		return
	}
	p, known := programNamed(name)
	if !known {
		return
	}
	c := call{reader: r, index: index, name: name, words: words, program: assigns, line: from.line, input: input}
	p.see(&c)
	r.script.Commands[index].Through = p.through && standard && assigns == 0 && c.ran && len(r.script.Commands[index].Opaque) == 0
}

// dark says of a command what cannot be told.
func (r *reader) dark(index, at int, why string) {
	c := &r.script.Commands[index]
	c.Opaque = append(c.Opaque, Opacity{Why: why, At: at})
}

// systemDirectories are where a program is the one that its name says.
var systemDirectories = [...]string{"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin"}

// programOf is the name of a program, and whether it is the one that everybody means by it.
func programOf(word string) (name string, standard bool) {
	if !strings.Contains(word, "/") {
		return word, true
	}
	return path.Base(word), slices.Contains(systemDirectories[:], path.Dir(word))
}

// Program is the name that a command's program goes by: without the directory if that is
// where the system has its programs, else the word as it is.
func Program(word string) string {
	if name, standard := programOf(word); standard {
		return name
	}
	return word
}

// call is a program with its words while it is looked at.
type call struct {
	*reader
	index   int
	name    string
	words   []Word
	program int // where the program stands in words
	line    int
	input   stdin
	ran     bool // something that it runs was found
}

// program is how the words of a program are seen through.
type program struct {
	through bool // it does nothing but run what it is given
	see     func(c *call)
}

// rest are the words behind the program.
func (c *call) rest() []Word { return c.words[c.program+1:] }

// at is the place of the word number i of the rest.
func (c *call) at(i int) int { return c.program + 1 + i }

// dark says what cannot be told; i is a word of the rest, -1 that none decides.
func (c *call) dark(i int, why string) {
	if i >= 0 {
		i = c.at(i)
	}
	c.reader.dark(c.index, i, why)
}

// literal says that the words from i to j decide what it is.
func (c *call) literal(i, j int, why string) {
	for ; i < j && i < len(c.rest()); i++ {
		c.dark(i, why)
	}
}

// runs adds the command that begins with the word number i of the rest, and that more words
// follow. Its assignments stand from there on.
func (c *call) runs(i int, more ...Word) {
	words := slices.Concat(c.rest()[i:], more)
	assigns, kept := 0, []Word{}
	takes := c.name == "env" || c.name == "sudo" // to any other it is the name of a program
	for ; takes && assigns < len(words) && isAssignment(words[assigns]); assigns++ {
		if name, _, _ := strings.Cut(words[assigns].Text, "="); steers(name, true) {
			kept = append(kept, words[assigns])
		}
	}
	if assigns == len(words) {
		return
	}
	c.ran = true
	c.below(func() {
		c.reader.command(append(kept, words[assigns:]...), len(kept), origin{by: c.index, from: c.at(i), at: c.at(i + assigns), line: c.line}, stdin{})
	})
}

// below looks at what a program runs, which may run others, but not for ever.
func (c *call) below(look func()) {
	if c.depth++; c.depth > throughLimit {
		c.dark(-1, "too many programs run one another")
	} else {
		look()
	}
	c.depth--
}

// runsText adds what a shell would run that was given a text; i is the word that it stands
// in, -1 for none.
func (c *call) runsText(text string, i int) {
	at := -1
	if i >= 0 {
		at = c.at(i)
	}
	before := len(c.script.Commands)
	var err error
	c.below(func() { err = c.text(text, origin{by: c.index, from: at, at: at, text: true, line: c.line}) })
	if err != nil && c.reader.err == nil {
		c.script.Commands = c.script.Commands[:before]
		c.dark(i, "what it is given to run cannot be read")
	}
	c.ran = true
}

// runsWord is runsText for a word, which may not be known.
func (c *call) runsWord(i int) {
	w := c.rest()[i]
	if w.Kind != Literal || w.Home {
		c.dark(-1, "what it runs is not known before")
		return
	}
	c.runsText(w.Text, i)
}

// isAssignment reports whether a word is NAME=VALUE.
func isAssignment(w Word) bool {
	name, _, found := strings.Cut(w.Text, "=")
	if !found || name == "" || w.Kind == Many {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// options are the options that a program is known to have, of which nothing follows for what
// it runs.
type options struct {
	flags string // letters that stand alone
	takes string // letters that have an operand
	long  string // names, blank-separated; with = they have an operand
}

// skip passes over the options at the beginning of words. What is not known says so, in ok.
func (o options) skip(words []Word) (next int, ok bool) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		if w.Kind != Literal {
			return i, false
		}
		switch {
		case w.Text == "--":
			return i + 1, true
		case !strings.HasPrefix(w.Text, "-") || w.Text == "-":
			return i, true
		case strings.HasPrefix(w.Text, "--"):
			operand, known := o.longOption(w.Text[2:])
			if !known || operand > 0 && spreadsAt(words, i+1) {
				return i, false
			}
			i += operand
		default:
			operand, known := o.cluster(w.Text[1:])
			if !known || operand > 0 && spreadsAt(words, i+1) {
				return i, false
			}
			i += operand
		}
	}
	return len(words), true
}

// spreadsAt reports whether a word could become any number of words, so that nobody knows what
// the next one is.
func spreadsAt(words []Word, i int) bool { return i < len(words) && words[i].Kind == Many }

// longOption says how many of the next words belong to an option.
func (o options) longOption(text string) (words int, known bool) {
	name, _, joined := strings.Cut(text, "=")
	for option := range strings.FieldsSeq(o.long) {
		bare, operand := strings.CutSuffix(option, "=")
		if bare != name {
			continue
		}
		if operand && !joined {
			return 1, true
		}
		return 0, operand || !joined
	}
	return 0, false
}

// cluster is longOption for letters that stand together.
func (o options) cluster(letters string) (words int, known bool) {
	for i, c := range letters {
		switch {
		case strings.ContainsRune(o.takes, c):
			if i+1 < len(letters) {
				return 0, true // the rest is the operand
			}
			return 1, true
		case !strings.ContainsRune(o.flags, c):
			return 0, false
		}
	}
	return 0, true
}
