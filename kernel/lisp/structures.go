package lisp

// structureOptions are what (defstruct (name options…)) asks for.
type structureOptions struct {
	name         *Symbol
	prefix       string
	constructors [][]Value // name and, for a BOA constructor, its lambda list
	copier       *Symbol   // nil: none
	predicate    *Symbol
	include      *Symbol
	overrides    []Value
	printer      Value
	// typed structures are lists or vectors; named ones say what they are.
	typed, vector, named, predicated bool
	offset                           int
}

// record is how the instances of a typed structure are laid out.
type record struct {
	class  *Class
	vector bool
	size   int
	// positions are those of the slots, tags those of the names.
	positions []int
	tags      []recordTag
}

type recordTag struct {
	position int
	name     *Symbol
}

// expandDefstruct turns a structure into its class and functions. The class is made
// while expanding, as later forms of the note need it when they are compiled.
func expandDefstruct(cp *Compiler, form *Cons) Value {
	parts := cp.Arguments(form, 1, -1)
	o := cp.structureOptions(parts[0])
	slots := parts[1:]
	if len(slots) > 0 {
		if doc, ok := slots[0].(*String); ok {
			slots = slots[1:]
			cp.global(o.name).document(symStructure, doc)
			cp.global(o.name).document(symTypeWord, doc)
		}
	}
	class := &Class{name: o.name, kind: structureClass, supers: []*Class{cp.language.classes[CL("STRUCTURE-OBJECT")]}}
	inherited := cp.included(o, class)
	own := cp.structureSlots(slots)
	for i := range own {
		for _, other := range append(own[:i:i], inherited...) {
			if other.name.name == own[i].name.name {
				cp.Fail(ProgramError, "the slot %s is defined twice", other.name.name)
			}
		}
	}
	cp.inheritClass(class, append(cp.structureSlots(o.overrides), own...))
	r := cp.layOut(o, class)
	if r == nil {
		cp.environment.classes[o.name] = class
	} else {
		cp.environment.records[o.name] = r
	}
	forms := []Value{symProgn}
	for _, constructor := range o.constructors {
		forms = append(forms, cp.constructor(class, r, constructor))
	}
	forms = append(forms, Form(symFuncall, Form(symQuote, cp.structureFunctions(o, class, r))))
	if o.printer != nil {
		forms = append(forms, Form(symFuncall, Form(symQuote, setPrinter), Form(symQuote, class), o.printer))
	}
	return NewList(append(forms, Form(symQuote, o.name))...)
}

var symStructure = CL("STRUCTURE")

var setPrinter = &Function{name: "SET-PRINTER", least: 2, most: 2, two: func(_ *Call, a, b Value) Value {
	a.(*Class).printer = b
	return b
}}

// included makes the structure inherit and returns the slots it inherits.
func (cp *Compiler) included(o *structureOptions, class *Class) []slot {
	if o.include == nil {
		return nil
	}
	super := cp.environment.class(o.include)
	if o.typed {
		super = nil
		if r := cp.environment.records[o.include]; r != nil && r.vector == o.vector {
			super = r.class
		}
	}
	if super == nil || super.kind != structureClass {
		cp.Fail(SimpleError, "%s is not a structure that %s can include", o.include.name, o.name.name)
	}
	class.supers = []*Class{super}
	class.printer = super.printer
	for _, override := range cp.structureSlots(o.overrides) {
		if super.index(override.name) < 0 {
			cp.Fail(ProgramError, "%s has no slot %s", super.name.name, override.name.name)
		}
	}
	return super.slots
}

// layOut places the slots of a typed structure; nil for one that is not.
func (cp *Compiler) layOut(o *structureOptions, class *Class) *record {
	if !o.typed {
		if o.offset > 0 {
			cp.Fail(ProgramError, ":initial-offset is for structures with :type")
		}
		return nil
	}
	r := &record{class: class, vector: o.vector}
	if o.include != nil {
		super := cp.environment.records[o.include]
		r.size, r.positions, r.tags = super.size, append(r.positions, super.positions...), append(r.tags, super.tags...)
	}
	r.size += o.offset
	if o.named {
		r.tags = append(r.tags, recordTag{r.size, o.name})
		r.size++
	}
	for len(r.positions) < len(class.slots) {
		r.positions = append(r.positions, r.size)
		r.size++
	}
	return r
}

