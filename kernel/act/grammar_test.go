package act_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/chewxy/sexp"
	"pgregory.net/rapid"

	"org-agent/kernel/action"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// gbnf parses the notation of inference engines and writes any text that a grammar allows. It
// shares no code with the package under test.
type gbnf struct {
	rules map[string]string
	used  map[string]bool
	t     *rapid.T
}

func readGrammar(t *rapid.T, text string) *gbnf {
	g := &gbnf{rules: map[string]string{}, used: map[string]bool{}, t: t}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		name, rule, ok := strings.Cut(strings.TrimSpace(line), " ::= ")
		if !ok || g.rules[name] != "" || strings.ContainsFunc(name, func(c rune) bool { return c != '-' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
			t.Fatalf("not a rule: %s", line)
		}
		g.rules[name] = rule
	}
	return g
}

// write returns a text that the rule allows. The deeper it is, the fewer repetitions it writes.
func (g *gbnf) write(rule string, depth int) string {
	g.used[rule] = true
	source, known := g.rules[rule]
	if !known {
		g.t.Fatalf("there is no rule %q", rule)
	}
	text, rest := g.choice(source, depth)
	if rest != "" {
		g.t.Fatalf("the rule %s is not read from %q on", rule, rest)
	}
	return text
}

// choice returns one of the alternatives at the beginning of a source, and the rest behind them.
func (g *gbnf) choice(source string, depth int) (text, rest string) {
	var alternatives []string
	for {
		end := g.skip(source, "|)")
		alternatives = append(alternatives, source[:end])
		source = source[end:]
		if !strings.HasPrefix(source, "|") {
			break
		}
		source = source[1:]
	}
	pick := rapid.IntRange(0, len(alternatives)-1).Draw(g.t, "alternative")
	if depth > 12 {
		pick = 0
	}
	return g.sequence(strings.TrimSpace(alternatives[pick]), depth), source
}

// skip returns where the first of the stops stands outside of literals, classes and groups.
func (g *gbnf) skip(source, stops string) int {
	within := 0
	for i := 0; i < len(source); i++ {
		switch c := source[i]; {
		case within == 0 && strings.IndexByte(stops, c) >= 0:
			return i
		case c == '(':
			within++
		case c == ')':
			within--
		case c == '"' || c == '[':
			closer := map[byte]byte{'"': '"', '[': ']'}[c]
			for i++; i < len(source) && source[i] != closer; i++ {
				if source[i] == '\\' {
					i++
				}
			}
		}
	}
	return len(source)
}

func (g *gbnf) sequence(source string, depth int) string {
	var b strings.Builder
	for source = strings.TrimSpace(source); source != ""; source = strings.TrimSpace(source) {
		end := g.skip(source, " ")
		item := source[:end]
		source = source[end:]
		times, optional := 1, true
		switch item[len(item)-1] {
		case '*':
			times, item = rapid.IntRange(0, 3).Draw(g.t, "times"), item[:len(item)-1]
		case '?':
			times, item = rapid.IntRange(0, 1).Draw(g.t, "once"), item[:len(item)-1]
		case '}':
			at := strings.LastIndexByte(item, '{')
			low, high, _ := strings.Cut(item[at+1:len(item)-1], ",")
			least, err := strconv.Atoi(low)
			most, err2 := strconv.Atoi(high)
			if err != nil || err2 != nil || most >= 2000 { // engines refuse more
				g.t.Fatalf("%s cannot be repeated so", item)
			}
			times, item, optional = rapid.IntRange(least, min(most, 5)).Draw(g.t, "times"), item[:at], least == 0
		default:
			optional = false
		}
		if depth > 12 && item[0] == '(' && optional {
			times = 0
		}
		for range times {
			b.WriteString(g.item(item, depth))
		}
	}
	return b.String()
}

func (g *gbnf) item(item string, depth int) string {
	switch item[0] {
	case '"':
		return g.unescape(item[1 : len(item)-1])
	case '(':
		text, _ := g.choice(item[1:len(item)-1], depth+1)
		return text
	case '[':
		return g.class(item[1 : len(item)-1])
	}
	return g.write(item, depth+1)
}

