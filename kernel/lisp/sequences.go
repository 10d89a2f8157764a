package lisp

// elements returns the elements of a sequence. For a vector it is the vector's own
// storage, which the caller must not change unless it means to.
func (c *Call) elements(v Value) []Value {
	switch x := v.(type) {
	case *String:
		c.chargeMany(len(x.chars), valueBytes)
		items := make([]Value, len(x.chars))
		for i, r := range x.chars {
			items[i] = Character(r)
		}
		return items
	case *Vector:
		if x.dimensions == nil {
			c.work(len(x.elements) / 8)
			return x.elements
		}
	case *Cons:
		return c.slice(x)
	case *Symbol:
		if x == Nil {
			return nil
		}
	}
	c.typeError(v, "SEQUENCE")
	return nil
}

// length is the number of elements of a sequence.
func (c *Call) length(v Value) int {
	switch x := v.(type) {
	case *String:
		return len(x.chars)
	case *Vector:
		if x.dimensions == nil {
			return len(x.elements)
		}
	case *Cons, *Symbol:
		if !isList(v) {
			break
		}
		n := 0
		for cell, ok := c.next(v); ok; cell, ok = c.next(cell.Cdr) {
			n++
		}
		return n
	}
	c.typeError(v, "SEQUENCE")
	return 0
}

// like makes a sequence of the same type as v. It may keep items.
func (c *Call) like(v Value, items []Value) Value {
	switch v.(type) {
	case *String:
		return c.stringOf(items)
	case *Vector:
		c.chargeMany(len(items), valueBytes)
		return newVector(items)
	}
	return c.newList(items)
}

// stringOf makes a string of characters.
func (c *Call) stringOf(items []Value) *String {
	chars := make([]rune, len(items))
	c.chargeMany(len(items), runeBytes)
	for i, item := range items {
		chars[i] = rune(c.character(item))
	}
	return runesString(chars)
}

// sequenceKind is what a type specifier for make-sequence, map, coerce and concatenate
// asks for.
type sequenceKind int

const (
	listSequence sequenceKind = iota
	vectorSequence
	stringSequence
)

func (c *Call) sequenceKind(kind Value) sequenceKind {
	if class, ok := kind.(*Class); ok {
		kind = class.name
	}
	head := kind
	if cell, ok := kind.(*Cons); ok {
		head = cell.Car
		if rest, ok := cell.Cdr.(*Cons); ok && (rest.Car == symCharacter || rest.Car == symBaseChar) {
			return stringSequence
		}
	}
	if symbol, ok := head.(*Symbol); ok {
		switch symbol.name {
		case "LIST", "CONS", "NULL", "SEQUENCE":
			return listSequence
		case "VECTOR", "SIMPLE-VECTOR", "ARRAY", "SIMPLE-ARRAY", "BIT-VECTOR":
			return vectorSequence
		case "STRING", "SIMPLE-STRING", "BASE-STRING", "SIMPLE-BASE-STRING":
			return stringSequence
		}
		if expansion, ok := c.expandType(kind); ok {
			c.descend(4)
			defer c.ascend(4)
			return c.sequenceKind(expansion)
		}
	}
	c.fail(typeErrorClass, "%s is not a type of sequences", c.shown(kind))
	return 0
}

func (c *Call) makeSequence(kind sequenceKind, items []Value) Value {
	switch kind {
	case vectorSequence:
		c.chargeMany(len(items), valueBytes)
		return newVector(items)
	case stringSequence:
		return c.stringOf(items)
	}
	return c.newList(items)
}

var (
	symCharacter = standardSymbol("CHARACTER")
	symBaseChar  = standardSymbol("BASE-CHAR")
)

// sequenceFunctions make, measure and join sequences.
func sequenceFunctions() []builtin {
	return []builtin{
		{name: "length", list: "(sequence)", doc: "The number of elements.", one: func(c *Call, a Value) Value { return count(c.length(a)) }},
		{name: "elt", list: "(sequence index)", doc: "The element at index.", two: func(c *Call, a, b Value) Value {
			i := c.index(b)
			if isList(a) {
				tail := c.nthcdr(b, a)
				if cell, ok := tail.(*Cons); ok {
					return cell.Car
				}
				c.badIndex(i, a)
			}
			return c.aref(a, i)
		}},
		{name: "subseq", list: "(sequence start &optional end)", doc: "A copy of a part.", call: subseq},
		{name: "copy-seq", list: "(sequence)", doc: "A copy.", one: func(c *Call, a Value) Value {
			return subseq(c, []Value{a, Integer(0)})
		}},
		{name: "reverse", list: "(sequence)", doc: "The elements in reverse order.", one: reverse},
		{name: "nreverse", list: "(sequence)", doc: "The elements in reverse order; the old sequence is used up.", one: reverse},
		{name: "concatenate", list: "(type &rest sequences)", doc: "A new sequence of the elements of all.", call: concatenate},
		{name: "make-sequence", list: "(type size &key initial-element)", doc: "A sequence of size elements.", call: func(c *Call, args []Value) Value {
			kind, n := c.sequenceKind(args[0]), c.index(args[1])
			element := c.keywords(args[2:], kwInitialElement)[0]
			if element == nil {
				element = Value(Nil)
				if kind == stringSequence {
					element = Character(0)
				}
			}
			c.chargeMany(n, valueBytes)
			items := make([]Value, n)
			for i := range items {
				items[i] = element
			}
			return c.makeSequence(kind, items)
		}},
		{name: "coerce", list: "(object type)", doc: "The object as another type.", two: coerce},
		{name: "fill", list: "(sequence item &key start end)", doc: "Set all elements.", call: fill},
		{name: "replace", list: "(target source &key start1 end1 start2 end2)", doc: "Copy elements into target.", call: replaceElements},
	}
}