func (cp *Compiler) structureOptions(spec Value) *structureOptions {
	options := []Value{spec}
	if IsList(spec) {
		options = cp.Forms(spec)
	}
	if len(options) == 0 {
		cp.Fail(ProgramError, "a structure needs a name")
	}
	name := cp.unfrozen(cp.checkBindable(options[0])).symbol
	o := &structureOptions{name: name, prefix: name.name + "-", copier: cp.interned("COPY-" + name.name), predicate: cp.interned(name.name + "-P")}
	for _, option := range options[1:] {
		parts := []Value{option}
		if IsList(option) {
			parts = cp.Forms(option)
		}
		cp.structureOption(o, cp.Name(parts[0]), parts[1:])
	}
	if o.constructors == nil {
		o.constructors = [][]Value{{cp.interned("MAKE-" + name.name)}}
	}
	if o.typed && !o.named {
		if o.predicated && o.predicate != nil {
			cp.Fail(ProgramError, "a structure without a name cannot have a predicate")
		}
		o.predicate = nil
	}
	if o.typed && o.printer != nil {
		cp.Fail(ProgramError, "a structure with :type cannot have a print function")
	}
	return o
}

// vectorSpecifier reports vector and (vector …).
func vectorSpecifier(v Value) bool {
	if cell, ok := v.(*Cons); ok {
		v = cell.Car
	}
	return v == symVector
}

// interned is the symbol of that name in the current package.
func (c *Call) interned(name string) *Symbol {
	symbol, _ := c.Intern(c.CurrentPackage(), name, true)
	return symbol
}

func (cp *Compiler) structureOption(o *structureOptions, option string, args []Value) {
	named := func(fallback *Symbol) *Symbol {
		switch {
		case len(args) == 0:
			return fallback
		case args[0] == Nil:
			return nil
		}
		return cp.TakeSymbol(args[0])
	}
	switch option {
	case "CONC-NAME":
		if len(args) > 1 {
			cp.Fail(ProgramError, ":conc-name takes one name")
		}
		o.prefix = ""
		if len(args) > 0 && args[0] != Nil {
			o.prefix = cp.Name(args[0])
		}
	case "CONSTRUCTOR":
		switch {
		case len(args) == 0:
			o.constructors = append(o.constructors, []Value{cp.interned("MAKE-" + o.name.name)})
		case args[0] == Nil:
			o.constructors = [][]Value{}
		default:
			o.constructors = append(o.constructors, args)
		}
	case "COPIER":
		o.copier = named(o.copier)
	case "PREDICATE":
		o.predicate, o.predicated = named(o.predicate), len(args) > 0
	case "INCLUDE":
		if len(args) == 0 {
			cp.Fail(ProgramError, ":include needs the name of a structure")
		}
		o.include, o.overrides = cp.TakeSymbol(args[0]), args[1:]
	case "PRINT-FUNCTION", "PRINT-OBJECT":
		if len(args) > 0 {
			function := Value(Form(symFunction, args[0]))
			if option == "PRINT-FUNCTION" {
				object, stream := cp.Gensym("OBJECT"), cp.Gensym("STREAM")
				function = Form(symLambda, NewList(object, stream), Form(symFuncall, function, object, stream, Integer(0)))
			}
			o.printer = function
		}
	case "TYPE":
		o.typed, o.vector = true, !(len(args) == 1 && args[0] == symList)
		if len(args) != 1 || o.vector && !vectorSpecifier(args[0]) {
			cp.Fail(SimpleError, ":type takes list, vector or (vector ELEMENT-TYPE)")
		}
	case "NAMED":
		o.named = true
	case "INITIAL-OFFSET":
		if len(args) > 0 {
			if o.offset = cp.Index(args[0]); o.offset > 10_000 {
				cp.Fail(ProgramError, "the offset %d is too large", o.offset)
			}
		}
	default:
		cp.Fail(SimpleError, "unknown option :%s of defstruct", option)
	}
}

