package lisp

import (
	"strings"
	"unicode"
)

// regexpFunctions are those of cl-ppcre that notes use.
func regexpFunctions() []builtin {
	return []builtin{
		{name: "cl-ppcre:create-scanner", list: "(pattern &key case-insensitive-mode multi-line-mode single-line-mode extended-mode)", doc: "Compile a regular expression.", check: checkPattern, call: func(c *Call, args []Value) Value {
			k := c.keywords(args[1:], kwCaseInsensitive, kwMultiLine, kwSingleLine, kwExtended)
			pattern, flags := c.str(args[0]).String(), ""
			for i, flag := range []string{"i", "m", "s"} {
				if k[i] != nil && k[i] != Nil {
					flags += flag
				}
			}
			if flags != "" {
				pattern = "(?" + flags + ")" + pattern
			}
			return c.compiledPattern(pattern)
		}},
		{name: "cl-ppcre:scan", list: "(pattern target &key start end)", doc: "Bounds of the first match and its registers, or nil.", many: true, check: checkPattern, call: func(c *Call, args []Value) Value {
			target, match := c.firstMatch(args)
			if match == nil {
				return Nil
			}
			starts, ends := target.registers(match)
			return c.values(count(target.position(match[0])), count(target.position(match[1])), newVector(starts), newVector(ends))
		}},
		{name: "cl-ppcre:scan-to-strings", list: "(pattern target &key start end sharedp)", doc: "The first match and a vector of its registers, or nil.", many: true, check: checkPattern, call: func(c *Call, args []Value) Value {
			target, match := c.firstMatch(args)
			if match == nil {
				return Nil
			}
			return c.values(c.text(target.text[match[0]:match[1]]), newVector(c.groups(target, match)))
		}},
		{name: "cl-ppcre:all-matches", list: "(pattern target &key start end)", doc: "The bounds of all matches in a list.", check: checkPattern, call: func(c *Call, args []Value) Value {
			var b builder
			c.eachMatch(args, func(t *subject, match []int) {
				c.charge(2 * consBytes)
				b.add(count(t.position(match[0])))
				b.add(count(t.position(match[1])))
			})
			return b.list()
		}},
		{name: "cl-ppcre:all-matches-as-strings", list: "(pattern target &key start end sharedp)", doc: "All matches in a list.", check: checkPattern, call: func(c *Call, args []Value) Value {
			var b builder
			c.eachMatch(args, func(t *subject, match []int) {
				c.charge(consBytes)
				b.add(c.text(t.text[match[0]:match[1]]))
			})
			return b.list()
		}},
		{name: "cl-ppcre:count-matches", list: "(pattern target &key start end)", doc: "The number of matches.", check: checkPattern, call: func(c *Call, args []Value) Value {
			n := 0
			c.eachMatch(args, func(*subject, []int) { n++ })
			return count(n)
		}},
		{name: "cl-ppcre:regex-replace", list: "(pattern target replacement &key start end preserve-case simple-calls element-type)", doc: "The target with the first match replaced, and whether there was one.", many: true, check: checkPattern, call: func(c *Call, args []Value) Value {
			return c.replaceMatches(args, 1)
		}},
		{name: "cl-ppcre:regex-replace-all", list: "(pattern target replacement &key start end preserve-case simple-calls element-type)", doc: "The target with all matches replaced, and whether there was one.", many: true, check: checkPattern, call: func(c *Call, args []Value) Value {
			return c.replaceMatches(args, -1)
		}},
		{name: "cl-ppcre:split", list: "(pattern target &key start end limit with-registers-p omit-unmatched-p sharedp)", doc: "The parts between the matches in a list.", check: checkPattern, call: splitByPattern},
		{name: "cl-ppcre:quote-meta-chars", list: "(string &key start end)", doc: "The string as a pattern that matches it.", call: func(c *Call, args []Value) Value {
			k := c.keywords(args[1:], kwStart, kwEnd)
			chars := c.str(args[0]).chars
			from, to := c.bounds(k[0], k[1], len(chars))
			c.chargeMany(2*(to-from), runeBytes)
			var quoted []rune
			for _, r := range chars[from:to] {
				if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
					quoted = append(quoted, '\\')
				}
				quoted = append(quoted, r)
			}
			return runesString(quoted)
		}},
	}
}

