package lisp

import (
	"math/big"
)

// typePredicates are the types with a name of their own.
func typePredicates() map[*Symbol]func(Value) bool {
	is := map[string]func(Value) bool{
		"T": func(Value) bool { return true }, "NIL": func(Value) bool { return false },
		"SYMBOL": func(v Value) bool { _, ok := v.(*Symbol); return ok }, "KEYWORD": func(v Value) bool { s, ok := v.(*Symbol); return ok && s.Keyword() },
		"BOOLEAN": func(v Value) bool { return v == Nil || v == T }, "NULL": func(v Value) bool { return v == Nil },
		"CONS": func(v Value) bool { _, ok := v.(*Cons); return ok }, "LIST": IsList, "ATOM": func(v Value) bool { _, ok := v.(*Cons); return !ok },
		"SEQUENCE": IsSequence, "STRING": func(v Value) bool { _, ok := v.(*String); return ok },
		"SIMPLE-STRING": func(v Value) bool { s, ok := v.(*String); return ok && isSimple(s) },
		"BASE-STRING":   func(Value) bool { return false }, "SIMPLE-BASE-STRING": func(Value) bool { return false },
		"CHARACTER": func(v Value) bool { _, ok := v.(Character); return ok }, "BASE-CHAR": func(v Value) bool { ch, ok := v.(Character); return ok && ch < 128 },
		"EXTENDED-CHAR": func(v Value) bool { ch, ok := v.(Character); return ok && ch >= 128 },
		"STANDARD-CHAR": func(v Value) bool { ch, ok := v.(Character); return ok && (ch == '\n' || ch >= ' ' && ch < 127) },
		"NUMBER":        func(v Value) bool { return kindOf(v) != notNumber }, "REAL": func(v Value) bool { k := kindOf(v); return k != notNumber && k != complexKind },
		"COMPLEX":  func(v Value) bool { return kindOf(v) == complexKind },
		"RATIONAL": func(v Value) bool { k := kindOf(v); return k >= smallKind && k <= ratioKind }, "RATIO": func(v Value) bool { return kindOf(v) == ratioKind },
		"INTEGER": func(v Value) bool { k := kindOf(v); return k == smallKind || k == bigKind },
		"FIXNUM":  func(v Value) bool { n, ok := v.(int64); return ok && n >= -1<<62 && n < 1<<62 }, "BIGNUM": func(v Value) bool {
			n, ok := v.(int64)
			return kindOf(v) == bigKind || ok && (n < -1<<62 || n >= 1<<62)
		},
		"BIT": func(v Value) bool { return v == Integer(0) || v == Integer(1) }, "UNSIGNED-BYTE": func(v Value) bool { k := kindOf(v); return (k == smallKind || k == bigKind) && sign(v) >= 0 },
		"SIGNED-BYTE": func(v Value) bool { k := kindOf(v); return k == smallKind || k == bigKind },
		"FLOAT":       func(v Value) bool { return kindOf(v).float() }, "SINGLE-FLOAT": func(v Value) bool { return kindOf(v) == singleKind },
		"SHORT-FLOAT": func(v Value) bool { return kindOf(v) == singleKind }, "DOUBLE-FLOAT": func(v Value) bool { return kindOf(v) == doubleKind },
		"LONG-FLOAT": func(v Value) bool { return kindOf(v) == doubleKind }, "FUNCTION": func(v Value) bool { _, ok := v.(*Function); return ok },
		"COMPILED-FUNCTION": func(v Value) bool { _, ok := v.(*Function); return ok }, "GENERIC-FUNCTION": func(v Value) bool { f, ok := v.(*Function); return ok && f.generic != nil },
		"VECTOR": isVector, "ARRAY": isArray,
		"SIMPLE-ARRAY": func(v Value) bool {
			return isArray(v) && isSimple(v)
		},
		"SIMPLE-VECTOR": func(v Value) bool {
			x, ok := v.(*Vector)
			return ok && x.dimensions == nil && x.kind == nil && isSimple(x)
		},
		"SIMPLE-BIT-VECTOR": func(v Value) bool { x, ok := v.(*Vector); return ok && x.bits() && isSimple(x) },
		"BIT-VECTOR":        func(v Value) bool { x, ok := v.(*Vector); return ok && x.bits() }, "HASH-TABLE": func(v Value) bool { _, ok := v.(*HashTable); return ok },
		"PACKAGE": func(v Value) bool { _, ok := v.(*Package); return ok }, "STREAM": func(v Value) bool { _, ok := v.(*Stream); return ok },
		"STRING-STREAM": streamOf(stringOutput, stringInput), "BROADCAST-STREAM": streamOf(broadcastStream), "CONCATENATED-STREAM": streamOf(concatenatedStream),
		"ECHO-STREAM": streamOf(echoStream), "TWO-WAY-STREAM": streamOf(twoWayStream, terminalStream), "SYNONYM-STREAM": streamOf(synonymStream), "FILE-STREAM": streamOf(fileInput, fileOutput, fileBoth), "PATHNAME": func(v Value) bool { _, ok := v.(*Pathname); return ok },
		"RESTART": func(v Value) bool { _, ok := v.(*restart); return ok }, "RANDOM-STATE": func(v Value) bool { _, ok := v.(*randomState); return ok },
		"READTABLE":        func(v Value) bool { _, ok := v.(*readtable); return ok },
		"CLASS":            func(v Value) bool { _, ok := v.(*Class); return ok },
		"STANDARD-OBJECT":  func(v Value) bool { i, ok := v.(*Instance); return ok && i.class.kind == standardClass },
		"STRUCTURE-OBJECT": func(v Value) bool { i, ok := v.(*Instance); return ok && i.class.kind == structureClass },
	}
	table := map[*Symbol]func(Value) bool{}
	for name, test := range is {
		table[CL(name)] = test
	}
	return table
}

