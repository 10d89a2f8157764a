package shell

import (
	"regexp"
	"strings"
)

// These options of make change how much it does at once and what it says. It still runs what the
// makefile has for the targets, or less. -B runs it although nothing has changed.
//
// Every other option stays to be agreed to: -f and --eval bring other rules, -e, -r and -R other
// variables, -t and -o other results, and -i goes on behind a failed line, which the next may rely on.
var (
	makeFlags = regexp.MustCompile(`^(?:-[kBnpqswSd]*(?:j[0-9]*)?|--(?:jobs(?:=[0-9]+)?|keep-going|silent|quiet|always-make|dry-run|just-print|question|print-directory|no-print-directory|output-sync(?:=[a-z]+)?|no-keep-going|debug(?:=[a-z]+)?|trace|version|help))$`)
	makeJobs  = regexp.MustCompile(`^-[kBnpqswSd]*j$|^--jobs$`)
	makeCount = regexp.MustCompile(`^[0-9]+$`)
	// makeTarget is a word that a recipe can use without a shell seeing more than a word.
	makeTarget = regexp.MustCompile(`^[A-Za-z0-9_./%@:,+][A-Za-z0-9_./%@:,+-]*$`)
)

// readMake reads the words of make. The makefile of the directory defines the targets.
func readMake(c *call) {
	words := c.rest()
	obeys(c, c.name, false)
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case w.Kind != Literal || w.Home:
			c.unknown(-1, ownWhy)
		case makeFlags.MatchString(w.Text) && strings.HasPrefix(c.name, "ninja"):
			c.literal(i, i+1, optionWhy)
		case makeFlags.MatchString(w.Text):
			c.neutral(i)
			if makeJobs.MatchString(w.Text) && i+1 < len(words) && words[i+1].Kind == Literal && makeCount.MatchString(words[i+1].Text) {
				i++
				c.neutral(i)
			}
		case (w.Text == "-C" || w.Text == "--directory") && i+1 < len(words) && words[i+1].Kind == Literal && !words[i+1].Home:
			c.enters(i, i+1, words[i+1].Text)
			i++
		case strings.HasPrefix(w.Text, "-C") && len(w.Text) > 2:
			c.enters(i, i, w.Text[2:])
		case strings.HasPrefix(w.Text, "--directory="):
			c.enters(i, i, w.Text[len("--directory="):])
		case !makeTarget.MatchString(w.Text): // an option, a variable in one of many ways to write it, or text for a shell
			c.literal(i, i+1, optionWhy)
			if len(w.Text) == 2 && strings.HasPrefix(w.Text, "-") && !strings.ContainsAny(w.Text[1:], "eirRv") {
				c.literal(i+1, i+2, optionWhy) // its operand
			}
		}
	}
}