// class returns a character of a class.
func (g *gbnf) class(class string) string {
	class, negated := strings.CutPrefix(class, "^")
	table := &unicode.RangeTable{}
	var of []rune
	runes := []rune(g.unescape(class))
	for i := 0; i < len(runes); i++ {
		last := runes[i]
		if i+2 < len(runes) && runes[i+1] == '-' {
			last = runes[i+2]
			i += 2
			table.R32 = append(table.R32, unicode.Range32{Lo: uint32(runes[i-2]), Hi: uint32(last), Stride: 1})
		} else {
			table.R32 = append(table.R32, unicode.Range32{Lo: uint32(last), Hi: uint32(last), Stride: 1})
		}
		of = append(of, last)
	}
	in := func(c rune) bool {
		for _, r := range table.R32 {
			if uint32(c) >= r.Lo && uint32(c) <= r.Hi {
				return true
			}
		}
		return false
	}
	if !negated {
		r := table.R32[rapid.IntRange(0, len(of)-1).Draw(g.t, "range")]
		return string(rune(rapid.Uint32Range(r.Lo, r.Hi).Draw(g.t, "character")))
	}
	return string(rapid.Rune().Filter(func(c rune) bool { return !in(c) && c != unicode.ReplacementChar }).Draw(g.t, "other"))
}

// unescape decodes the escapes in a literal or a class.
func (g *gbnf) unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		i++
		digits := map[byte]int{'x': 2, 'u': 4}[text[i]]
		switch {
		case digits > 0:
			code, err := strconv.ParseUint(text[i+1:i+1+digits], 16, 32)
			if err != nil {
				g.t.Fatal(err)
			}
			b.WriteRune(rune(code))
			i += digits
		case text[i] == 'n':
			b.WriteByte('\n')
		case text[i] == 't':
			b.WriteByte('\t')
		case text[i] == 'r':
			b.WriteByte('\r')
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// TestGrammar checks that every text within the grammar is an answer in words, or can be read and is an action. A
// grammar cannot express two conditions: the length of a line, and a key that occurs twice.
func TestGrammar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		where := places(t)
		var tools []action.GrammarTool
		for _, name := range rapid.SliceOfN(rapid.StringMatching(`[a-z_]{1,9}`), 0, 3).Draw(t, "tools") {
			tools = append(tools, action.GrammarTool{Name: name})
		}
		grammar := action.Grammar(builtIn().Specs().Forms(where.Route), tools, true)
		g := readGrammar(t, grammar)
		text := g.write("root", 0)
		if !strings.HasPrefix(text, "(") {
			if got := plist.Recover(text, plist.RecoverOptions{Finished: true}); strings.TrimSpace(text) == "" || got.Proposal != nil && got.Candidates == 0 {
				t.Fatalf("%q is read as %+v", text, got)
			}
			return
		}
		x, err := plist.Read(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := plist.Recover(text, plist.RecoverOptions{Finished: true})
		if keyTwice(x) && got.Proposal == nil {
			return // the error that is expected
		}
		if got.Err != nil || got.Proposal == nil || fmt.Sprint(got.Steps) != "[strict]" && len(got.Steps) > 0 {
			t.Fatalf("%s is read as %+v", text, got)
		}
		if _, err := builtIn().Specs().Usable(action.Propose(got.Proposal)); err != nil && !keyTwice(x) && !strings.Contains(err.Error(), "200 characters") {
			t.Fatalf("%s: %v", text, err)
		}
	})
}

// keyTwice reports whether a property list contains a key more than once.
func keyTwice(x sexp.Sexp) bool {
	list, _ := x.(sexp.List)
	seen := map[string]bool{}
	for i, item := range list {
		if key, is := item.(plist.Keyword); i%2 == 1 {
			// a value
		} else if is && seen[string(key)] {
			return true
		} else if is {
			seen[string(key)] = true
		}
		if keyTwice(item) {
			return true
		}
	}
	return false
}

