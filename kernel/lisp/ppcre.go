package lisp

import (
	"slices"
	"strings"
	"unicode"
)

var (
	kwSharedp  = standardKeyword("SHAREDP")
	kwExtended = standardKeyword("EXTENDED-MODE")
)

// regexpFunctions are those of cl-ppcre.
func regexpFunctions() []builtin {
	rows := []builtin{
		{name: "cl-ppcre:create-scanner", list: "(pattern &key case-insensitive-mode multi-line-mode single-line-mode extended-mode destructive)", doc: "A compiled pattern, and the names of its registers.", many: true, check: checkPattern, named: createScanner},
		{name: "cl-ppcre:parse-string", list: "(pattern)", doc: "The parse tree of a pattern.", one: func(c *Call, a Value) Value { return c.parsePattern(c.str(a), false) }},
		{name: "cl-ppcre:scan", list: "(pattern target &key start end)", doc: "Bounds of the first match and its registers, or nil.", many: true, check: checkPattern, named: func(c *Call, args Args) Value {
			match, ok := c.matches(args.Get("pattern"), args.Get("target"), args.Get("start"), args.Get("end")).next()
			if !ok {
				return Nil
			}
			return c.values(match.bounds()...)
		}},
		{name: "cl-ppcre:scan-to-strings", list: "(pattern target &key start end sharedp)", doc: "The first match and a vector of its registers, or nil.", many: true, check: checkPattern, named: func(c *Call, args Args) Value {
			match, ok := c.matches(args.Get("pattern"), args.Get("target"), args.Get("start"), args.Get("end")).next()
			if !ok {
				return Nil
			}
			return c.values(match.text(), newVector(match.groups()))
		}},
		{name: "cl-ppcre:all-matches", list: "(pattern target &key start end)", doc: "The bounds of all matches in a list.", check: checkPattern, named: func(c *Call, args Args) Value {
			pattern, target, startArg := args.Get("pattern"), args.Get("target"), args.Get("start")
			endArg := args.Get("end")

			var b builder
			for match := range c.matches(pattern, target, startArg, endArg).all() {
				c.charge(2 * consBytes)
				b.add(count(match.start))
				b.add(count(match.end))
			}
			return b.list()
		}},
		{name: "cl-ppcre:all-matches-as-strings", list: "(pattern target &key start end sharedp)", doc: "All matches in a list.", check: checkPattern, named: func(c *Call, args Args) Value {
			pattern, target, start := args.Get("pattern"), args.Get("target"), args.Get("start")
			end := args.Get("end")

			var b builder
			for match := range c.matches(pattern, target, start, end).all() {
				c.charge(consBytes)
				b.add(match.text())
			}
			return b.list()
		}},
		{name: "cl-ppcre:count-matches", list: "(pattern target &key start end)", doc: "The number of matches.", check: checkPattern, named: func(c *Call, args Args) Value {
			pattern, target, start := args.Get("pattern"), args.Get("target"), args.Get("start")
			end := args.Get("end")

			n := 0
			for range c.matches(pattern, target, start, end).all() {
				n++
			}
			return count(n)
		}},
		{name: "cl-ppcre:split", list: "(pattern target &key start end limit with-registers-p omit-unmatched-p sharedp)", doc: "The parts between the matches in a list.", check: checkPattern, named: func(c *Call, args Args) Value {
			return c.splitByPattern(args.Get("pattern"), args.Get("target"),
				splitting{args.Get("start"), args.Get("end"), args.Get("limit"), args.Get("with-registers-p"), args.Get("omit-unmatched-p")})
		}},
		{name: "cl-ppcre:quote-meta-chars", list: "(string &key start end)", doc: "The string as a pattern that matches it, and whether they differ.", many: true, named: func(c *Call, args Args) Value {
			chars := c.str(args.Get("string")).chars
			from, to := c.bounds(args.Get("start"), args.Get("end"), len(chars))
			quoted := c.quoted(chars[from:to])
			return c.values(runesString(quoted), Boolean(len(quoted) > to-from))
		}},
		{name: "cl-ppcre:parse-tree-synonym", list: "(symbol)", doc: "What a symbol means in parse trees, or nil.", one: func(c *Call, a Value) Value { return c.patternSynonym(c.symbol(a)) }},
	}
	for _, slot := range []string{"string", "pos"} {
		doc := map[string]string{"string": "The pattern that could not be read, or nil.", "pos": "Where in the pattern the error is, or nil."}[slot]
		rows = append(rows, builtin{name: "cl-ppcre:ppcre-syntax-error-" + slot, list: "(condition)", doc: doc, one: func(c *Call, a Value) Value {
			condition, ok := a.(*Instance)
			if !ok || condition.class.name.name != "PPCRE-SYNTAX-ERROR" {
				c.typeError(a, "CL-PPCRE:PPCRE-SYNTAX-ERROR")
			}
			return condition.named(strings.ToUpper(slot))
		}})
	}
	return append(rows, replaceFunctions()...)
}

// quoted puts a backslash before all that is no ASCII letter, digit or underscore.
func (c *Call) quoted(chars []rune) []rune {
	c.chargeMany(2*len(chars), runeBytes)
	var out []rune
	for _, r := range chars {
		if r >= 128 || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
			out = append(out, '\\')
		}
		out = append(out, r)
	}
	return out
}