// structureSlots reads slot descriptions: name or (name initial . options).
func (cp *Compiler) structureSlots(items []Value) []slot {
	var slots []slot
	for _, item := range items {
		parts := []Value{item}
		if IsList(item) {
			parts = cp.Forms(item)
		}
		if len(parts) == 0 || len(parts) > 1 && len(parts)%2 != 0 {
			cp.Fail(ProgramError, "malformed slot %s", Sketch(item, formLength))
		}
		name, ok := parts[0].(*Symbol)
		if !ok && IsList(item) {
			cp.TypeError(parts[0], "SYMBOL")
		} else if !ok {
			cp.Fail(ProgramError, "a slot's name must be a symbol, not %s", Sketch(parts[0], formLength))
		}
		s := slot{name: name, initargs: []*Symbol{cp.environment.Keyword(name.name)}}
		if len(parts) > 1 {
			s.form = parts[1]
		}
		for i := 2; i < len(parts); i += 2 {
			switch cp.Name(parts[i]) {
			case "TYPE":
				if s.kind = parts[i+1]; s.kind == Value(T) {
					s.kind = nil
				}
			case "READ-ONLY":
				s.readOnly = parts[i+1] != Nil
			default:
				cp.Fail(ProgramError, "unknown option of the slot %s: %s", name.name, Sketch(parts[i], formLength))
			}
		}
		slots = append(slots, s)
	}
	return slots
}

// construct makes an object of a structure from the values of its slots.
func (c *Call) construct(class *Class, r *record, args []Value) Value {
	for i := range class.slots {
		c.checkSlot(&class.slots[i], args[i])
	}
	if r == nil {
		return Allocate(c, Instance{class: class, slots: Clone(c, args)})
	}
	parts := MakeSlice[Value](c, r.size)
	for i := range parts {
		parts[i] = Nil
	}
	for i, position := range r.positions {
		parts[position] = args[i]
	}
	for _, tag := range r.tags {
		parts[tag.position] = tag.name
	}
	if r.vector {
		return c.NewVector(parts)
	}
	return c.NewList(parts)
}

func (c *Call) checkSlot(s *slot, v Value) {
	if s.kind != nil && !c.typep(v, s.kind) {
		c.signalError(c.newCondition(TypeErrorClass, "The value "+c.Shown(v)+" of the slot "+s.name.name+" is not of type "+c.Shown(s.kind)+".", "DATUM", v, "EXPECTED-TYPE", s.kind))
	}
}

// constructor makes the defun of a constructor: by keywords, or by a lambda list.
func (cp *Compiler) constructor(class *Class, r *record, spec []Value) Value {
	make := NewList(symQuote, &Function{name: "MAKE-STRUCTURE", most: -1, call: func(c *Call, args []Value) Value { return c.construct(class, r, args) }})
	passed := NewListBuilder(cp.Call)
	parameters := NewListBuilder(cp.Call)
	if len(spec) == 1 {
		parameters.Add(symKey)
		for i := range class.slots {
			s := &class.slots[i]
			variable := cp.Gensym(s.name.name) // initial forms do not see each other's slots
			parameters.Add(NewList(NewList(s.initargs[0], variable), s.initialForm()))
			passed.Add(variable)
		}
		return Form(symDefun, spec[0], parameters.List(), FormStar(symFuncall, passed.List(), make))
	}
	named := map[*Symbol]bool{}
	section := symLambda
	for _, item := range cp.Forms(spec[1]) {
		if word, ok := item.(*Symbol); ok && lambdaWords[word] {
			section = word
			parameters.Add(item)
			continue
		}
		name := item
		if cell, ok := item.(*Cons); ok {
			name = cell.Car
			if pair, ok := name.(*Cons); ok {
				name = nthOf(pair, 1)
			}
		}
		symbol := cp.checkBindable(name)
		at := class.index(symbol)
		defaulted := section == symOptional || section == symKey || section == symAux
		if cell, ok := item.(*Cons); at >= 0 && defaulted && (!ok || cell.Cdr == Nil) {
			if ok {
				name = cell.Car
			}
			item = NewList(name, class.slots[at].initialForm())
		}
		named[symbol] = true
		parameters.Add(item)
	}
	for i := range class.slots {
		if s := &class.slots[i]; named[s.name] {
			passed.Add(s.name)
		} else {
			passed.Add(s.initialForm())
		}
	}
	return Form(symDefun, spec[0], parameters.List(), FormStar(symFuncall, passed.List(), make))
}

// nthOf is an element of a list, Nil if there is none.
func nthOf(list *Cons, n int) Value {
	items, _ := Slice(list, n+1)
	if n < len(items) {
		return items[n]
	}
	return Nil
}