// TestToolGrammar checks that every call within the grammar of a tool has arguments that the tool reads, and that
// the calls of a batch are of tools that only read.
func TestToolGrammar(t *testing.T) {
	registry, err := tool.BuiltIn(tool.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	other := tool.NewForeign(tool.Foreign{Name: "other", Digest: "1", Effect: protocol.ToolReads, Schema: protocol.Object{
		{Key: "type", Value: "object"}, {Key: "required", Value: []any{"maxDepth"}}, {Key: "properties", Value: protocol.Object{
			{Key: "maxDepth", Value: protocol.Object{{Key: "type", Value: []any{"null", "integer"}}}},
			{Key: "order", Value: protocol.Object{{Key: "enum", Value: []any{"up\"", "down"}}}},
			{Key: "odd", Value: true},
			{Key: "where", Value: protocol.Object{{Key: "type", Value: "object"}, {Key: "properties", Value: protocol.Object{{Key: "x", Value: protocol.Object{{Key: "type", Value: "number"}}}}}}},
		}}}})
	var specs []action.Form
	for _, form := range builtIn().Specs().Forms(protocol.Route{Channel: "emacs"}) {
		if form.CallsTools() {
			specs = append(specs, form)
		}
	}
	tools, schemas := map[string]action.GrammarTool{}, map[string]protocol.Object{}
	var names []string
	for _, one := range append(registry.All(), other, tool.NewForeign(tool.Foreign{Name: "unknown", Digest: "1"})) {
		tools[one.Name()] = action.GrammarTool{Name: one.Name(), Reads: one.Effect() == protocol.ToolReads, Arguments: one.Grammar}
		schemas[one.Name()] = one.Schema()
		names = append(names, one.Name())
	}
	rapid.Check(t, func(t *rapid.T) {
		var offered []action.GrammarTool
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 4, rapid.ID).Draw(t, "tools") {
			offered = append(offered, tools[name])
		}
		text := readGrammar(t, action.Grammar(specs, offered, false)).write("root", 0)
		proposed, err := action.Read(text)
		if err == nil {
			_, err = builtIn().Specs().Usable(proposed)
		}
		if err != nil && namedTwice(text) {
			return // a grammar cannot keep a name from coming again where any may come: it is refused, as it is to be
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		calls := proposed.Action().Calls()
		for _, call := range calls {
			if strings.Contains(text, ":action :batch") && !tools[call.Tool].Reads && slices.ContainsFunc(offered, func(t action.GrammarTool) bool { return t.Reads }) {
				t.Fatalf("%s changes something", text)
			}
			if why := unfit(schemas[call.Tool], call); call.Tool != "unknown" && why != "" {
				t.Fatalf("%s: %s", text, why)
			}
		}
	})
}

// unknownArguments are the arguments of the tool without a schema.
var unknownArguments = regexp.MustCompile(`:tool "unknown" :args \(((?:"(?:[^"\\]|\\.)*"|[^"()])*)\)`)

// namedTwice reports whether a call of the tool without a schema names an argument twice.
func namedTwice(text string) bool {
	for _, call := range unknownArguments.FindAllStringSubmatch(text, -1) {
		names := regexp.MustCompile(`:[a-z-]+`).FindAllString(regexp.MustCompile(`"(?:[^"\\]|\\.)*"`).ReplaceAllString(call[1], `""`), -1)
		slices.Sort(names)
		if len(slices.Compact(names)) < len(names) {
			return true
		}
	}
	return false
}

// unfit returns what is wrong with the arguments of a call by their schema: one that there is not, that is there
// twice, or that is missing.
func unfit(schema protocol.Object, call action.Call) string {
	arguments, err := call.Arguments()
	if err != nil {
		return err.Error()
	}
	properties, _ := schema.Get("properties").(protocol.Object)
	needed, _ := schema.Get("required").([]any)
	seen := map[string]bool{}
	for _, a := range arguments {
		known := slices.ContainsFunc(properties, func(f protocol.Field) bool { return tool.Hyphenated(f.Key) == a.Key })
		if !known || seen[a.Key] {
			return a.Key
		}
		seen[a.Key] = true
	}
	for _, name := range needed {
		if !seen[tool.Hyphenated(fmt.Sprint(name))] {
			return fmt.Sprint(name)
		}
	}
	return ""
}

// TestGrammarIsWhole checks that every rule that is used is defined, and that every form can be
// written.
func TestGrammarIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		forms := builtIn().Specs().Forms(protocol.Route{Channel: "emacs"})
		g := readGrammar(t, action.Grammar(forms, []action.GrammarTool{{Name: "read"}}, true))
		g.write("root", 0)
		for i := range forms {
			text := g.write(fmt.Sprintf("form-%d", i+1), 0)
			head, _, _ := strings.Cut(forms[i].Text, "<")
			head = strings.TrimRight(head, `"(*: `)
			words := strings.Fields(head)
			if !strings.HasPrefix(text, strings.Join(words[:2], " ")) {
				t.Fatalf("form %d, %s, came out as %s", i+1, forms[i], text)
			}
		}
	})
}
