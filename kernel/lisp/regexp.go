package lisp

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// scanner is a compiled regular expression, what cl-ppcre:create-scanner returns. Go
// can only search from the beginning of a text, so there is a second expression that
// searches from its second character on: it is given the character before the place to
// go on from, which \b and ^ look at. Its first group is the match.
type scanner struct {
	first, resumed *regexp.Regexp
	// pattern is what resumed is made from when it is needed.
	pattern string
}

// maximumPattern bounds regular expressions: compiling one takes space beyond its
// length.
const (
	maximumPattern = 10_000
	maximumGroups  = 500
)

// compilePattern compiles a Perl pattern. Of what Go's engine lacks, the most likely
// is named.
func compilePattern(pattern string) (*scanner, string) {
	if len(pattern) > maximumPattern {
		return nil, "the pattern is too long"
	}
	if strings.Count(pattern, "(") > maximumGroups {
		return nil, "the pattern has too many groups"
	}
	translated := goPattern(pattern)
	expression, err := regexp.Compile(translated)
	if err == nil {
		return &scanner{first: expression, pattern: translated}, ""
	}
	for _, missing := range []struct{ text, what string }{
		{"(?=", "look-ahead"}, {"(?!", "negative look-ahead"}, {"(?<=", "look-behind"}, {"(?<!", "negative look-behind"}, {"(?>", "atomic groups"},
	} {
		if strings.Contains(pattern, missing.text) {
			return nil, "regular expressions here have no " + missing.what + ": " + missing.text
		}
	}
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] == '\\' {
			if pattern[i+1] >= '1' && pattern[i+1] <= '9' {
				return nil, "regular expressions here have no back-references: " + pattern[i:i+2]
			}
			i++
		}
	}
	if fault, ok := err.(*syntax.Error); ok {
		return nil, "the regular expression is malformed: " + fault.Code.String() + " " + fault.Expr
	}
	return nil, err.Error()
}

// goPattern translates what the two dialects write differently: without ignoring case
// nothing; with it, letters outside ASCII that fold to ASCII ones must not match them.
func goPattern(pattern string) string {
	var b strings.Builder
	insideClass := false
	folds := strings.HasPrefix(pattern, "(?i)")
	for i := 0; i < len(pattern); i++ {
		ch := pattern[i]
		switch {
		case ch == '\\' && i+1 < len(pattern):
			i++
			if pattern[i] == 'Z' && !insideClass {
				b.WriteString(`(?:\n?\z)`)
				continue
			}
			b.WriteByte('\\')
			b.WriteByte(pattern[i])
		case insideClass:
			insideClass = ch != ']'
			b.WriteByte(ch)
		case ch == '[':
			insideClass = true
			b.WriteByte(ch)
			if strings.HasPrefix(pattern[i+1:], "^]") {
				b.WriteString("^]")
				i += 2
			} else if strings.HasPrefix(pattern[i+1:], "]") {
				b.WriteString("]")
				i++
			}
		case folds && (ch == 's' || ch == 'S' || ch == 'k' || ch == 'K') && !inGroupHead(pattern, i):
			// Go also takes the long s and the Kelvin sign for s and k.
			b.WriteString("[" + strings.ToLower(string(ch)) + strings.ToUpper(string(ch)) + "]")
		default:
			b.WriteByte(ch)
		}
	}
	return b.String()
}

// inGroupHead reports that position i is among the flags or in the name behind (?.
func inGroupHead(pattern string, i int) bool {
	open := strings.LastIndexByte(pattern[:i], '(')
	if open < 0 || !strings.HasPrefix(pattern[open+1:], "?") {
		return false
	}
	return !strings.ContainsAny(pattern[open:i], ":)>")
}

// scanner takes a pattern or a compiled one. Compiled patterns are kept by their text.
func (c *Call) scanner(v Value) *scanner {
	if s, ok := v.(*scanner); ok {
		return s
	}
	return c.compiledPattern(c.str(v).String())
}

