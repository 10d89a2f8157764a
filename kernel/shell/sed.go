package shell

import (
	"regexp"
	"strings"
)

// readSed reads the words of sed, whose scripts can run commands and write files.
func readSed(c *call) {
	words, ended, scripts, operands := c.rest(), false, 0, []int{}
	check := func(i int, text string) {
		scripts++
		if i >= len(words) {
			return
		}
		if words[i].Kind != Literal {
			c.unknown(-1, codeWhy)
			return
		}
		if !onlyEdits(text) {
			c.unknown(i, "the script can run commands or touch other files")
		}
	}
	for i := 0; i < len(words); i++ {
		w := words[i]
		expression, long := strings.CutPrefix(w.Text, "--expression=")
		switch {
		case w.Kind != Literal:
			if !ended || len(operands) == 0 && scripts == 0 {
				c.unknown(-1, codeWhy) // it could be an option
			}
			operands = append(operands, i)
		case w.Text == "--" && !ended:
			ended = true
		case ended || w.Text == "-" || !strings.HasPrefix(w.Text, "-"):
			operands = append(operands, i)
		case long:
			check(i, expression)
		case w.Text == "--sandbox" || w.Text == "--posix" || w.Text == "--debug" || w.Text == "--version" || w.Text == "--help" || w.Text == "--binary" || w.Text == "-b":
		case w.Text == "--quiet" || w.Text == "--silent" || w.Text == "--regexp-extended" || w.Text == "--null-data" || w.Text == "--separate" || w.Text == "--unbuffered":
		case strings.Trim(w.Text[1:], "nErsuz") == "":
		case strings.Trim(w.Text[1:len(w.Text)-1], "nErsuz") == "" && strings.HasSuffix(w.Text, "e"):
			if i++; i < len(words) {
				check(i, words[i].Text)
			}
		default:
			c.literal(i, i+2, optionWhy)
		}
	}
	if scripts == 0 && len(operands) > 0 && words[operands[0]].Kind == Literal {
		check(operands[0], words[operands[0]].Text)
	}
}

// onlyEdits reports whether a script of sed only changes and prints the text that sed reads. The
// commands e and w, the flags e and w of s, and r, R and W are all that do more. A script is read as
// every sed reads it: where they differ, for example on a slash in brackets, the answer is false.
func onlyEdits(script string) bool {
	if strings.HasSuffix(script, "\\\n") {
		return false // another script could go on
	}
	s := &sedScript{text: script}
	for {
		s.skip(" \t\n;")
		if s.text == "" {
			return true
		}
		if !s.address() || !s.command() {
			return false
		}
	}
}

// sedScript is the rest of a script.
type sedScript struct{ text string }

func (s *sedScript) skip(signs string) { s.text = strings.TrimLeft(s.text, signs) }

// take removes a match of the pattern from the beginning, and reports whether there is one.
func (s *sedScript) take(pattern *regexp.Regexp) bool {
	at := pattern.FindStringIndex(s.text)
	if at == nil {
		return false
	}
	s.text = s.text[at[1]:]
	return true
}

// sedSigns are the signs between the parts of a command that are read.
const sedSigns = "/|#,:!@%+_~="

var (
	sedLine   = regexp.MustCompile(`^(?:\d+(?:~\d+)?|\$)`)
	sedSecond = regexp.MustCompile(`^[+~]\d+`)
	sedCase   = regexp.MustCompile(`^[IM]*`)
	sedFlags  = regexp.MustCompile(`^[gpiIM0-9]*`)
	sedNumber = regexp.MustCompile(`^[ \t]*\d*`)
	sedLabel  = regexp.MustCompile(`^[ \t]*\w*`)
	// sedText is a text on the line of its command, or behind a backslash on the next ones. A backslash at the
	// end of a line goes on with the next one.
	sedText  = regexp.MustCompile(`^[ \t]*(?:[^ \t\\\n]|\\\n[^\\\n]|\\[^\\\n])(?:[^\\\n]|\\(?s:.))*(?:\n|$)`)
	sedLines = regexp.MustCompile(`^[^\n]*`)
)

// address removes the lines that a command is for, if they stand there.
func (s *sedScript) address() bool {
	if found, ok := s.line(); found || !ok {
		if !ok {
			return false
		}
		s.skip(" \t")
		if strings.HasPrefix(s.text, ",") {
			s.text = s.text[1:]
			s.skip(" \t")
			if found, ok := s.line(); !ok || !found && !s.take(sedSecond) {
				return false
			}
		}
	}
	s.skip(" \t")
	s.skip("!")
	s.skip(" \t")
	return true
}

// line removes one address. ok is false if it cannot be read.
func (s *sedScript) line() (found, ok bool) {
	switch {
	case s.take(sedLine):
		return true, true
	case strings.HasPrefix(s.text, "/"):
		s.text = s.text[1:]
		return true, s.part('/', true) && s.take(sedCase)
	case len(s.text) > 1 && s.text[0] == '\\' && strings.Contains(sedSigns, s.text[1:2]):
		sign := s.text[1]
		s.text = s.text[2:]
		return true, s.part(sign, true) && s.take(sedCase)
	}
	return false, true
}

// command removes one command.
func (s *sedScript) command() bool {
	if s.text == "" {
		return false
	}
	name := s.text[0]
	s.text = s.text[1:]
	switch name {
	case '{', '}':
		return true
	case '#':
		return s.take(sedLines)
	case '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F':
	case 'q', 'Q', 'l':
		s.take(sedNumber)
	case ':', 'b', 't', 'T':
		s.take(sedLabel)
		s.skip(" \t") // versions differ in whether a # belongs to the label
		return s.text == "" || strings.Contains("\n;}", s.text[:1])
	case 'a', 'i', 'c':
		return s.take(sedText)
	case 's', 'y':
		if s.text == "" || !strings.Contains(sedSigns, s.text[:1]) {
			return false
		}
		sign := s.text[0]
		s.text = s.text[1:]
		if !s.part(sign, name == 's') || !s.part(sign, false) {
			return false
		}
		if name == 's' {
			s.take(sedFlags)
		}
	default:
		return false
	}
	s.skip(" \t") // the command has to end here
	return s.text == "" || strings.Contains("\n;}#", s.text[:1])
}

// part removes a pattern or a replacement and the sign that ends it. It returns false if the sign
// also stands in brackets of a pattern, where some versions of sed do not take it for the end, or if the part goes
// on in the next line.
func (s *sedScript) part(sign byte, pattern bool) bool {
	brackets := false
	for i := 0; i < len(s.text); i++ {
		switch c := s.text[i]; {
		case c == '\n':
			return false
		case c == '\\':
			if i++; i == len(s.text) || s.text[i] == '\n' || brackets && (s.text[i] == ']' || s.text[i] == '[') {
				return false // in brackets, versions differ in what it does to the next sign
			}
		case c == sign:
			s.text = s.text[i+1:]
			return !brackets
		case brackets && c == '[' && i+1 < len(s.text) && strings.Contains(":.=", s.text[i+1:i+2]):
			end := strings.Index(s.text[i+2:], s.text[i+1:i+2]+"]")
			if end < 0 || strings.ContainsAny(s.text[i:i+2+end], "\n\\"+string(sign)) && s.text[i+1] != sign {
				return false
			}
			i += end + 3
		case c == '[' && pattern && !brackets:
			brackets = true
			if i+1 < len(s.text) && s.text[i+1] == '^' {
				i++
			}
			if i+1 < len(s.text) && s.text[i+1] == ']' {
				i++
			}
		case c == ']':
			brackets = false
		}
	}
	return false
}
