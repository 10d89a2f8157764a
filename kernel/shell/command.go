package shell

import (
	"path"
	"slices"
	"strings"
)

// command adds a simple command, and the commands that its program would run.
func (r *reader) command(words []Word, assigns int, from origin, input stdin) {
	index := r.add(Command{Words: words, Assigns: assigns}, from)
	if r.err != nil || assigns == len(words) {
		return
	}
	if words[assigns].Kind != Literal || words[assigns].Home {
		r.unknown(index, -1, "which program it is is not known before it runs")
		return
	}
	name, standard := programOf(words[assigns].Text)
	if name == "" {
		r.unknown(index, -1, "it names no program")
		return
	}
	p, known := programNamed(name, standard)
	if !known {
		return
	}
	c := call{reader: r, index: index, name: name, words: words, program: assigns, line: from.line, input: input}
	p.read(&c)
	r.script.Commands[index].Harmless = (p.harmless || c.filters) && name == words[assigns].Text && assigns == 0 && len(r.script.Commands[index].Opaque) == 0
	r.script.Commands[index].OnlyRuns = p.onlyRuns && standard && assigns == 0 && c.ran && len(r.script.Commands[index].Opaque) == 0
}

// unknown records something that the command could run and that its words do not tell. at is the
// index of the word that decides it, or -1.
func (r *reader) unknown(index, at int, why string) {
	c := &r.script.Commands[index]
	if at >= 0 && slices.ContainsFunc(c.Opaque, func(o Opacity) bool { return o.At == at }) {
		return
	}
	c.Opaque = append(c.Opaque, Opacity{Why: why, At: at})
}

// systemDirectories are the directories in which a program is what its name says.
var systemDirectories = [...]string{"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin"}

// programOf returns the name of a program without its directory. standard is true if the word has
// no directory or one of systemDirectories.
func programOf(word string) (name string, standard bool) {
	if !strings.Contains(word, "/") {
		return word, true
	}
	return path.Base(word), slices.Contains(systemDirectories[:], path.Dir(word))
}

// Program returns the name by which rules know a command's program. It is the word without its
// directory if that is one of the system's, and otherwise the word as it is.
func Program(word string) string {
	if name, standard := programOf(word); standard {
		return name
	}
	return word
}

// call is a program and its words while they are being read.
type call struct {
	*reader
	index   int
	name    string
	words   []Word
	program int // where the program stands in words
	line    int
	input   stdin
	ran     bool // a command that it runs was found
	filters bool // it only passes on what it is given
}

// program says how the words of a program are read.
type program struct {
	onlyRuns bool // it does nothing but run other commands
	harmless bool // it does nothing outside of its shell
	read     func(c *call)
}

// rest returns the words behind the program.
func (c *call) rest() []Word { return c.words[c.program+1:] }

// at returns the index in words of word i of the rest.
func (c *call) at(i int) int { return c.program + 1 + i }

// unknown calls [reader.unknown] for word i of the rest. i is -1 if no word decides.
func (c *call) unknown(i int, why string) {
	if i >= 0 {
		i = c.at(i)
	}
	c.reader.unknown(c.index, i, why)
}

// neutral records that word i of the rest changes nothing about what the program does.
func (c *call) neutral(i int) {
	command := &c.script.Commands[c.index]
	command.Neutral = append(command.Neutral, c.at(i))
}

// enters records that the words i to j of the rest have the program change to a directory.
func (c *call) enters(i, j int, directory string) {
	command := &c.script.Commands[c.index]
	command.Enters = append(command.Enters, Entry{Directory: directory, From: c.at(i), At: c.at(j)})
}

// aside records that word i of the rest names no file that the program touches.
func (c *call) aside(i int) {
	command := &c.script.Commands[c.index]
	command.Aside = append(command.Aside, c.at(i))
}

// literal records that each word of the rest from i up to j decides what the program does.
func (c *call) literal(i, j int, why string) {
	for ; i < j && i < len(c.rest()); i++ {
		c.unknown(i, why)
	}
}

// runs adds the command that the program runs: the words of the rest from i on, followed by more.
// For env and sudo it may begin with assignments.
func (c *call) runs(i int, more ...Word) {
	words := slices.Concat(c.rest()[i:], more)
	assigns, relevant := 0, []Word{}
	takes := c.name == "env" || c.name == "sudo" // any other program takes NAME=VALUE for the name of a program
	for ; takes && assigns < len(words) && isAssignment(words[assigns]); assigns++ {
		if name, value, _ := strings.Cut(words[assigns].Text, "="); affectsPrograms(name, value, words[assigns].Kind == Literal, true) {
			relevant = append(relevant, words[assigns])
		}
	}
	if assigns == len(words) {
		return
	}
	c.ran = true
	c.nested(func() {
		c.reader.command(append(relevant, words[assigns:]...), len(relevant), origin{by: c.index, from: c.at(i), at: c.at(i + assigns), line: c.line}, stdin{})
	})
}

// nested calls read for what a program runs. It limits the depth of such calls.
func (c *call) nested(read func()) {
	if c.depth++; c.depth > nestingLimit {
		c.unknown(-1, "too many programs run one another")
	} else {
		read()
	}
	c.depth--
}

// runsText adds the commands that a shell would run for a text. The text is word i of the rest; i
// is -1 if it is no word.
func (c *call) runsText(text string, i int) {
	at := -1
	if i >= 0 {
		at = c.at(i)
	}
	before := len(c.script.Commands)
	var err error
	c.nested(func() { err = c.text(text, origin{by: c.index, from: at, at: at, text: true, line: c.line}) })
	if err != nil && c.reader.err == nil {
		c.script.Commands = c.script.Commands[:before]
		c.unknown(i, "what it is given to run cannot be read")
	}
	c.ran = true
}

// runsWord calls runsText for word i of the rest, which may be unknown.
func (c *call) runsWord(i int) {
	w := c.rest()[i]
	if w.Kind != Literal || w.Home {
		c.unknown(-1, "what it runs is not known before")
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

// options are the known options of a program that do not change what it runs.
type options struct {
	flags string // letters that stand alone
	takes string // letters with an operand
	long  string // names, separated by blanks; one with an operand ends with =
}

// skip returns the index of the first word after the options. ok is false if a word may be an
// unknown option.
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

// spreadsAt reports whether word i could become any number of words, so that the next word is
// unknown too.
func spreadsAt(words []Word, i int) bool { return i < len(words) && words[i].Kind == Many }

// longOption returns how many of the next words are the operand of a long option, and whether the
// option is known.
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

// cluster does the same as longOption for the letters after one hyphen.
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