func isVector(v Value) bool {
	switch x := v.(type) {
	case *String:
		return true
	case *Vector:
		return x.dimensions == nil
	}
	return false
}

// expandType expands a type that the note defined.
func (c *Call) expandType(kind Value) (Value, bool) {
	head, args := kind, Value(Nil)
	if cell, ok := kind.(*Cons); ok {
		head, args = cell.Car, cell.Cdr
	}
	if symbol, ok := head.(*Symbol); ok {
		if fn := c.environment.types[symbol]; fn != nil {
			return Single(c.apply(fn, []Value{&Cons{Car: head, Cdr: args}})), true
		}
	}
	return nil, false
}

// typep reports whether v is of a type.
func (c *Call) typep(v, kind Value) bool {
	c.Descend(1)
	defer c.Ascend(1)
	switch x := kind.(type) {
	case *Symbol:
		if test, ok := c.environment.language.types[x]; ok {
			return test(v)
		}
		if class := c.environment.class(x); class != nil {
			return c.classOf(v).isA(class)
		}
	case *Class:
		return c.classOf(v).isA(x)
	case *Cons:
		if head, ok := x.Car.(*Symbol); ok {
			if result, ok := c.compoundType(v, head, c.Slice(x.Cdr)); ok {
				return result
			}
		}
	}
	if expansion, ok := c.expandType(kind); ok {
		return c.typep(v, expansion)
	}
	c.Fail(SimpleError, "unknown type specifier: %s", c.Shown(kind))
	return false
}

func (c *Call) compoundType(v Value, head *Symbol, args []Value) (result, known bool) {
	switch head.name {
	case "AND":
		for _, arg := range args {
			if !c.typep(v, arg) {
				return false, true
			}
		}
		return true, true
	case "OR":
		for _, arg := range args {
			if c.typep(v, arg) {
				return true, true
			}
		}
		return false, true
	case "NOT":
		return !c.typep(v, Optional(args, 0)), true
	case "MEMBER":
		for _, arg := range args {
			if eql(v, arg) {
				return true, true
			}
		}
		return false, true
	case "EQL":
		return eql(v, Optional(args, 0)), true
	case "SATISFIES":
		return isTrue(c.Call1(c.Function(Optional(args, 0)), v)), true
	case "INTEGER", "RATIONAL", "FLOAT", "REAL", "SINGLE-FLOAT", "DOUBLE-FLOAT", "SHORT-FLOAT", "LONG-FLOAT", "NUMBER":
		return c.typep(v, head) && c.inRange(v, args), true
	case "COMPLEX":
		z, ok := v.(*Complex)
		return ok && (len(args) == 0 || args[0] == symStar || c.typep(z.real, args[0]) && c.typep(z.imaginary, args[0])), true
	case "MOD":
		return c.typep(v, CL("UNSIGNED-BYTE")) && c.compare(v, Optional(args, 0)) < 0, true
	case "UNSIGNED-BYTE", "SIGNED-BYTE":
		return c.inBits(v, head, args), true
	case "CONS":
		cell, ok := v.(*Cons)
		return ok && (len(args) < 1 || args[0] == symStar || c.typep(cell.Car, args[0])) && (len(args) < 2 || args[1] == symStar || c.typep(cell.Cdr, args[1])), true
	case "VECTOR", "ARRAY", "SIMPLE-ARRAY", "SIMPLE-VECTOR", "STRING", "SIMPLE-STRING", "BASE-STRING", "SIMPLE-BASE-STRING", "BIT-VECTOR", "SIMPLE-BIT-VECTOR":
		return c.arrayType(v, head, args), true
	case "FUNCTION":
		return c.typep(v, head), true
	case "VALUES":
		return len(args) == 0 || c.typep(v, args[0]), true
	}
	return false, false
}