func (c *Call) firstMatch(args []Value) (*subject, []int) {
	k := c.keywords(args[2:], kwStart, kwEnd, kwSharedp)
	s := c.scanner(args[0])
	if args[1] == Nil {
		return nil, nil
	}
	target := c.subject(args[1], k[0], k[1])
	c.work(len(target.text))
	return target, s.match(target.text, 0)
}

func (c *Call) eachMatch(args []Value, visit func(*subject, []int)) {
	k := c.keywords(args[2:], kwStart, kwEnd, kwSharedp)
	s := c.scanner(args[0])
	if args[1] == Nil {
		return
	}
	target := c.subject(args[1], k[0], k[1])
	c.matches(s, target, func(match []int) bool { visit(target, match); return true })
}

// registers are the bounds of the groups as Lisp positions, nil where one took no part.
func (s *subject) registers(match []int) (starts, ends []Value) {
	for i := 2; i < len(match); i += 2 {
		if match[i] < 0 {
			starts, ends = append(starts, Nil), append(ends, Nil)
			continue
		}
		starts, ends = append(starts, count(s.position(match[i]))), append(ends, count(s.position(match[i+1])))
	}
	return starts, ends
}

func (c *Call) groups(s *subject, match []int) []Value {
	var groups []Value
	for i := 2; i < len(match); i += 2 {
		if match[i] < 0 {
			groups = append(groups, Nil)
			continue
		}
		groups = append(groups, c.text(s.text[match[i]:match[i+1]]))
	}
	return groups
}

// replaceMatches replaces at most limit matches, all if it is negative. A target of
// nil stays nil, as with cl-ppcre.
func (c *Call) replaceMatches(args []Value, limit int) Value {
	s := c.scanner(args[0])
	if args[1] == Nil {
		return c.values(Nil, Nil)
	}
	k := c.keywords(args[3:], kwStart, kwEnd, kwPreserveCase, kwSimpleCalls, kwElementType)
	whole := c.str(args[1])
	target := c.subject(whole, k[0], k[1])
	replace := c.replacement(args[2], target, whole, k[3] != nil && k[3] != Nil)
	var out strings.Builder
	last, n := 0, 0
	c.matches(s, target, func(match []int) bool {
		piece := replace(match)
		c.charge(match[0] - last + len(piece))
		out.WriteString(target.text[last:match[0]])
		out.WriteString(piece)
		last = match[1]
		n++
		return n != limit
	})
	if n == 0 {
		return c.values(c.newString(append([]rune(nil), whole.chars...)), Nil)
	}
	_, to := c.bounds(k[0], k[1], len(whole.chars))
	result := string(whole.chars[:target.from]) + out.String() + target.text[last:] + string(whole.chars[to:])
	return c.values(c.text(result), T)
}

// replacement returns what makes the text for a match: from a template or a function.
func (c *Call) replacement(v Value, target *subject, whole *String, simpleCalls bool) func(match []int) string {
	if template, ok := v.(*String); ok {
		parts := parseTemplate(template.String())
		return func(match []int) string { return c.fillTemplate(parts, target, match) }
	}
	fn := c.function(v)
	return func(match []int) string {
		var result Value
		if simpleCalls {
			result = single(c.apply(fn, append([]Value{c.text(target.text[match[0]:match[1]])}, c.groups(target, match)...)))
		} else {
			starts, ends := target.registers(match)
			result = single(c.apply(fn, []Value{whole, count(target.from), count(target.position(len(target.text))),
				count(target.position(match[0])), count(target.position(match[1])), newVector(starts), newVector(ends)}))
		}
		return string(c.chars(result))
	}
}

