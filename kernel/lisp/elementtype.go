package lisp

import "math/big"

// elementType is what the elements of an array may be. There are as many as SBCL has: an
// array asked for with another type gets the narrowest of these that includes it.
type elementType struct {
	// name is what array-element-type returns.
	name Value
	// zero is what the elements are when nothing else is said.
	zero    Value
	accepts func(Value) bool
	// low and high bound a type of integers, nil for all others.
	low, high *big.Int
}

var (
	generalElements   = &elementType{name: T, zero: Integer(0), accepts: func(Value) bool { return true }}
	bitElements       = integerElements(CL("BIT"), big.NewInt(0), 1)
	characterElements = &elementType{name: symCharacter, zero: Character(0), accepts: func(v Value) bool { _, ok := v.(Character); return ok }}
	singleElements    = &elementType{name: CL("SINGLE-FLOAT"), zero: float32(0), accepts: func(v Value) bool { _, ok := v.(float32); return ok }}
	doubleElements    = &elementType{name: CL("DOUBLE-FLOAT"), zero: float64(0), accepts: func(v Value) bool { _, ok := v.(float64); return ok }}
)

// integerElementTypes are the types of integers, narrow ones first.
var integerElementTypes = func() []*elementType {
	types := []*elementType{bitElements}
	unsigned, signed := CL("UNSIGNED-BYTE"), CL("SIGNED-BYTE")
	fixnum := CL("FIXNUM")
	for _, n := range []uint{2, 4, 7, 8, 15, 16, 31, 32, 62, 63, 64} {
		types = append(types, integerElements(NewList(unsigned, Integer(int64(n))), big.NewInt(0), n))
	}
	for _, n := range []uint{8, 16, 32, 63, 64} {
		name := NewList(signed, Integer(int64(n)))
		if n == 63 {
			name = fixnum
		}
		types = append(types, integerElements(name, new(big.Int).Lsh(big.NewInt(-1), n-1), n-1))
	}
	return types
}()

// integerElements holds the integers from low to below two to the power of bits.
func integerElements(name Value, low *big.Int, bits uint) *elementType {
	high := new(big.Int).Lsh(big.NewInt(1), bits)
	high.Sub(high, big.NewInt(1))
	return &elementType{name: name, zero: Integer(0), low: low, high: high, accepts: func(v Value) bool {
		switch x := v.(type) {
		case int64:
			n := big.NewInt(x)
			return n.Cmp(low) >= 0 && n.Cmp(high) <= 0
		case *big.Int:
			return x.Cmp(low) >= 0 && x.Cmp(high) <= 0
		}
		return false
	}}
}

// elementType is the upgraded type for elements of a type; nil and the star mean any.
func (c *Call) elementType(kind Value) *elementType {
	c.Descend(4)
	defer c.Ascend(4)
	if kind == nil || kind == symStar || kind == T {
		return generalElements
	}
	if class, ok := kind.(*Class); ok {
		kind = class.name
	}
	if low, high, ok := c.integerRange(kind); ok {
		for _, e := range integerElementTypes {
			if low != nil && high != nil && low.Cmp(e.low) >= 0 && high.Cmp(e.high) <= 0 {
				return e
			}
		}
		return generalElements
	}
	head := kind
	if cell, ok := kind.(*Cons); ok {
		head = cell.Car
	}
	if symbol, ok := head.(*Symbol); ok {
		switch symbol.name {
		case "NIL", "CHARACTER", "BASE-CHAR", "STANDARD-CHAR", "EXTENDED-CHAR":
			return characterElements
		case "SINGLE-FLOAT", "SHORT-FLOAT":
			return singleElements
		case "DOUBLE-FLOAT", "LONG-FLOAT":
			return doubleElements
		case "MEMBER", "EQL":
			return c.memberElements(c.Slice(kind.(*Cons).Cdr))
		}
	}
	if expansion, ok := c.expandType(kind); ok {
		return c.elementType(expansion)
	}
	c.typep(Nil, kind) // complains about what is no type
	return generalElements
}

// memberElements is the type that all of some objects fit.
func (c *Call) memberElements(members []Value) *elementType {
	candidates := append(append([]*elementType{}, integerElementTypes...), characterElements, singleElements, doubleElements)
candidates:
	for _, e := range candidates {
		for _, member := range members {
			if !e.accepts(member) {
				continue candidates
			}
		}
		return e
	}
	return generalElements
}

// integerRange is the interval that a type specifier for integers means; a bound is nil
// where there is none.
func (c *Call) integerRange(kind Value) (low, high *big.Int, ok bool) {
	head, args := kind, []Value(nil)
	if cell, ok := kind.(*Cons); ok {
		head, args = cell.Car, c.Slice(cell.Cdr)
	}
	symbol, ok := head.(*Symbol)
	if !ok {
		return nil, nil, false
	}
	size, sized := Optional(args, 0).(int64)
	sized = sized && size > 0 && size <= 1024
	zero, one := big.NewInt(0), big.NewInt(1)
	switch symbol.name {
	case "BIT":
		return zero, one, true
	case "FIXNUM":
		return big.NewInt(-1 << 62), big.NewInt(1<<62 - 1), true
	case "MOD":
		return zero, new(big.Int).Sub(c.Integer(Optional(args, 0)), one), true
	case "UNSIGNED-BYTE":
		if sized {
			high = new(big.Int).Sub(new(big.Int).Lsh(one, uint(size)), one)
		}
		return zero, high, true
	case "SIGNED-BYTE":
		if sized {
			high = new(big.Int).Sub(new(big.Int).Lsh(one, uint(size-1)), one)
			low = new(big.Int).Not(high)
		}
		return low, high, true
	case "INTEGER":
		return c.integerBound(Optional(args, 0), 1), c.integerBound(Optional(args, 1), -1), true
	}
	return nil, nil, false
}

// integerBound is a bound of an integer type; (N) excludes N, so that the bound is what
// comes next to it inside.
func (c *Call) integerBound(v Value, inward int64) *big.Int {
	if v == nil || v == symStar {
		return nil
	}
	if cell, ok := v.(*Cons); ok {
		return new(big.Int).Add(c.Integer(cell.Car), big.NewInt(inward))
	}
	return c.Integer(v)
}

// element checks that v can be stored into an array of a type.
func (c *Call) element(kind *elementType, v Value) {
	if kind != nil && !kind.accepts(v) {
		c.signalError(c.newCondition(TypeErrorClass, "The value "+c.Shown(v)+" is not of type "+c.Shown(kind.name)+".",
			"DATUM", v, "EXPECTED-TYPE", kind.name))
	}
}
