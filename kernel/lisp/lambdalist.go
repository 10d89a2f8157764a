package lisp

import "strings"

// lambdaList is a parsed lambda list. Names are symbols; in a destructuring lambda
// list they may be patterns, which are lambda lists again.
type lambdaList struct {
	whole         Value // a name or a pattern; nil: none
	environment   *Symbol
	required      []Value
	optional      []parameter
	rest          Value // nil: none
	keys          []parameter
	hasKeys, open bool // &key, &allow-other-keys
	aux           []parameter
}

// parameter is an optional, keyword or auxiliary parameter.
type parameter struct {
	name     Value
	keyword  *Symbol
	initial  Value
	supplied *Symbol
	// given says that the initial form was written.
	given bool
}

// parseLambdaList reads an ordinary lambda list or, with patterns, a destructuring one.
func (cp *Compiler) parseLambdaList(list Value, patterns bool) *lambdaList {
	l := &lambdaList{}
	section := symLambda // before any & word
	seen := map[*Symbol]bool{}
	for list != Nil {
		cp.Step()
		cp.Charge(ConsBytes)
		cell, ok := list.(*Cons)
		if !ok {
			if !patterns || l.rest != nil {
				cp.Fail(ProgramError, "a lambda list must be a proper list: %s", Sketch(list, formLength))
			}
			l.rest = cp.checkBindable(list)
			return l
		}
		item := cell.Car
		list = cell.Cdr
		if word, ok := item.(*Symbol); ok && lambdaWords[word] {
			if seen[word] {
				cp.Fail(ProgramError, "%s occurs twice in a lambda list", word.name)
			}
			cp.checkOrder(section, word)
			seen[word], section = true, word
			switch word {
			case symKey:
				l.hasKeys = true
			case symAllowOtherKeys:
				l.open = true
			case symRest, symBody, symWhole, symEnvironment:
				next, ok := list.(*Cons)
				if !ok {
					cp.Fail(ProgramError, "%s needs a name after it", word.name)
				}
				list = next.Cdr
				cp.namedSection(l, word, next.Car, patterns)
			}
			continue
		}
		cp.checkWord(item)
		cp.addParameter(l, section, item, patterns)
	}
	if l.open && !l.hasKeys {
		cp.Fail(ProgramError, "&ALLOW-OTHER-KEYS needs &KEY before it in a lambda list")
	}
	if !patterns {
		cp.checkNames(l)
	}
	return l
}

// checkWord tells of a parameter that looks like a misspelt word of a lambda list.
func (cp *Compiler) checkWord(item Value) {
	symbol, ok := item.(*Symbol)
	if !ok || !strings.HasPrefix(symbol.name, "&") {
		return
	}
	at := cp.current
	r := reference{at: &at, function: cp.functionName(), problem: strings.ToLower(symbol.name) + " is a parameter here, and no word of lambda lists"}
	var words []string
	for word := range lambdaWords {
		words = append(words, word.name)
	}
	if near := nearestName(symbol.name, words); near != "" {
		r.hint = "did you mean " + strings.ToLower(near) + "?"
	}
	cp.environment.refer(r)
}

// sectionOrder is the order of the words of a lambda list; the others may stand anywhere.
var sectionOrder = map[*Symbol]int{symOptional: 1, symRest: 2, symBody: 2, symKey: 3, symAllowOtherKeys: 4, symAux: 5}

func (cp *Compiler) checkOrder(before, word *Symbol) {
	if order := sectionOrder[word]; order > 0 && order < sectionOrder[before] {
		cp.Fail(ProgramError, "%s comes too late in a lambda list", word.name)
	}
}

// checkNames refuses a parameter that occurs twice.
func (cp *Compiler) checkNames(l *lambdaList) {
	names := append([]Value(nil), l.required...)
	for _, p := range append(l.optional[:len(l.optional):len(l.optional)], l.keys...) {
		names = append(names, p.name)
		if p.supplied != nil {
			names = append(names, p.supplied)
		}
	}
	if l.rest != nil {
		names = append(names, l.rest)
	}
	if len(names) < 2 {
		return
	}
	seen := make(map[*Symbol]bool, len(names))
	for _, name := range names {
		symbol, ok := name.(*Symbol)
		if ok && symbol != Nil && seen[symbol] {
			cp.Fail(ProgramError, "the parameter %s occurs twice in a lambda list", symbol.name)
		} else if ok {
			seen[symbol] = true
		}
	}
}

func (cp *Compiler) namedSection(l *lambdaList, word *Symbol, name Value, patterns bool) {
	switch word {
	case symRest, symBody:
		if word == symBody && !patterns {
			cp.Fail(ProgramError, "&BODY is only for macros; a function takes &REST")
		}
		if l.rest != nil {
			cp.Fail(ProgramError, "a lambda list can have only one &rest")
		}
		l.rest = cp.parameterName(name, patterns)
	case symWhole, symEnvironment:
		if !patterns {
			cp.Fail(ProgramError, "%s is only for macros", word.name)
		}
		if word == symWhole {
			l.whole = cp.parameterName(name, patterns)
		} else {
			l.environment = cp.checkBindable(name)
		}
	}
}