func (c *Call) inRange(v Value, bounds []Value) bool {
	for i, bound := range bounds {
		if bound == symStar || i > 1 {
			continue
		}
		limit := 0
		if cell, ok := bound.(*Cons); ok { // an exclusive bound
			bound, limit = cell.Car, 1
		}
		order := c.compare(v, bound)
		if i == 1 {
			order = -order
		}
		if order < limit {
			return false
		}
	}
	return true
}

func (c *Call) inBits(v Value, head *Symbol, args []Value) bool {
	if !c.typep(v, head) {
		return false
	}
	if len(args) == 0 || args[0] == symStar {
		return true
	}
	n := c.Integer(v)
	if n.Sign() < 0 {
		n = new(big.Int).Not(n)
	}
	size := c.Index(args[0])
	if head.name == "SIGNED-BYTE" {
		size--
	}
	return n.BitLen() <= size
}

// typeOf is the type that type-of returns.
func (c *Call) typeOf(v Value) Value {
	symbol := CL
	switch x := v.(type) {
	case *Symbol:
		switch {
		case x == Nil:
			return symbol("NULL")
		case x == T:
			return symbol("BOOLEAN")
		case x.Keyword():
			return symbol("KEYWORD")
		}
		return symbol("SYMBOL")
	case *Cons:
		return symbol("CONS")
	case int64:
		switch {
		case x == 0 || x == 1:
			return symbol("BIT")
		case x > 1:
			return NewList(symbol("INTEGER"), Integer(0), Integer(1<<62-1))
		}
		return symbol("FIXNUM")
	case *big.Int:
		if x.Sign() > 0 {
			return NewList(symbol("INTEGER"), Integer(1<<62))
		}
		return symbol("BIGNUM")
	case *big.Rat:
		return symbol("RATIO")
	case float32:
		return symbol("SINGLE-FLOAT")
	case float64:
		return symbol("DOUBLE-FLOAT")
	case *Complex:
		return NewList(symComplex, c.partType(x))
	case Character:
		if x < 128 {
			return symbol("STANDARD-CHAR")
		}
		return symCharacter
	case *String, *Vector:
		return c.arrayTypeOf(x)
	case *Function, *method, *restart:
		if fn, ok := v.(*Function); !ok || fn.generic != nil {
			return c.className(v)
		}
		return symbol("COMPILED-FUNCTION")
	case *Instance:
		return x.class.name
	case *Class:
		return metaclass(x)
	case *HashTable:
		return symbol("HASH-TABLE")
	case *Package:
		return symbol("PACKAGE")
	case *Stream:
		return symbol(streamTypes[x.kind])
	}
	return c.className(v)
}

// typeFunctions ask for types.
func typeFunctions() []Builtin {
	rows := []Builtin{
		{Name: "typep", LambdaList: "(object type &optional environment)", Doc: "True if the object is of the type.", Two: func(c *Call, a, b Value) Value { return Boolean(c.typep(a, b)) },
			Named: func(c *Call, args Args) Value { return Boolean(c.typep(args.Get("object"), args.Get("type"))) }},
		{Name: "type-of", LambdaList: "(object)", Doc: "The type of an object.", One: func(c *Call, a Value) Value { return c.typeOf(a) }},
		{Name: "subtypep", LambdaList: "(a b &optional environment)", Doc: "True if a is known to be a subtype of b.", Many: true, Named: func(c *Call, args Args) Value {
			return c.Values(c.subtype(args.Get("a"), args.Get("b")))
		}},
	}
	for name, kind := range map[string]string{
		"numberp": "NUMBER", "integerp": "INTEGER", "rationalp": "RATIONAL", "floatp": "FLOAT", "realp": "REAL", "complexp": "COMPLEX", "functionp": "FUNCTION",
		"vectorp": "VECTOR", "arrayp": "ARRAY", "simple-vector-p": "SIMPLE-VECTOR", "simple-string-p": "SIMPLE-STRING", "bit-vector-p": "BIT-VECTOR", "simple-bit-vector-p": "SIMPLE-BIT-VECTOR",
		"pathnamep": "PATHNAME", "readtablep": "READTABLE", "random-state-p": "RANDOM-STATE", "compiled-function-p": "COMPILED-FUNCTION",
	} {
		rows = append(rows, predicate(name, "True for an object of the type that the name says.", typePredicates()[CL(kind)]))
	}
	return rows
}

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
