package lisp

// sequenceType is what a type specifier for make-sequence, map, merge, coerce and
// concatenate asks for.
type sequenceType struct {
	name Value
	// kind is the type of a vector's elements; nil for a list.
	kind *elementType
	// least and most bound the length; most is -1 without a bound.
	least, most int
}

func (c *Call) sequenceType(kind Value) sequenceType {
	c.Descend(4)
	defer c.Ascend(4)
	if class, ok := kind.(*Class); ok {
		kind = class.name
	}
	t := sequenceType{name: kind, most: -1}
	head, args := kind, []Value(nil)
	if cell, ok := kind.(*Cons); ok {
		head, args = cell.Car, c.Slice(cell.Cdr)
	}
	symbol, ok := head.(*Symbol)
	if !ok {
		c.notSequenceType(kind)
	}
	switch symbol.name {
	case "LIST":
		return t
	case "CONS":
		t.least = 1
		return t
	case "NULL":
		t.most = 0
		return t
	case "VECTOR", "ARRAY", "SIMPLE-ARRAY":
		t.kind = c.elementType(Optional(args, 0))
		return c.sized(t, Optional(args, 1))
	case "SIMPLE-VECTOR":
		t.kind = generalElements
		return c.sized(t, Optional(args, 0))
	case "BIT-VECTOR", "SIMPLE-BIT-VECTOR":
		t.kind = bitElements
		return c.sized(t, Optional(args, 0))
	case "STRING", "SIMPLE-STRING", "BASE-STRING", "SIMPLE-BASE-STRING":
		t.kind = characterElements
		return c.sized(t, Optional(args, 0))
	case "AND":
		for _, arg := range args {
			if cell, ok := arg.(*Cons); !ok || cell.Car != symNot {
				return c.sequenceType(arg)
			}
		}
	}
	if expansion, ok := c.expandType(kind); ok {
		return c.sequenceType(expansion)
	}
	c.notSequenceType(kind)
	return t
}

func (c *Call) notSequenceType(kind Value) {
	c.signalError(c.newCondition(TypeErrorClass, c.Shown(kind)+" is not a type of sequences", "DATUM", kind, "EXPECTED-TYPE", CL("SEQUENCE")))
}

// sized reads the dimension of a vector type: a length, (LENGTH), a rank of one or a star.
func (c *Call) sized(t sequenceType, size Value) sequenceType {
	if cell, ok := size.(*Cons); ok {
		if cell.Cdr != Nil {
			c.notSequenceType(t.name)
		}
		size = cell.Car
	} else if cell, ok := t.name.(*Cons); ok && size != nil && size != symStar && cell.Car != symVector && len(c.Slice(cell)) == 3 {
		if size != Integer(1) { // a rank, not a length
			c.notSequenceType(t.name)
		}
		return t
	}
	if size != nil && size != symStar {
		t.least = c.Index(size)
		t.most = t.least
	}
	return t
}

// check complains when a sequence of n elements cannot be of the type.
func (c *Call) checkLength(t sequenceType, n int) {
	if n < t.least || t.most >= 0 && n > t.most {
		c.signalError(c.newCondition(TypeErrorClass, "a sequence of "+Sketch(Count(n), 20)+" elements is not of type "+c.Shown(t.name), "DATUM", Count(n), "EXPECTED-TYPE", Nil))
	}
}

// makeSequence makes a sequence of items, which it may keep.
func (c *Call) makeSequence(t sequenceType, items []Value) Value {
	c.checkLength(t, len(items))
	if t.kind == nil {
		return c.NewList(items)
	}
	return c.vectorOf(t.kind, items)
}

// vectorOf makes a vector or string of items, which it may keep.
func (c *Call) vectorOf(kind *elementType, items []Value) Value {
	if kind == characterElements {
		return c.stringOf(items)
	}
	c.ChargeMany(len(items), ValueBytes)
	v := c.NewVector(items)
	if kind != generalElements {
		for _, item := range items {
			c.element(kind, item)
		}
		v.kind = kind
	}
	return v
}

// like makes a sequence of the same type as v. It may keep items.
func (c *Call) like(v Value, items []Value) Value {
	if IsList(v) {
		return c.NewList(items)
	}
	return c.vectorOf(c.arrayKind(v), items)
}

// stringOf makes a string of characters.
func (c *Call) stringOf(items []Value) *String {
	chars := MakeSlice[rune](c, len(items))
	for i, item := range items {
		chars[i] = rune(c.Character(item))
	}
	return c.StringOf(chars)
}

func concatenate(c *Call, args []Value) Value {
	t := c.sequenceType(args[0])
	if t.kind == characterElements {
		total := 0
		for _, arg := range args[1:] {
			total += c.Length(arg)
		}
		c.checkLength(t, total)
		chars := MakeSlice[rune](c, total)[:0]
		for _, arg := range args[1:] {
			if s, ok := arg.(*String); ok {
				chars = append(chars, s.chars...)
				continue
			}
			for _, item := range c.Elements(arg) {
				chars = append(chars, rune(c.Character(item)))
			}
		}
		return c.StringOf(chars)
	}
	var items []Value
	for _, arg := range args[1:] {
		part := c.Elements(arg)
		items = Append(c, items, part...)
	}
	return c.makeSequence(t, items)
}

func makeSequence(c *Call, args Args) Value {
	t, n := c.sequenceType(args.Get("type")), c.Index(args.Get("size"))
	c.checkLength(t, n)
	element := args.Get("initial-element")
	if element == nil {
		element = Nil
		if t.kind != nil {
			element = t.kind.zero
		}
	}
	items := MakeSlice[Value](c, n)
	for i := range items {
		items[i] = element
	}
	return c.makeSequence(t, items)
}

func coerce(c *Call, a, b Value) Value {
	if symbol, ok := b.(*Symbol); ok {
		switch symbol.name {
		case "CHARACTER":
			return c.designatedCharacter(a)
		case "FLOAT":
			if c.realNumber(a) >= singleKind {
				return a
			}
			return c.toFloat(a, Nil)
		case "SINGLE-FLOAT", "SHORT-FLOAT":
			c.realNumber(a)
			return c.toFloat(a, float32(0))
		case "DOUBLE-FLOAT", "LONG-FLOAT":
			c.realNumber(a)
			return c.toFloat(a, float64(0))
		case "COMPLEX":
			c.number(a)
			return c.complexOfType(a, symStar)
		case "FUNCTION":
			return c.Function(a)
		case "T":
			return a
		}
	}
	if c.typep(a, b) {
		return a
	}
	if cell, ok := b.(*Cons); ok && cell.Car == symComplex && kindOf(a) != notNumber {
		return c.complexOfType(a, Optional(c.Slice(cell.Cdr), 0))
	}
	if !IsSequence(a) {
		c.signalError(c.newCondition(TypeErrorClass, c.Shown(a)+" can't be converted to type "+c.Shown(b)+".", "DATUM", a, "EXPECTED-TYPE", b))
	}
	t := c.sequenceType(b)
	items := c.Elements(a)
	c.ChargeMany(len(items), ValueBytes)
	return c.makeSequence(t, append([]Value(nil), items...))
}
