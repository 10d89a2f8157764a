package shell

import "strings"

// readShell reads the words of a shell. It runs the TEXT of -c TEXT, a script, or its input.
func readShell(c *call) {
	words := c.rest()
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.Kind != Literal:
			c.unknown(-1, "what the shell runs is not known before")
			return
		case w.Text == "--norc" || w.Text == "--noprofile" || w.Text == "--posix":
		case w.Text == "-o" || w.Text == "+o":
			if i++; spreadsAt(words, i) {
				c.unknown(-1, optionsWhy)
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
			c.unknown(-1, optionsWhy)
			return
		case strings.Contains(w.Text, "c"):
			c.shellText(i + 1)
			return
		}
	}
	if c.input.known {
		c.withOtherShell(func() { c.runsText(c.input.text, -1) })
		return
	}
	c.unknown(-1, stdinWhy)
}

// shellText adds what the text after -c runs. More options may stand before the text.
func (c *call) shellText(i int) {
	if i >= len(c.rest()) {
		return
	}
	w := c.rest()[i]
	if w.Kind == Literal && strings.HasPrefix(w.Text, "-") {
		c.unknown(-1, optionsWhy)
		return
	}
	c.withOtherShell(func() { c.runsWord(i) })
}

// withOtherShell calls read for a text that a shell other than bash may get.
func (c *call) withOtherShell(read func()) {
	before := c.posix
	c.posix = before || c.name != "bash"
	read()
	c.posix = before
}

// readCommand reads the words of command. With -v and -V it only tells where a program is.
func readCommand(c *call) {
	if words := c.rest(); len(words) > 0 && words[0].Kind == Literal && (words[0].Text == "-v" || words[0].Text == "-V") {
		return
	}
	wrapper(true, options{flags: "p"}, 0).read(c)
}

func readXargs(c *call) {
	o := options{flags: "0rtpx", takes: "InLPsdE", long: "null no-run-if-empty verbose interactive exit max-args= max-procs= max-lines= max-chars= delimiter= show-limits"}
	next, ok := o.skip(c.rest())
	if !ok {
		c.unknown(-1, optionsWhy)
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
	before := c.words
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
	c.words = before
}

func readEval(c *call) {
	texts, known := literals(c.rest())
	switch {
	case !known:
		c.unknown(-1, "what it runs is not known before")
	case len(texts) > 0:
		c.runsText(strings.Join(texts, " "), -1)
	}
}

func readTrap(c *call) {
	words := c.rest()
	if len(words) > 0 && words[0].Text != "-" && words[0].Text != "" && words[0].Text != "-p" && words[0].Text != "-l" {
		c.runsWord(0)
	}
}

// readSet reads the words of set. The options that only make a script stop earlier or say more are
// known.
func readSet(c *call) {
	for _, w := range c.rest() {
		switch w.Text {
		case "--":
			return
		case "errexit", "nounset", "pipefail", "xtrace", "noclobber":
			continue
		}
		if w.Kind != Literal || len(w.Text) < 2 || w.Text[0] != '-' && w.Text[0] != '+' || strings.Trim(w.Text[1:], "euxCo") != "" {
			c.unknown(-1, "it can change what other words mean")
			return
		}
	}
}

// evaluatesWhy is the reason for a variable's name with brackets: the shell evaluates their
// content.
const evaluatesWhy = "the shell evaluates what variables are named"

// readDeclare reads the words of declare and export, which set variables for the programs that follow.
func readDeclare(c *call) {
	readNothing(c)
	for i, w := range c.rest() {
		name, value, _ := strings.Cut(w.Text, "=")
		switch {
		case w.Kind == Many || w.Kind == One && !isAssignment(w) || strings.Contains(name, "["):
			c.unknown(-1, evaluatesWhy)
		case isAssignment(w) && affectsPrograms(name, value, w.Kind == Literal, c.name == "export"):
			c.unknown(i, "it sets "+name+", which programs look at")
		case strings.HasPrefix(w.Text, "-") && strings.Trim(w.Text[1:], "raAgp") != "":
			c.unknown(-1, "it can change what other words mean")
		}
	}
}

// readNames reads the words of commands that set the variables they name, such as read.
func readNames(c *call) {
	readNothing(c)
	for _, w := range c.rest() {
		switch {
		case w.Kind != Literal || strings.Contains(w.Text, "["):
			c.unknown(-1, evaluatesWhy)
		case isName(w.Text) && affectsPrograms(w.Text, "", false, false):
			c.unknown(-1, "it sets "+w.Text+", which programs look at")
		case strings.HasPrefix(w.Text, "-") && (c.name == "mapfile" || c.name == "readarray"):
			c.unknown(-1, "it can run a command for what it reads")
		}
	}
}

// readTest reads the words of [, test, printf and wait. They take the name of a variable only after
// an option, and an unknown word could be that option.
func readTest(c *call) {
	words := c.rest()
	for i := range words {
		if c.name == "[" || c.name == "test" {
			c.asideOfTest(i)
		}
	}
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
			c.unknown(-1, evaluatesWhy)
			return
		}
	}
}