func createScanner(c *Call, args Args) Value {
	m, extended := modes{fold: args.True("case-insensitive-mode"), manyLines: args.True("multi-line-mode"), oneLine: args.True("single-line-mode")}, args.True("extended-mode")
	var s *scanner
	switch x := args.Get("pattern").(type) {
	case *Function:
		if extended || m != (modes{}) {
			c.invocationError("a compiled pattern cannot be given other modes")
		}
		s = c.scanner(x)
	case *String:
		s = c.compiledPattern(x, m, extended)
	default:
		if extended {
			c.invocationError("a parse tree has no extended mode")
		}
		s = c.compilePattern(x, m)
	}
	return c.values(s.function(), c.newList(s.names))
}

// patternKey tells compiled patterns apart.
type patternKey struct {
	text                     string
	modes                    modes
	extended, quoting, names bool
}

// What a note keeps of compiled patterns: so many of at most so many instructions.
const (
	maximumPatterns = 64
	maximumKept     = 1000
)

// scanner takes a pattern, a parse tree or a compiled pattern.
func (c *Call) scanner(v Value) *scanner {
	switch x := v.(type) {
	case *Function:
		if x.scanner == nil {
			c.typeError(v, "a compiled pattern")
		}
		return x.scanner
	case *String:
		return c.compiledPattern(x, modes{}, false)
	}
	return c.compilePattern(v, modes{})
}

// function is the scanner as notes have it: called with a text and its bounds it does
// what scan does.
func (s *scanner) function() *Function {
	fn := &Function{name: "SCANNER", least: 3, most: 3, many: true, scanner: s}
	fn.call = func(c *Call, args []Value) Value {
		match, ok := c.matches(fn, args[0], args[1], args[2]).next()
		if !ok {
			return Nil
		}
		return c.values(match.bounds()...)
	}
	return fn
}

// compiledPattern compiles a pattern, unless it was among the last ones.
func (c *Call) compiledPattern(pattern *String, m modes, extended bool) *scanner {
	e := c.environment
	c.charge(len(pattern.chars))
	key := patternKey{pattern.String(), m, extended, c.patternSwitch("*ALLOW-QUOTING*"), c.patternSwitch("*ALLOW-NAMED-REGISTERS*")}
	if s, ok := e.patterns[key]; ok {
		return s
	}
	s := c.compilePattern(c.parsePattern(pattern, extended), m)
	if len(s.program) > maximumKept {
		return s
	}
	if e.patterns == nil || len(e.patterns) >= maximumPatterns {
		e.patterns = map[patternKey]*scanner{}
	}
	e.patterns[key] = s
	return s
}

func (c *Call) patternSwitch(name string) bool {
	return isTrue(c.symbolValue(c.environment.language.symbol("CL-PPCRE:" + name)))
}

// parsePattern reads the text of a pattern.
func (c *Call) parsePattern(pattern *String, extended bool) Value {
	if len(pattern.chars) > maximumPattern {
		c.patternError(Nil, Nil, "the pattern has more than %d characters", maximumPattern)
	}
	r := &patternReader{call: c, text: pattern.chars, extended: extended}
	r.quoting, r.names = c.patternSwitch("*ALLOW-QUOTING*"), c.patternSwitch("*ALLOW-NAMED-REGISTERS*")
	if r.quoting {
		r.text = c.unquoted(r.text)
	}
	return r.parse()
}

// unquoted quotes what stands between \Q and \E.
func (c *Call) unquoted(text []rune) []rune {
	var out []rune
	for {
		start := patternMark(text, 'Q')
		if start < 0 {
			return append(out, text...)
		}
		out, text = append(out, text[:start]...), text[start+2:]
		stop := patternMark(text, 'E')
		if stop < 0 {
			return append(out, c.quoted(text)...)
		}
		out, text = append(out, c.quoted(text[:stop])...), text[stop+2:]
	}
}

func patternMark(text []rune, letter rune) int {
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '\\' && text[i+1] == letter {
			return i
		}
	}
	return -1
}

// patternSynonym is what define-parse-tree-synonym said of a symbol.
func (c *Call) patternSynonym(word *Symbol) Value {
	if g, ok := c.environment.globals[word]; ok {
		synonym := c.environment.language.symbol("CL-PPCRE:PARSE-TREE-SYNONYM")
		for rest, ok := g.plist.(*Cons); ok; {
			value, paired := rest.Cdr.(*Cons)
			if !paired {
				break
			}
			if rest.Car == synonym {
				return value.Car
			}
			c.step()
			rest, ok = value.Cdr.(*Cons)
		}
	}
	return Nil
}

// patternError signals that a pattern cannot be used.
func (c *Call) patternError(pattern, pos Value, format string, args ...any) {
	c.libraryError("CL-PPCRE:PPCRE-SYNTAX-ERROR", patternMessage(pattern, pos, format, args...), pattern, pos)
}

func (c *Call) invocationError(message string) {
	c.libraryError("CL-PPCRE:PPCRE-INVOCATION-ERROR", message)
}

// checkPattern finds faults of a pattern that is written in the call, unless the note
// handles them.
func checkPattern(cp *compiler, form *Cons) {
	parts := cp.forms(form.Cdr)
	if len(parts) == 0 || cp.handled > 0 {
		return
	}
	if pattern, ok := parts[0].(*String); ok && !slices.Contains(parts, Value(kwExtended)) {
		cp.compiledPattern(pattern, modes{}, false)
	}
	if quoted, ok := parts[0].(*Cons); ok && quoted.Car == symQuote {
		if tree, ok := quoted.Cdr.(*Cons); ok {
			cp.compilePattern(tree.Car, modes{})
		}
	}
}