func (c *Call) compiledPattern(pattern string) *scanner {
	e := c.environment
	if s, ok := e.patterns[pattern]; ok {
		return s
	}
	c.charge(200 * len(pattern))
	c.work(20 * len(pattern))
	s, problem := compilePattern(pattern)
	if s == nil {
		c.fail(parseError, "%s", problem)
	}
	if e.patterns == nil || len(e.patterns) >= maximumPatterns {
		e.patterns = map[string]*scanner{}
	}
	e.patterns[pattern] = s
	return s
}

// maximumPatterns bounds the compiled patterns a note keeps.
const maximumPatterns = 64

// checkPattern finds faults of a pattern that is written in the call.
func checkPattern(cp *compiler, form *Cons) {
	parts := cp.forms(form.Cdr)
	if len(parts) == 0 {
		return
	}
	if pattern, ok := parts[0].(*String); ok {
		cp.compiledPattern(pattern.String())
	}
}

// subject is a string to be searched, with the means to turn byte offsets of Go into
// positions of Lisp.
type subject struct {
	text  string
	from  int // in characters
	ascii bool
}

// subject takes the target of a search from start to end.
func (c *Call) subject(v, start, end Value) *subject {
	chars := c.str(v).chars
	from, to := c.bounds(start, end, len(chars))
	c.chargeMany(to-from, 2)
	text := string(chars[from:to])
	return &subject{text: text, from: from, ascii: len(text) == to-from}
}

// position turns a byte offset into a character position.
func (s *subject) position(offset int) int {
	if s.ascii {
		return s.from + offset
	}
	return s.from + utf8.RuneCountInString(s.text[:offset])
}

// match finds the first match at or behind a byte offset: the bounds of the match and
// its groups, -1 for groups that took no part; nil without a match.
func (s *scanner) match(text string, offset int) []int {
	if offset == 0 {
		return s.first.FindStringSubmatchIndex(text)
	}
	if s.resumed == nil {
		s.resumed = regexp.MustCompile(`\A(?s:.)(?s:.*?)(` + s.pattern + `)`)
	}
	_, size := utf8.DecodeLastRuneInString(text[:offset])
	base := offset - size
	found := s.resumed.FindStringSubmatchIndex(text[base:])
	if found == nil {
		return nil
	}
	found = found[2:]
	for i := range found {
		if found[i] >= 0 {
			found[i] += base
		}
	}
	return found
}

// matches visits all matches from left to right until visit returns false. One search
// takes time linear in the text; between two the clock is looked at.
func (c *Call) matches(s *scanner, target *subject, visit func(match []int) bool) {
	for offset := 0; offset <= len(target.text); {
		c.work(16)
		if len(target.text)-offset > 4096 {
			c.poll()
		}
		match := s.match(target.text, offset)
		if match == nil {
			return
		}
		c.charge(8 * len(match))
		if !visit(match) {
			return
		}
		offset = match[1]
		if match[0] == match[1] {
			_, size := utf8.DecodeRuneInString(target.text[offset:])
			offset += max(size, 1)
		}
	}
}

var (
	kwPreserveCase    = standardKeyword("PRESERVE-CASE")
	kwSimpleCalls     = standardKeyword("SIMPLE-CALLS")
	kwLimit           = standardKeyword("LIMIT")
	kwSharedp         = standardKeyword("SHAREDP")
	kwWithRegisters   = standardKeyword("WITH-REGISTERS-P")
	kwOmitUnmatched   = standardKeyword("OMIT-UNMATCHED-P")
	kwCaseInsensitive = standardKeyword("CASE-INSENSITIVE-MODE")
	kwMultiLine       = standardKeyword("MULTI-LINE-MODE")
	kwSingleLine      = standardKeyword("SINGLE-LINE-MODE")
	kwExtended        = standardKeyword("EXTENDED-MODE")
)