// asideOfTest records that word i of a test is compared as a text, unless it is or could be the operand of
// an operator for files.
func (c *call) asideOfTest(i int) {
	words := c.rest()
	for _, w := range words {
		if w.Text == "-nt" || w.Text == "-ot" || w.Text == "-ef" {
			return
		}
	}
	if i > 0 && (words[i-1].Kind != Literal || len(words[i-1].Text) == 2 && strings.Contains("-abcdefghkprstuwxGLNOS", words[i-1].Text[1:]) && words[i-1].Text[0] == '-') {
		return
	}
	c.aside(i)
}

// readEcho reads the words of echo, which prints them. A word that may become any number of words may be a
// pattern, for which the shell puts the names of files.
func readEcho(c *call) {
	for i, w := range c.rest() {
		if w.Kind != Many || len(w.Among) > 0 && !w.Pattern { // the words of a loop are known texts
			c.aside(i)
		}
	}
}

// readPrintf reads the words of printf, which does the same, and sets a variable with -v.
func readPrintf(c *call) {
	readTest(c)
	readEcho(c)
}

// readNothing reads the words of a command that does not look at them.
func readNothing(c *call) {
	for i := range c.rest() {
		c.aside(i)
	}
}

func isName(text string) bool { return isAssignment(Word{Text: text + "="}) }

// readWatch reads the words of watch, which gives them to a shell unless an option says otherwise.
func readWatch(c *call) {
	next, ok := options{flags: "bcdegtpw0123456789.", takes: "n", long: "beep color differences errexit chgexit interval= no-title precise"}.skip(c.rest())
	if !ok {
		c.unknown(-1, optionsWhy)
		return
	}
	c.runsJoined(next)
}

// runsJoined adds what a shell runs when it is given the words of the rest, from i on, as one text.
func (c *call) runsJoined(i int) {
	if i >= len(c.rest()) {
		return
	}
	texts, known := literals(c.rest()[i:])
	if !known {
		c.unknown(-1, "what it runs is not known before")
		return
	}
	c.runsText(strings.Join(texts, " "), i)
	c.literal(i+1, len(c.rest()), codeWhy)
}

func readScript(c *call) {
	for i, w := range c.rest() {
		if w.Kind == Literal && (w.Text == "-c" || w.Text == "-qc" || w.Text == "--command") && i+1 < len(c.rest()) {
			c.literal(0, i, optionWhy)
			c.runsWord(i + 1)
			c.literal(i+2, len(c.rest()), optionWhy)
			return
		}
	}
	c.unknown(-1, stdinWhy)
}

// readUser reads the words of su: -c TEXT runs as another user.
func readUser(c *call) {
	c.course.moves = true
	for i, w := range c.rest() {
		if w.Kind == Literal && (w.Text == "-c" || w.Text == "--command") && i+1 < len(c.rest()) {
			c.literal(0, i, optionWhy)
			c.runsWord(i + 1)
			c.literal(i+2, len(c.rest()), optionWhy)
			return
		}
	}
	c.unknown(-1, "it opens a shell")
}

func readLock(c *call) {
	next, ok := options{flags: "exnsuoF", takes: "wE", long: "exclusive shared nonblock unlock close timeout= wait= no-fork verbose"}.skip(c.rest())
	if !ok || next >= len(c.rest()) {
		c.unknown(-1, optionsWhy)
		return
	}
	if spreadsAt(c.rest(), next) {
		c.unknown(-1, optionsWhy)
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

// readSecureShell reads the words of ssh. A command on another machine is read like one on this
// machine.
func readSecureShell(c *call) {
	words := c.rest()
	next, ok := options{flags: "46AaCfGgKkMNnqsTtVvXxYy", takes: "bciJlmp"}.skip(words)
	if !ok {
		c.literal(0, len(words), optionWhy)
		for _, w := range words {
			if w.Kind != Literal {
				c.unknown(-1, optionWhy)
			}
		}
		return
	}
	c.course.moves = true
	if next+1 >= len(words) {
		c.unknown(-1, stdinWhy)
		return
	}
	if w := words[next+1]; w.Kind == Literal && strings.HasPrefix(w.Text, "-") { // ssh takes it for its own
		c.literal(0, len(words), optionWhy)
		return
	}
	c.runsJoined(next + 1)
}
