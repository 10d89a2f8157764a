package ppcre

import (
	"slices"
	"strings"
	"unicode"

	"org-agent/kernel/lisp"
)

var (
	kwSharedp  = lisp.Keyword("SHAREDP")
	kwExtended = lisp.Keyword("EXTENDED-MODE")
)

// regexpFunctions are those of cl-ppcre.
func regexpFunctions() []lisp.Builtin {
	rows := []lisp.Builtin{
		{Name: "create-scanner", LambdaList: "(pattern &key case-insensitive-mode multi-line-mode single-line-mode extended-mode destructive)", Doc: "A compiled pattern, and the names of its registers.", Many: true, Check: checkPattern, Named: createScanner},
		{Name: "parse-string", LambdaList: "(pattern)", Doc: "The parse tree of a pattern.", One: func(c *lisp.Call, a lisp.Value) lisp.Value { return parsePattern(c, c.TakeString(a), false) }},
		{Name: "scan", LambdaList: "(pattern target &key start end)", Doc: "Bounds of the first match and its registers, or nil.", Many: true, Check: checkPattern, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			match, ok := Search(c, args.Get("pattern"), args.Get("target"), args.Get("start"), args.Get("end")).Next()
			if !ok {
				return lisp.Nil
			}
			return c.Values(match.Bounds()...)
		}},
		{Name: "scan-to-strings", LambdaList: "(pattern target &key start end sharedp)", Doc: "The first match and a vector of its registers, or nil.", Many: true, Check: checkPattern, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			match, ok := Search(c, args.Get("pattern"), args.Get("target"), args.Get("start"), args.Get("end")).Next()
			if !ok {
				return lisp.Nil
			}
			return c.Values(match.Text(), c.NewVector(match.groups()))
		}},
		{Name: "all-matches", LambdaList: "(pattern target &key start end)", Doc: "The bounds of all matches in a list.", Check: checkPattern, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			pattern, target, startArg := args.Get("pattern"), args.Get("target"), args.Get("start")
			endArg := args.Get("end")
			b := lisp.NewListBuilder(c)
			for match := range Search(c, pattern, target, startArg, endArg).all() {
				b.Add(lisp.Count(match.start))
				b.Add(lisp.Count(match.end))
			}
			return b.List()
		}},
		{Name: "all-matches-as-strings", LambdaList: "(pattern target &key start end sharedp)", Doc: "All matches in a list.", Check: checkPattern, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			pattern, target, start := args.Get("pattern"), args.Get("target"), args.Get("start")
			end := args.Get("end")
			b := lisp.NewListBuilder(c)
			for match := range Search(c, pattern, target, start, end).all() {
				b.Add(match.Text())
			}
			return b.List()
		}},
		{Name: "count-matches", LambdaList: "(pattern target &key start end)", Doc: "The number of matches.", Check: checkPattern, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			pattern, target, start := args.Get("pattern"), args.Get("target"), args.Get("start")
			end := args.Get("end")
			n := 0
			for range Search(c, pattern, target, start, end).all() {
				n++
			}
			return lisp.Count(n)
		}},
		{Name: "split", LambdaList: "(pattern target &key start end limit with-registers-p omit-unmatched-p sharedp)", Doc: "The parts between the matches in a list.", Check: checkPattern, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return Split(c, args.Get("pattern"), args.Get("target"),
				Splitting{args.Get("start"), args.Get("end"), args.Get("limit"), args.Get("with-registers-p"), args.Get("omit-unmatched-p")})
		}},
		{Name: "quote-meta-chars", LambdaList: "(string &key start end)", Doc: "The string as a pattern that matches it, and whether they differ.", Many: true, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			chars := c.TakeString(args.Get("string")).Runes()
			from, to := c.Bounds(args.Get("start"), args.Get("end"), len(chars))
			quoted := quoted(c, chars[from:to])
			return c.Values(c.StringOf(quoted), lisp.Boolean(len(quoted) > to-from))
		}},
		{Name: "parse-tree-synonym", LambdaList: "(symbol)", Doc: "What a symbol means in parse trees, or nil.", One: func(c *lisp.Call, a lisp.Value) lisp.Value { return patternSynonym(c, c.TakeSymbol(a)) }},
	}
	for _, slot := range []string{"string", "pos"} {
		doc := map[string]string{"string": "The pattern that could not be read, or nil.", "pos": "Where in the pattern the error is, or nil."}[slot]
		rows = append(rows, lisp.Builtin{Name: "ppcre-syntax-error-" + slot, LambdaList: "(condition)", Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			condition, ok := a.(*lisp.Instance)
			if !ok || condition.ClassName().Name() != "PPCRE-SYNTAX-ERROR" {
				c.TypeError(a, "CL-PPCRE:PPCRE-SYNTAX-ERROR")
			}
			return condition.Slot(strings.ToUpper(slot))
		}})
	}
	return rows
}

// quoted puts a backslash before all that is no ASCII letter, digit or underscore.
func quoted(c *lisp.Call, chars []rune) []rune {
	var out []rune
	for _, r := range chars {
		if r >= 128 || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
			out = lisp.Append(c, out, '\\')
		}
		out = lisp.Append(c, out, r)
	}
	return out
}