func subseq(c *Call, args []Value) Value {
	switch x := args[0].(type) {
	case *String:
		from, to := c.bounds(args[1], optional(args, 2), len(x.chars))
		return c.newString(append([]rune(nil), x.chars[from:to]...))
	case *Vector:
		items := c.elements(x)
		from, to := c.bounds(args[1], optional(args, 2), len(items))
		c.chargeMany(to-from, valueBytes)
		v := newVector(append([]Value(nil), items[from:to]...))
		v.bits = x.bits
		return v
	}
	items := c.elements(args[0])
	from, to := c.bounds(args[1], optional(args, 2), len(items))
	return c.newList(items[from:to])
}

func reverse(c *Call, a Value) Value {
	switch x := a.(type) {
	case *String:
		chars := c.newString(make([]rune, len(x.chars)))
		for i, r := range x.chars {
			chars.chars[len(x.chars)-1-i] = r
		}
		return chars
	case *Vector:
		items := c.elements(x)
		c.chargeMany(len(items), valueBytes)
		reversed := make([]Value, len(items))
		for i, v := range items {
			reversed[len(items)-1-i] = v
		}
		return newVector(reversed)
	}
	result := Value(Nil)
	if !isList(a) {
		c.typeError(a, "SEQUENCE")
	}
	for cell, ok := c.next(a); ok; cell, ok = c.next(cell.Cdr) {
		result = c.cons(cell.Car, result)
	}
	return result
}

func concatenate(c *Call, args []Value) Value {
	kind := c.sequenceKind(args[0])
	if kind == stringSequence {
		total := 0
		for _, arg := range args[1:] {
			total += c.length(arg)
		}
		c.chargeMany(total, runeBytes)
		chars := make([]rune, 0, total)
		for _, arg := range args[1:] {
			if s, ok := arg.(*String); ok {
				chars = append(chars, s.chars...)
				continue
			}
			for _, item := range c.elements(arg) {
				chars = append(chars, rune(c.character(item)))
			}
		}
		return runesString(chars)
	}
	var items []Value
	for _, arg := range args[1:] {
		part := c.elements(arg)
		c.chargeMany(len(part), valueBytes)
		items = append(items, part...)
	}
	return c.makeSequence(kind, items)
}

func coerce(c *Call, a, b Value) Value {
	if symbol, ok := b.(*Symbol); ok {
		switch symbol.name {
		case "CHARACTER":
			chars := c.chars(a)
			if len(chars) != 1 {
				c.typeError(a, "CHARACTER")
			}
			return Character(chars[0])
		case "FLOAT":
			if c.number(a) >= singleKind {
				return a
			}
			return c.toFloat(a, Nil)
		case "SINGLE-FLOAT", "SHORT-FLOAT":
			c.number(a)
			return c.toFloat(a, float32(0))
		case "DOUBLE-FLOAT", "LONG-FLOAT":
			c.number(a)
			return c.toFloat(a, float64(0))
		case "FUNCTION":
			return c.function(a)
		case "T":
			return a
		}
	}
	if c.typep(a, b) {
		return a
	}
	if !isSequence(a) {
		c.typeError(a, sketch(b, formLength))
	}
	return c.makeSequence(c.sequenceKind(b), append([]Value(nil), c.elements(a)...))
}

func isSequence(v Value) bool {
	switch x := v.(type) {
	case *String, *Cons:
		return true
	case *Vector:
		return x.dimensions == nil
	}
	return v == Nil
}

// setElement stores into a sequence.
func (c *Call) setElement(sequence Value, i int, v Value) {
	switch x := sequence.(type) {
	case *String:
		if i < len(x.chars) {
			x.chars[i] = rune(c.character(v))
			return
		}
	case *Vector:
		if i < len(x.elements) {
			x.elements[i] = v
			return
		}
	case *Cons:
		if cell, ok := c.nthcdr(count(i), x).(*Cons); ok {
			cell.Car = v
			return
		}
	default:
		c.typeError(sequence, "SEQUENCE")
	}
	c.badIndex(i, sequence)
}

func (c *Call) badIndex(i int, sequence Value) {
	c.signalError(c.newCondition(typeErrorClass, "Invalid index "+sketch(count(i), 20)+" for "+c.shown(sequence)+".", "DATUM", count(i), "EXPECTED-TYPE", Nil))
}

// store writes items into a sequence from index start on.
func (c *Call) store(sequence Value, start int, items []Value) {
	c.work(len(items))
	if cell, ok := sequence.(*Cons); ok {
		tail := c.nthcdr(count(start), cell)
		for _, item := range items {
			next, ok := tail.(*Cons)
			if !ok {
				return
			}
			next.Car, tail = item, next.Cdr
		}
		return
	}
	for i, item := range items {
		c.setElement(sequence, start+i, item)
	}
}

func fill(c *Call, args []Value) Value {
	k := c.keywords(args[2:], kwStart, kwEnd)
	from, to := c.bounds(k[0], k[1], c.length(args[0]))
	c.chargeMany(to-from, valueBytes)
	items := make([]Value, to-from)
	for i := range items {
		items[i] = args[1]
	}
	c.store(args[0], from, items)
	return args[0]
}

func replaceElements(c *Call, args []Value) Value {
	k := c.keywords(args[2:], kwStart1, kwEnd1, kwStart2, kwEnd2)
	source := c.elements(args[1])
	from1, to1 := c.bounds(k[0], k[1], c.length(args[0]))
	from2, to2 := c.bounds(k[2], k[3], len(source))
	n := min(to1-from1, to2-from2)
	c.chargeMany(n, valueBytes)
	c.store(args[0], from1, append([]Value(nil), source[from2:from2+n]...))
	return args[0]
}