// templatePart is text, or a reference: a group, 0 for the match, -1 and -2 for what
// is before and behind it.
type templatePart struct {
	text      string
	reference bool
	group     int
}

// parseTemplate reads \1 \{12} \& \` \' and \\.
func parseTemplate(template string) []templatePart {
	var parts []templatePart
	for template != "" {
		i := strings.IndexByte(template, '\\')
		if i < 0 || i+1 >= len(template) {
			return append(parts, templatePart{text: template})
		}
		if i > 0 {
			parts = append(parts, templatePart{text: template[:i]})
		}
		rest := template[i+1:]
		part, width := templatePart{reference: true}, 1
		switch ch := rest[0]; {
		case ch == '&':
		case ch == '`':
			part.group = -1
		case ch == '\'':
			part.group = -2
		case ch == '\\':
			part = templatePart{text: `\`}
		case ch >= '1' && ch <= '9':
			for width = 0; width < len(rest) && rest[width] >= '0' && rest[width] <= '9' && width < 4; width++ {
				part.group = part.group*10 + int(rest[width]-'0')
			}
		case ch == '{' && strings.IndexByte(rest, '}') > 1 && strings.Trim(rest[1:strings.IndexByte(rest, '}')], "0123456789") == "":
			width = strings.IndexByte(rest, '}') + 1
			for _, digit := range rest[1 : width-1] {
				part.group = min(part.group*10+int(digit-'0'), 1000)
			}
		default:
			part, width = templatePart{text: `\`}, 0
		}
		parts = append(parts, part)
		template = rest[width:]
	}
	return parts
}

func (c *Call) fillTemplate(parts []templatePart, target *subject, match []int) string {
	if len(parts) == 0 {
		return ""
	}
	var b strings.Builder
	for _, part := range parts {
		text := part.text
		if part.reference {
			text = c.referenced(part.group, target, match)
		}
		c.charge(len(text))
		b.WriteString(text)
	}
	return b.String()
}

func (c *Call) referenced(group int, target *subject, match []int) string {
	switch {
	case group == -1:
		return target.text[:match[0]]
	case group == -2:
		return target.text[match[1]:]
	case 2*group+1 >= len(match):
		c.fail(simpleError, "the replacement refers to group %d, which the pattern does not have", group)
	case match[2*group] < 0:
		return ""
	}
	return target.text[match[2*group]:match[2*group+1]]
}

func splitByPattern(c *Call, args []Value) Value {
	k := c.keywords(args[2:], kwStart, kwEnd, kwLimit, kwWithRegisters, kwOmitUnmatched, kwSharedp)
	s, target := c.scanner(args[0]), c.subject(args[1], k[0], k[1])
	limit := -1
	if k[2] != nil && k[2] != Nil {
		limit = c.index(k[2])
	}
	var parts []Value
	last := 0
	add := func(text string) {
		c.charge(valueBytes)
		parts = append(parts, c.text(text))
	}
	pieces := 1
	c.matches(s, target, func(match []int) bool {
		if limit > 0 && pieces >= limit {
			return false
		}
		if match[1] == match[0] && (match[0] == last || match[0] >= len(target.text)) {
			return true // an empty match at the beginning of a part splits nothing
		}
		add(target.text[last:match[0]])
		if k[3] != nil && k[3] != Nil {
			for _, group := range c.groups(target, match) {
				if group != Nil || k[4] == nil || k[4] == Nil {
					parts = append(parts, group)
				}
			}
		}
		last = match[1]
		pieces++
		return true
	})
	add(target.text[last:])
	for limit < 0 && len(parts) > 0 {
		if text, ok := parts[len(parts)-1].(*String); !ok || len(text.chars) > 0 {
			break
		}
		parts = parts[:len(parts)-1]
	}
	return c.newList(parts)
}

// regexpMacros walk matches.
func regexpMacros() []standardMacro {
	matchesOf := func(cp *compiler, spec []Value, strings bool) Value {
		name := "CL-PPCRE:ALL-MATCHES-AS-STRINGS"
		if !strings {
			name = "CL-PPCRE:SCAN-TO-STRINGS"
		}
		return &Cons{Car: cp.language.symbol(name), Cdr: NewList(spec...)}
	}
	return []standardMacro{
		{"cl-ppcre:do-matches-as-strings", "((variable pattern target &optional result) &body body)", "Evaluate body for each match.", func(cp *compiler, form *Cons) Value {
			spec := cp.forms(cp.arguments(form, 1, -1)[0])
			if len(spec) < 3 {
				cp.fail(programError, "malformed specification in %s", sketch(form, formLength))
			}
			return callStar(standardSymbol("DOLIST"), form.Cdr.(*Cons).Cdr, &Cons{Car: spec[0], Cdr: &Cons{Car: matchesOf(cp, spec[1:3], true), Cdr: NewList(spec[3:]...)}})
		}},
		{"cl-ppcre:register-groups-bind", "(variables (pattern target) &body body)", "Bind variables to the registers of the first match.", func(cp *compiler, form *Cons) Value {
			parts := cp.arguments(form, 2, -1)
			spec := cp.forms(parts[1])
			match, groups := cp.gensym("MATCH"), cp.gensym("GROUPS")
			bindings := registerBindings(cp, parts[0], groups)
			body := callStar(symLetStar, form.Cdr.(*Cons).Cdr.(*Cons).Cdr, bindings)
			return call(symMVBind, NewList(match, groups), matchesOf(cp, spec, false), call(symWhen, match, body))
		}},
		{"cl-ppcre:do-register-groups", "(variables (pattern target &optional result) &body body)", "Bind variables to the registers of each match.", func(cp *compiler, form *Cons) Value {
			parts := cp.arguments(form, 2, -1)
			spec := cp.forms(parts[1])
			if len(spec) < 2 {
				cp.fail(programError, "malformed specification in %s", sketch(form, formLength))
			}
			groups := cp.gensym("GROUPS")
			body := callStar(symLetStar, form.Cdr.(*Cons).Cdr.(*Cons).Cdr, registerBindings(cp, parts[0], groups))
			return call(standardSymbol("DOLIST"), &Cons{Car: groups, Cdr: &Cons{Car: call(symFuncall, call(symQuote, allGroups), spec[0], spec[1]), Cdr: NewList(spec[2:]...)}}, body)
		}},
	}
}

// registerBindings binds variables to the elements of a vector; (function variables…)
// converts those.
func registerBindings(cp *compiler, variables Value, groups *Symbol) Value {
	var bindings builder
	i := 0
	bind := func(name, convert Value) {
		group := call(standardSymbol("AREF"), groups, count(i))
		i++
		if name == Nil {
			return
		}
		if convert != nil {
			v := cp.gensym("GROUP")
			bindings.add(NewList(v, group))
			group = call(symWhen, v, call(symFuncall, convert, v))
		}
		bindings.add(NewList(name, group))
	}
	for _, item := range cp.forms(variables) {
		if cell, ok := item.(*Cons); ok {
			for _, name := range cp.forms(cell.Cdr) {
				bind(name, cell.Car)
			}
			continue
		}
		bind(item, nil)
	}
	return bindings.list()
}

// allGroups is the vectors of registers of all matches.
var allGroups = &Function{name: "ALL-GROUPS", least: 2, most: 2, two: func(c *Call, pattern, target Value) Value {
	var b builder
	c.eachMatch([]Value{pattern, target}, func(t *subject, match []int) {
		c.charge(consBytes)
		b.add(newVector(c.groups(t, match)))
	})
	return b.list()
}}