func (cp *Compiler) addParameter(l *lambdaList, section *Symbol, item Value, patterns bool) {
	switch section {
	case symLambda, symWhole, symEnvironment:
		if l.rest != nil || len(l.optional) > 0 || l.hasKeys {
			cp.Fail(ProgramError, "a required parameter comes too late: %s", Sketch(item, formLength))
		}
		l.required = append(l.required, cp.parameterName(item, patterns))
	case symOptional:
		l.optional = append(l.optional, cp.parameter(item, patterns, false))
	case symKey:
		l.keys = append(l.keys, cp.parameter(item, patterns, true))
	case symAux:
		l.aux = append(l.aux, cp.parameter(item, patterns, false))
	default:
		cp.Fail(ProgramError, "misplaced parameter in a lambda list: %s", Sketch(item, formLength))
	}
}

func (cp *Compiler) parameterName(name Value, patterns bool) Value {
	if _, ok := name.(*Cons); ok && patterns {
		return name
	}
	if name == Nil && patterns {
		return Nil
	}
	return cp.checkBindable(name)
}

// parameter reads name, (name initial supplied-p) or ((:keyword name) initial supplied-p).
func (cp *Compiler) parameter(item Value, patterns, keyed bool) parameter {
	p := parameter{name: item, initial: Nil}
	if cell, ok := item.(*Cons); ok {
		parts := cp.Forms(cell)
		if len(parts) > 3 {
			cp.Fail(ProgramError, "too many parts in parameter %s", Sketch(item, formLength))
		}
		p.name = parts[0]
		if len(parts) > 1 {
			p.initial, p.given = parts[1], true
		}
		if len(parts) > 2 {
			p.supplied = cp.checkBindable(parts[2])
		}
		if pair, ok := p.name.(*Cons); ok && keyed {
			names := cp.Forms(pair)
			keyword, ok := names[0].(*Symbol)
			if !ok || len(names) != 2 {
				cp.Fail(ProgramError, "malformed keyword parameter %s", Sketch(item, formLength))
			}
			p.keyword, p.name = keyword, names[1]
		}
	}
	p.name = cp.parameterName(p.name, patterns)
	if symbol, ok := p.name.(*Symbol); ok && keyed && p.keyword == nil {
		p.keyword = cp.environment.Keyword(symbol.name)
	}
	return p
}

// target is where a value is bound: a slot, a special variable or a pattern.
type target struct {
	slot    int
	global  *global
	pattern *binder
}

func (t *target) set(c *Call, f *frame, v Value) {
	switch {
	case t.pattern != nil:
		t.pattern.destructure(c, f, v)
	case t.global != nil:
		c.bind(t.global, v)
	default:
		f.slots[t.slot] = v
	}
}

// optionalTarget binds an optional, keyword or auxiliary parameter.
type optionalTarget struct {
	target
	keyword  *Symbol
	initial  code
	supplied *target
}

func (o *optionalTarget) set(c *Call, f *frame, v Value, supplied bool) {
	if !supplied {
		v = o.initial(c, f)
	}
	o.target.set(c, f, v)
	if o.supplied != nil {
		o.supplied.set(c, f, Boolean(supplied))
	}
}

// binder binds the parameters of a lambda list to arguments, from left to right.
type binder struct {
	name          string
	whole         *target
	required      []target
	optional      []optionalTarget
	rest          *target
	keys          []optionalTarget
	hasKeys, open bool
	aux           []optionalTarget
	special       bool // it makes special bindings
	class         string
}

// compileBinder adds the parameters to the scope and returns how to bind them. class
// is the condition that a wrong number of arguments signals.
func (cp *Compiler) compileBinder(l *lambdaList, sc *scope, specials []*Symbol, class string) *binder {
	b := &binder{name: "", hasKeys: l.hasKeys, open: l.open, class: class}
	bind := func(name Value) target { return cp.compileTarget(b, name, sc, specials) }
	if l.whole != nil {
		t := bind(l.whole)
		b.whole = &t
	}
	if l.environment != nil {
		t := bind(l.environment)
		b.aux = append(b.aux, optionalTarget{target: t, initial: expansionScope})
	}
	for _, name := range l.required {
		b.required = append(b.required, bind(name))
	}
	optional := func(parameters []parameter) (targets []optionalTarget) {
		for _, p := range parameters {
			o := optionalTarget{keyword: p.keyword, initial: cp.compile(p.initial, sc).one()}
			o.target = bind(p.name)
			if p.supplied != nil {
				t := bind(p.supplied)
				o.supplied = &t
			}
			targets = append(targets, o)
		}
		return targets
	}
	b.optional = optional(l.optional)
	if l.rest != nil {
		t := bind(l.rest)
		b.rest = &t
	}
	b.keys = optional(l.keys)
	b.aux = append(b.aux, optional(l.aux)...)
	return b
}

