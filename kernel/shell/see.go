package shell

import (
	"regexp"
	"strings"
)

// seeShell sees through sh -c TEXT, a script, and a text that is read.
func seeShell(c *call) {
	words := c.rest()
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.Kind != Literal:
			c.dark(-1, "what the shell runs is not known before")
			return
		case w.Text == "--norc" || w.Text == "--noprofile" || w.Text == "--posix":
		case w.Text == "-o" || w.Text == "+o":
			if i++; spreadsAt(words, i) {
				c.dark(-1, unseenWhy)
				return
			}
		case !strings.HasPrefix(w.Text, "-") || w.Text == "-" || w.Text == "--":
			if w.Text[:min(1, len(w.Text))] == "-" {
				i++
			}
			if i < len(words) {
				c.literal(0, i+1, codeWhy) // a script
				return
			}
		case strings.HasPrefix(w.Text, "--") || strings.Trim(w.Text[1:], "ceuxfvn") != "":
			c.dark(-1, unseenWhy)
			return
		case strings.Contains(w.Text, "c"):
			c.shellText(i + 1)
			return
		}
	}
	if c.input.known {
		c.otherwise(func() { c.runsText(c.input.text, -1) })
		return
	}
	c.dark(-1, stdinWhy)
}

// shellText is what stands behind -c, maybe after more options.
func (c *call) shellText(i int) {
	if i >= len(c.rest()) {
		return
	}
	w := c.rest()[i]
	if w.Kind == Literal && strings.HasPrefix(w.Text, "-") {
		c.dark(-1, unseenWhy)
		return
	}
	c.otherwise(func() { c.runsWord(i) })
}

// otherwise looks at what may be read by a shell that is not bash.
func (c *call) otherwise(look func()) {
	before := c.posix
	c.posix = before || c.name != "bash"
	look()
	c.posix = before
}

// seeCommand: -v and -V only tell where a program is.
func seeCommand(c *call) {
	if words := c.rest(); len(words) > 0 && words[0].Kind == Literal && (words[0].Text == "-v" || words[0].Text == "-V") {
		return
	}
	wraps(true, options{flags: "p"}, 0).see(c)
}

func seeXargs(c *call) {
	o := options{flags: "0rtpx", takes: "InLPsdE", long: "null no-run-if-empty verbose interactive exit max-args= max-procs= max-lines= max-chars= delimiter= show-limits"}
	next, ok := o.skip(c.rest())
	if !ok {
		c.dark(-1, unseenWhy)
		return
	}
	if next == len(c.rest()) {
		return // it echoes
	}
	place := ""
	for i, w := range c.rest()[:next] {
		letters, found := strings.CutPrefix(w.Text, "-")
		_, behind, has := strings.Cut(letters, "I")
		if !found || strings.HasPrefix(letters, "-") || !has {
			continue
		}
		if place = behind; place == "" && i+1 < next {
			place = c.rest()[i+1].Text
		}
	}
	saved := c.words
	c.words = append([]Word(nil), c.words...)
	for i := c.at(next); i < len(c.words); i++ {
		if place != "" && strings.Contains(c.words[i].Text, place) {
			c.words[i] = Word{Text: c.words[i].Text, Kind: One}
		}
	}
	if place != "" {
		c.runs(next)
	} else {
		c.runs(next, Word{Text: "…", Kind: Many})
	}
	c.words = saved
}

func seeEval(c *call) {
	texts, known := literals(c.rest())
	switch {
	case !known:
		c.dark(-1, "what it runs is not known before")
	case len(texts) > 0:
		c.runsText(strings.Join(texts, " "), -1)
	}
}

func seeTrap(c *call) {
	words := c.rest()
	if len(words) > 0 && words[0].Text != "-" && words[0].Text != "" && words[0].Text != "-p" && words[0].Text != "-l" {
		c.runsWord(0)
	}
}

// seeSet lets through what only makes a script stop earlier or say more.
func seeSet(c *call) {
	for _, w := range c.rest() {
		switch w.Text {
		case "--":
			return
		case "errexit", "nounset", "pipefail", "xtrace", "noclobber":
			continue
		}
		if w.Kind != Literal || len(w.Text) < 2 || w.Text[0] != '-' && w.Text[0] != '+' || strings.Trim(w.Text[1:], "euxCo") != "" {
			c.dark(-1, "it can change what other words mean")
			return
		}
	}
}