func createScanner(c *lisp.Call, args lisp.Args) lisp.Value {
	m, extended := modes{fold: args.True("case-insensitive-mode"), manyLines: args.True("multi-line-mode"), oneLine: args.True("single-line-mode")}, args.True("extended-mode")
	var s *scanner
	switch x := args.Get("pattern").(type) {
	case *lisp.Function:
		if extended || m != (modes{}) {
			invocationError(c, "a compiled pattern cannot be given other modes")
		}
		s = scannerOf(c, x)
	case *lisp.String:
		s = compiledPattern(c, x, m, extended)
	default:
		if extended {
			invocationError(c, "a parse tree has no extended mode")
		}
		s = compilePattern(c, x, m)
	}
	return c.Values(s.function(c), c.NewList(s.names))
}

// patternKey tells compiled patterns apart.
type patternKey struct {
	text                     string
	modes                    modes
	extended, quoting, names bool
}

// patternCache holds the patterns that a note compiled last.
type patternCache struct{ patterns map[patternKey]*scanner }

// What a note keeps of compiled patterns: so many of at most so many instructions.
const (
	maximumPatterns = 64
	maximumKept     = 1000
)

// scannerOf takes a pattern, a parse tree or a compiled pattern.
func scannerOf(c *lisp.Call, v lisp.Value) *scanner {
	switch x := v.(type) {
	case *lisp.Function:
		s, ok := x.Data.(*scanner)
		if !ok {
			c.TypeError(v, "a compiled pattern")
		}
		return s
	case *lisp.String:
		return compiledPattern(c, x, modes{}, false)
	}
	return compilePattern(c, v, modes{})
}

// function is the scanner as notes have it: called with a text and its bounds it does
// what scan does.
func (s *scanner) function(c *lisp.Call) *lisp.Function {
	fn := c.NewFunction(lisp.Builtin{Name: "SCANNER", LambdaList: "(text start end)", Many: true, Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
		match, ok := search(c, s, args[0], args[1], args[2]).Next()
		if !ok {
			return lisp.Nil
		}
		return c.Values(match.Bounds()...)
	}})
	fn.Data = s
	return fn
}

// compiledPattern compiles a pattern, unless it was among the last ones.
func compiledPattern(c *lisp.Call, pattern *lisp.String, m modes, extended bool) *scanner {
	cache := lisp.StateOf[patternCache](c)
	key := patternKey{c.GoText(pattern.Runes()), m, extended, patternSwitch(c, "*ALLOW-QUOTING*"), patternSwitch(c, "*ALLOW-NAMED-REGISTERS*")}
	if s, ok := cache.patterns[key]; ok {
		return s
	}
	s := compilePattern(c, parsePattern(c, pattern, extended), m)
	if len(s.program) > maximumKept {
		return s
	}
	if cache.patterns == nil || len(cache.patterns) >= maximumPatterns {
		cache.patterns = map[patternKey]*scanner{}
	}
	cache.patterns[key] = s
	return s
}

func patternSwitch(c *lisp.Call, name string) bool {
	return c.Variable(c.Lookup("CL-PPCRE:"+name)) != lisp.Nil
}

// parsePattern reads the text of a pattern.
func parsePattern(c *lisp.Call, pattern *lisp.String, extended bool) lisp.Value {
	if len(pattern.Runes()) > maximumPattern {
		patternError(c, lisp.Nil, lisp.Nil, "the pattern has more than %d characters", maximumPattern)
	}
	r := &patternReader{call: c, text: pattern.Runes(), extended: extended}
	r.quoting, r.names = patternSwitch(c, "*ALLOW-QUOTING*"), patternSwitch(c, "*ALLOW-NAMED-REGISTERS*")
	if r.quoting {
		r.text = unquoted(c, r.text)
	}
	return r.parse()
}

// unquoted quotes what stands between \Q and \E.
func unquoted(c *lisp.Call, text []rune) []rune {
	var out []rune
	for {
		start := patternMark(text, 'Q')
		if start < 0 {
			return lisp.Append(c, out, text...)
		}
		out, text = lisp.Append(c, out, text[:start]...), text[start+2:]
		stop := patternMark(text, 'E')
		if stop < 0 {
			return lisp.Append(c, out, quoted(c, text)...)
		}
		out, text = lisp.Append(c, out, quoted(c, text[:stop])...), text[stop+2:]
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
func patternSynonym(c *lisp.Call, word *lisp.Symbol) lisp.Value {
	return c.Property(word, c.Lookup("CL-PPCRE:PARSE-TREE-SYNONYM"))
}

// patternError signals that a pattern cannot be used.
func patternError(c *lisp.Call, pattern, pos lisp.Value, format string, args ...any) {
	c.Signal("CL-PPCRE:PPCRE-SYNTAX-ERROR", patternMessage(pattern, pos, format, args...), "STRING", pattern, "POS", pos)
}

func invocationError(c *lisp.Call, message string) {
	c.Signal("CL-PPCRE:PPCRE-INVOCATION-ERROR", message)
}

// checkPattern finds faults of a pattern that is written in the call, unless the note
// handles them.
func checkPattern(cp *lisp.Compiler, form *lisp.Cons) {
	parts := cp.Forms(form.Cdr)
	if len(parts) == 0 || cp.Handled() {
		return
	}
	if pattern, ok := parts[0].(*lisp.String); ok && !slices.Contains(parts, lisp.Value(kwExtended)) {
		compiledPattern(cp.Call, pattern, modes{}, false)
	}
	if quoted, ok := parts[0].(*lisp.Cons); ok && quoted.Car == lisp.Value(lisp.CL("QUOTE")) {
		if tree, ok := quoted.Cdr.(*lisp.Cons); ok {
			compilePattern(cp.Call, tree.Car, modes{})
		}
	}
}