func (s *slot) initialForm() Value {
	if s.form == nil {
		return Nil
	}
	return s.form
}

// structureFunctions is a function that defines accessors, predicate and copier.
func (cp *Compiler) structureFunctions(o *structureOptions, class *Class, r *record) *Function {
	accessors := MakeSlice[*Symbol](cp.Call, len(class.slots))
	for i := range class.slots {
		accessors[i] = cp.interned(o.prefix + class.slots[i].name.name)
		cp.definable(accessors[i])
	}
	return &Function{name: "DEFSTRUCT", call: func(c *Call, _ []Value) Value {
		for i, accessor := range accessors {
			if o.include != nil && c.inheritedAccessor(accessor, class, i) {
				continue
			}
			g := c.global(accessor)
			g.function, g.macro, g.setter = structureReader(c, accessor.name, class, r, i), nil, nil
			if !class.slots[i].readOnly {
				g.setter = structureWriter(c, accessor.name, class, r, i)
			}
		}
		if o.predicate != nil {
			c.definable(o.predicate).function = structurePredicate(c, o.predicate.name, class, r)
		}
		if o.copier != nil {
			c.definable(o.copier).function = structureCopier(c, o.copier.name, class, r)
		}
		return Nil
	}}
}

// inheritedAccessor reports that the accessor is that of the included structure already.
func (c *Call) inheritedAccessor(accessor *Symbol, class *Class, i int) bool {
	fn := c.global(accessor).function
	return i < len(class.supers[0].slots) && fn != nil && fn.accesses == class.supers[0]
}

func (c *Call) notStructure(v Value, class *Class) {
	c.signalError(c.newCondition(TypeErrorClass, "The value "+c.Shown(v)+" is not of type "+class.name.name+".", "DATUM", v, "EXPECTED-TYPE", class.name))
}

func (c *Call) structure(v Value, class *Class) *Instance {
	i, ok := v.(*Instance)
	if !ok || i.class != class && !i.class.isA(class) {
		c.notStructure(v, class)
	}
	return i
}

func structureReader(c *Call, name string, class *Class, r *record, index int) *Function {
	fn := Allocate(c, Function{name: name, least: 1, most: 1, accesses: class})
	fn.one = func(c *Call, a Value) Value { return c.structure(a, class).slots[index] }
	if r != nil {
		position := r.positions[index]
		fn.one = func(c *Call, a Value) Value { return elt(c, a, Count(position)) }
	}
	return fn
}

func structureWriter(c *Call, name string, class *Class, r *record, index int) *Function {
	s := &class.slots[index]
	return Allocate(c, Function{name: "(SETF " + name + ")", least: 2, most: 2, two: func(c *Call, v, a Value) Value {
		c.checkSlot(s, v)
		if r != nil {
			c.setElement(a, r.positions[index], v)
		} else {
			c.structure(a, class).slots[index] = v
		}
		return v
	}})
}

func structurePredicate(c *Call, name string, class *Class, r *record) *Function {
	return Allocate(c, Function{name: name, least: 1, most: 1, one: func(c *Call, a Value) Value {
		if r == nil {
			i, ok := a.(*Instance)
			return Boolean(ok && i.class.isA(class))
		}
		tag := r.tags[len(r.tags)-1]
		if _, isList := a.(*Cons); isList == r.vector || !IsSequence(a) {
			return Nil
		}
		if r.vector {
			return Boolean(c.Length(a) > tag.position && elt(c, a, Count(tag.position)) == Value(tag.name))
		}
		for i := 0; i < tag.position; i++ {
			cell, ok := a.(*Cons)
			if !ok {
				return Nil
			}
			a = cell.Cdr
		}
		cell, ok := a.(*Cons)
		return Boolean(ok && cell.Car == Value(tag.name))
	}})
}

func structureCopier(c *Call, name string, class *Class, r *record) *Function {
	return Allocate(c, Function{name: name, least: 1, most: 1, one: func(c *Call, a Value) Value {
		if r == nil {
			original := c.structure(a, class)
			copied := c.allocate(original.class)
			copy(copied.slots, original.slots)
			return copied
		}
		return c.funcall(CL("COPY-SEQ"), []Value{a})
	}})
}