// evaluates is that the shell evaluates what stands in the brackets of a variable's name.
const evaluates = "the shell evaluates what variables are named"

// seeDeclare looks at what is set for the programs that follow.
func seeDeclare(c *call) {
	for i, w := range c.rest() {
		name, _, _ := strings.Cut(w.Text, "=")
		switch {
		case w.Kind == Many || w.Kind == One && !isAssignment(w) || strings.Contains(name, "["):
			c.dark(-1, evaluates)
		case isAssignment(w) && steers(name, true):
			c.dark(i, "it sets "+name+", which programs look at")
		case strings.HasPrefix(w.Text, "-") && strings.Trim(w.Text[1:], "raAgp") != "":
			c.dark(-1, "it can change what other words mean")
		}
	}
}

// seeNames looks at what a command of the shell sets.
func seeNames(c *call) {
	for _, w := range c.rest() {
		switch {
		case w.Kind != Literal || strings.Contains(w.Text, "["):
			c.dark(-1, evaluates)
		case isName(w.Text) && steers(w.Text, false):
			c.dark(-1, "it sets "+w.Text+", which programs look at")
		case strings.HasPrefix(w.Text, "-") && c.name == "mapfile" || c.name == "readarray":
			c.dark(-1, "it can run a command for what it reads")
		}
	}
}

// seeTest: [, test, printf and wait have names only behind an option, which an unknown word
// could be.
func seeTest(c *call) {
	words := c.rest()
	for i, w := range words {
		named := w.Text == "-v" || w.Text == "-R" || w.Text == "-p" && c.name == "wait"
		switch c.name {
		case "printf":
			named = i == 0 && (named || w.Kind != Literal)
		case "wait":
			named = named || w.Kind != Literal
		default:
			named = named || w.Kind == Many ||
				w.Kind == One && i+1 < len(words) && (words[i+1].Kind != Literal || strings.Contains(words[i+1].Text, "["))
		}
		if named {
			c.dark(-1, evaluates)
			return
		}
	}
}

func isName(text string) bool { return isAssignment(Word{Text: text + "="}) }

// seeWatch: it gives its words to a shell, unless it is told not to.
func seeWatch(c *call) {
	next, ok := options{flags: "bcdegtpw0123456789.", takes: "n", long: "beep color differences errexit chgexit interval= no-title precise"}.skip(c.rest())
	if !ok {
		c.dark(-1, unseenWhy)
		return
	}
	c.joined(next)
}

// joined is a program that gives the words from number i on to a shell, as one text.
func (c *call) joined(i int) {
	if i >= len(c.rest()) {
		return
	}
	texts, known := literals(c.rest()[i:])
	if !known {
		c.dark(-1, "what it runs is not known before")
		return
	}
	c.runsText(strings.Join(texts, " "), i)
	c.literal(i+1, len(c.rest()), codeWhy)
}

func seeScript(c *call) {
	for i, w := range c.rest() {
		if w.Kind == Literal && (w.Text == "-c" || w.Text == "-qc" || w.Text == "--command") && i+1 < len(c.rest()) {
			c.literal(0, i, optionWhy)
			c.runsWord(i + 1)
			c.literal(i+2, len(c.rest()), optionWhy)
			return
		}
	}
	c.dark(-1, stdinWhy)
}

// seeUser is su: -c TEXT runs as somebody else.
func seeUser(c *call) {
	c.moves = true
	for i, w := range c.rest() {
		if w.Kind == Literal && (w.Text == "-c" || w.Text == "--command") && i+1 < len(c.rest()) {
			c.literal(0, i, optionWhy)
			c.runsWord(i + 1)
			c.literal(i+2, len(c.rest()), optionWhy)
			return
		}
	}
	c.dark(-1, "it opens a shell")
}

func seeLock(c *call) {
	next, ok := options{flags: "exnsuoF", takes: "wE", long: "exclusive shared nonblock unlock close timeout= wait= no-fork verbose"}.skip(c.rest())
	if !ok || next >= len(c.rest()) {
		c.dark(-1, unseenWhy)
		return
	}
	if spreadsAt(c.rest(), next) {
		c.dark(-1, unseenWhy)
		return
	}
	next++ // the file
	if next+1 < len(c.rest()) && (c.rest()[next].Text == "-c" || c.rest()[next].Text == "--command") {
		c.runsWord(next + 1)
		return
	}
	if next < len(c.rest()) {
		c.runs(next)
	}
}

