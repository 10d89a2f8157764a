package shell

import "strings"

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
		case strings.HasPrefix(w.Text, "-F") || strings.HasPrefix(w.Text, "-v"):
		case strings.HasPrefix(w.Text, "-"):
			c.literal(0, len(words), optionWhy)
			return
		default:
			if !onlyComputes(w.Text) {
				c.unknown(i, "the program can run commands or write files")
			}
			return
		}
	}
}

// onlyComputes reports whether a program of awk runs no command and touches no file but those that it
// is given. It does more only by the function system, by getline, by a bar, by the output of print and
// printf into a file, and in gawk by an @.
//
// The texts and patterns of the program are not told from its code, because a slash can be either. So
// a > counts as a comparison only where no print can be in force: none stands before it, or between
// the last one and it a ; or } has ended the statement and no text or pattern has begun.
func onlyComputes(program string) bool {
	for _, way := range [...]string{"system", "getline", "@", "\\\n"} {
		if strings.Contains(program, way) {
			return false
		}
	}
	if strings.Contains(strings.ReplaceAll(program, "||", ""), "|") {
		return false
	}
	for at := range len(program) {
		if program[at] != '>' {
			continue
		}
		last := strings.LastIndex(program[:at], "print")
		if last < 0 {
			continue
		}
		between := program[last:at]
		if strings.Contains(program, "#") || strings.ContainsAny(between, "\"/\\") || !strings.ContainsAny(between, ";}") {
			return false
		}
	}
	return true
}