// expansionScope is what &environment is bound to: nil stands for the global one.
func expansionScope(c *Call, _ *frame) Value {
	if c.around == nil {
		return Nil
	}
	return c.around
}

func (cp *Compiler) compileTarget(b *binder, name Value, sc *scope, specials []*Symbol) target {
	symbol, ok := name.(*Symbol)
	if !ok || symbol == Nil {
		cp.Descend(8)
		defer cp.Ascend(8)
		pattern := cp.compileBinder(cp.parseLambdaList(name, true), sc, specials, b.class)
		b.special = b.special || pattern.special
		return target{pattern: pattern}
	}
	if cp.special(symbol, specials) {
		sc.addVariable(symbol, true)
		b.special = true
		return target{global: cp.global(symbol)}
	}
	return target{slot: sc.addVariable(symbol, false).slot}
}

// plain reports that the parameters are required ones in the first slots of the frame.
func (b *binder) plain() bool {
	return !b.special && len(b.optional) == 0 && b.rest == nil && !b.hasKeys && len(b.aux) == 0
}

func (b *binder) counts() (least, most int) {
	least = len(b.required)
	if b.rest != nil || b.hasKeys {
		return least, -1
	}
	return least, least + len(b.optional)
}

// bind binds args. It does not keep the slice.
func (b *binder) bind(c *Call, f *frame, args []Value, tail Value) {
	n := len(b.required)
	if len(args) < n || len(args) > n+len(b.optional) && b.rest == nil && !b.hasKeys || tail != Nil && b.rest == nil {
		c.Fail(b.class, "invalid number of arguments: %d%s", len(args), calling(b.name))
	}
	for i := range b.required {
		b.required[i].set(c, f, args[i])
	}
	args = args[n:]
	for i := range b.optional {
		o := &b.optional[i]
		if len(args) > 0 {
			o.set(c, f, args[0], true)
			args = args[1:]
		} else {
			o.set(c, f, Nil, false)
		}
	}
	if b.rest != nil {
		b.rest.set(c, f, c.listStar(args, tail))
	}
	if b.hasKeys {
		b.bindKeys(c, f, args)
	}
	for i := range b.aux {
		b.aux[i].set(c, f, Nil, false)
	}
}

func calling(name string) string {
	if name == "" {
		return ""
	}
	return " (calling " + name + ")"
}

func (b *binder) bindKeys(c *Call, f *frame, args []Value) {
	if len(args)%2 != 0 {
		c.Fail(b.class, "odd number of keyword arguments%s", calling(b.name))
	}
	open := b.open
	if !open {
		for i := 0; i < len(args); i += 2 {
			if args[i] == kwAllowOtherKeys {
				open = args[i+1] != Nil
				break
			}
		}
	}
	if !open {
		b.checkKeys(c, args)
	}
	for i := range b.keys {
		o := &b.keys[i]
		value, found := Value(Nil), false
		for j := 0; j+1 < len(args); j += 2 {
			if args[j] == o.keyword {
				value, found = args[j+1], true
				break
			}
		}
		o.set(c, f, value, found)
	}
}

func (b *binder) checkKeys(c *Call, args []Value) {
	c.Work(len(args) * len(b.keys) / 8)
next:
	for i := 0; i < len(args); i += 2 {
		for j := range b.keys {
			if args[i] == b.keys[j].keyword {
				continue next
			}
		}
		if args[i] != kwAllowOtherKeys {
			c.Fail(b.class, "unknown keyword argument %s%s", Sketch(args[i], formLength), calling(b.name))
		}
	}
}

// destructure binds the parameters to the parts of a list.
func (b *binder) destructure(c *Call, f *frame, list Value) {
	if b.whole != nil {
		b.whole.set(c, f, list)
	}
	b.take(c, f, list)
}

// destructureForm binds the parameters of a macro to a form (name . arguments).
func (b *binder) destructureForm(c *Call, f *frame, form Value) {
	if b.whole != nil {
		b.whole.set(c, f, form)
	}
	b.take(c, f, cdrOf(c, form))
}

func (b *binder) take(c *Call, f *frame, list Value) {
	c.Descend(2)
	defer c.Ascend(2)
	var args []Value
	tail := list
	for {
		cell, ok := tail.(*Cons)
		if !ok {
			break
		}
		if b.rest != nil && !b.hasKeys && len(args) >= len(b.required)+len(b.optional) {
			break // what is left becomes the rest as it is, not a copy
		}
		c.Step()
		args = Append(c, args, cell.Car)
		tail = cell.Cdr
	}
	b.bind(c, f, args, tail)
}