// seeSecureShell: what runs on another machine is told like what runs here.
func seeSecureShell(c *call) {
	words := c.rest()
	next, ok := options{flags: "46AaCfGgKkMNnqsTtVvXxYy", takes: "BbcDEeIiJLlmOpRSWw"}.skip(words)
	if !ok {
		c.literal(0, len(words), optionWhy)
		for _, w := range words {
			if w.Kind != Literal {
				c.dark(-1, optionWhy)
			}
		}
		return
	}
	c.moves = true
	if next+1 >= len(words) {
		c.dark(-1, stdinWhy)
		return
	}
	c.joined(next + 1)
}

// seeMake: a target is what make's file says; options and variables can say anything.
func seeMake(c *call) {
	for i, w := range c.rest() {
		switch {
		case w.Kind != Literal:
			c.dark(-1, ownWhy)
		case isAssignment(w) || strings.HasPrefix(w.Text, "-"):
			c.literal(i, i+1, optionWhy)
			if len(w.Text) == 2 && !strings.ContainsAny(w.Text[1:], "bBdeijklnqrsStvw") {
				c.literal(i+1, i+2, optionWhy) // its operand
			}
		}
	}
}

// seeTar: of its options, also without a hyphen, some run programs.
func seeTar(c *call) {
	if words := c.rest(); len(words) > 0 && words[0].Kind == Literal && !strings.HasPrefix(words[0].Text, "-") && strings.ContainsAny(words[0].Text, "IFT") {
		c.literal(0, len(words), optionWhy)
	}
	guard(c, 0, "IFT", "files-from use-compress-program info-script new-volume-script checkpoint-action to-command rsh-command rmt-command")
}

// simpleSed are the commands of sed that only change the text.
var simpleSed = regexp.MustCompile(`^\s*(?:(?:\d+|\$|/[^/\n\\]*/)(?:,(?:\d+|\$|/[^/\n\\]*/))?\s*!?\s*)?(?:[pdqQ=]|s/[^/\n;]*/[^/\n;]*/[gpIi0-9]*|s\|[^|\n;]*\|[^|\n;]*\|[gpIi0-9]*|s#[^#\n;]*#[^#\n;]*#[gpIi0-9]*|s,[^,\n;]*,[^,\n;]*,[gpIi0-9]*)?\s*$`)

// seeSed: its scripts can run commands and write files.
func seeSed(c *call) {
	scripts, operands := 0, []int{}
	check := func(i int) {
		scripts++
		if i >= len(c.rest()) {
			return
		}
		w := c.rest()[i]
		if w.Kind != Literal {
			c.dark(-1, codeWhy)
			return
		}
		for part := range strings.SplitSeq(w.Text, ";") {
			if !simpleSed.MatchString(part) || strings.Contains(part, `\`+"\n") {
				c.dark(i, "the script can run commands or write files")
				return
			}
		}
	}
	words, ended := c.rest(), false
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.Kind != Literal:
			if !ended || len(operands) == 0 && scripts == 0 {
				c.dark(-1, codeWhy) // it could be an option
			}
			operands = append(operands, i)
		case !ended && w.Text == "-e":
			i++
			check(i)
		case w.Text == "--":
			ended = true
		case !ended && w.Text != "-" && strings.HasPrefix(w.Text, "-"):
			if strings.Trim(w.Text[1:], "nErsuz") != "" {
				c.literal(i, i+2, optionWhy)
			}
		default:
			operands = append(operands, i)
		}
	}
	if scripts == 0 && len(operands) > 0 && words[operands[0]].Kind == Literal {
		check(operands[0])
	}
}

// seeAwk: its programs can run commands and write files.
func seeAwk(c *call) {
	words := c.rest()
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.Kind != Literal:
			c.dark(-1, codeWhy)
			return
		case w.Text == "-F" || w.Text == "-v":
			if i++; spreadsAt(words, i) {
				c.dark(-1, codeWhy)
				return
			}
		case strings.HasPrefix(w.Text, "-F") || strings.HasPrefix(w.Text, "-v"):
		case strings.HasPrefix(w.Text, "-"):
			c.literal(0, len(words), optionWhy)
			return
		default:
			for _, way := range [...]string{"system", "getline", "|", ">", "@", "\\"} {
				if strings.Contains(w.Text, way) {
					c.dark(i, "the program can run commands or write files")
					return
				}
			}
			return
		}
	}
}
