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
			cp.environment.global(o.name).document(symStructure, doc)
			cp.environment.global(o.name).document(symTypeWord, doc)
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
	c.Charge(EntryBytes + len(name))
	symbol, _ := c.CurrentPackage().Intern(name, true)
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
