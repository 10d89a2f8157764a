package lisp

import (
	"math"
	"math/big"
	"slices"
)

// subtypep is decided by representatives: objects of every kind that the two types can
// tell apart, found by looking at the numbers, objects and classes they mention. If all
// representatives of the one type are of the other, all objects are. Types that call a
// predicate are beyond this.

// subtype returns the two values of subtypep.
func (c *Call) subtype(a, b Value) (Value, Value) {
	c.Descend(16)
	defer c.Ascend(16)
	s := &samples{call: c}
	a, b = s.expand(a), s.expand(b)
	if b == T || a == Nil || c.equal(a, b) {
		return T, T
	}
	if s.unknown {
		return Nil, Nil
	}
	if s.predicate {
		return c.subtypeOfParts(a, b)
	}
	if x, y := c.classNamed(a), c.classNamed(b); x != nil && y != nil {
		return Boolean(x.isA(y)), T
	}
	s.collect(a)
	s.collect(b)
	for _, v := range s.objects() {
		if c.typep(v, a) && !c.typep(v, b) {
			return Nil, T
		}
	}
	return T, T
}

// subtypeOfParts decides what needs no look into predicates: an intersection is part of
// what one of its parts is part of.
func (c *Call) subtypeOfParts(a, b Value) (Value, Value) {
	if cell, ok := a.(*Cons); ok && cell.Car == symAnd {
		for _, part := range c.Slice(cell.Cdr) {
			if yes, _ := c.subtype(part, b); yes == T {
				return T, T
			}
		}
	}
	return Nil, Nil
}

var symAnd = CL("AND")

// classNamed is the class that a type is, nil if it is none.
func (c *Call) classNamed(kind Value) *Class {
	switch x := kind.(type) {
	case *Symbol:
		return c.environment.class(x)
	case *Class:
		return x
	}
	return nil
}

// samples collects what two types mention.
type samples struct {
	call      *Call
	ends      []*big.Rat
	mentioned []Value
	classes   []*Class
	// cars and cdrs are the types of the parts of conses, sizes the lengths of vectors.
	cars, cdrs []Value
	shapes     [][]int
	elements   []*elementType
	predicate  bool
	unknown    bool
}

// expand replaces the note's own types by what they stand for.
func (s *samples) expand(kind Value) Value {
	c := s.call
	c.Descend(8)
	defer c.Ascend(8)
	if expansion, ok := c.expandType(kind); ok {
		return s.expand(expansion)
	}
	switch x := kind.(type) {
	case *Symbol:
		s.unknown = s.unknown || c.environment.language.types[x] == nil && c.environment.class(x) == nil
	case *Cons:
		switch x.Car {
		case symSatisfies:
			s.predicate = true
		case symAnd, symOr, symNot, symConsType:
			parts := c.Slice(x.Cdr)
			for i := range parts {
				if parts[i] != symStar {
					parts[i] = s.expand(parts[i])
				}
			}
			return &Cons{Car: x.Car, Cdr: c.NewList(parts)}
		}
	}
	return kind
}

var symConsType = CL("CONS")

// collect notes what a type mentions.
func (s *samples) collect(kind Value) {
	c := s.call
	c.Descend(8)
	defer c.Ascend(8)
	if class := c.classNamed(kind); class != nil && class.kind != builtinClass {
		s.classes = append(s.classes, class)
	}
	cell, ok := kind.(*Cons)
	if !ok {
		return
	}
	head, ok := cell.Car.(*Symbol)
	if !ok {
		return
	}
	args := c.Slice(cell.Cdr)
	switch head.name {
	case "AND", "OR", "NOT":
		for _, arg := range args {
			s.collect(arg)
		}
	case "CONS":
		for i, arg := range args {
			if arg == symStar {
				continue
			}
			if i == 0 {
				s.cars = append(s.cars, arg)
			} else {
				s.cdrs = append(s.cdrs, arg)
			}
		}
	case "MEMBER", "EQL":
		for _, arg := range args {
			s.mentioned = append(s.mentioned, arg)
			s.end(arg)
		}
	case "UNSIGNED-BYTE", "SIGNED-BYTE", "MOD":
		s.width(head.name, args)
	case "VECTOR", "SIMPLE-VECTOR", "STRING", "SIMPLE-STRING", "ARRAY", "SIMPLE-ARRAY", "BIT-VECTOR", "SIMPLE-BIT-VECTOR":
		s.arrayType(head.name, args)
	default:
		for _, arg := range args {
			if open, ok := arg.(*Cons); ok {
				arg = open.Car
			}
			s.end(arg)
		}
	}
}

// end notes a number where an interval ends.
func (s *samples) end(v Value) {
	switch x := v.(type) {
	case int64:
		s.ends = append(s.ends, new(big.Rat).SetInt64(x))
	case *big.Int:
		s.ends = append(s.ends, new(big.Rat).SetInt(x))
	case *big.Rat:
		s.ends = append(s.ends, x)
	case float32, float64:
		if r := new(big.Rat); r.SetFloat64(s.call.double(x)) != nil {
			s.ends = append(s.ends, r)
		}
	}
}

func (s *samples) width(name string, args []Value) {
	if len(args) == 0 || args[0] == symStar {
		return
	}
	if name == "MOD" {
		s.end(args[0])
		return
	}
	n := s.call.Index(args[0])
	if n > 4096 {
		s.unknown = true
		return
	}
	if name == "SIGNED-BYTE" {
		n--
	}
	limit := new(big.Int).Lsh(big.NewInt(1), uint(max(n, 0)))
	s.end(limit)
	s.end(new(big.Int).Neg(limit))
}

const (
	// representativesBytes is what the representatives of any two types take.
	representativesBytes = 6 << 10
	// endBytes is what the numbers around the end of an interval take, beside their digits.
	endBytes = 4 << 10
)

// objects are the representatives.
func (s *samples) objects() []Value {
	c := s.call
	c.Charge(representativesBytes)
	all := append([]Value{
		Nil, T, c.gensymNamed("OTHER"), Keyword("KEY"), Character('a'), Character('é'), Character(7), NewString("abc"), NewString(""), &String{chars: make([]rune, 1, 5), capacity: 5},
		&HashTable{}, &Function{name: "OTHER"}, &Function{name: "OTHER", generic: &generic{}}, c.environment.user, &Stream{}, c.environment.language.classes[T], &method{}, &restart{name: Nil},
	}, s.mentioned...)
	numbers := s.numbers()
	all = append(append(all, numbers...), s.complexNumbers(numbers)...)
	all = append(all, s.instances()...)
	all = append(all, s.arrays()...)
	return append(all, s.conses()...)
}

func (c *Call) gensymNamed(name string) *Symbol { return &Symbol{name: name} }

// numbers are numbers at, beside and between the ends of intervals.
func (s *samples) numbers() []Value {
	limit := new(big.Int).Lsh(big.NewInt(1), 62)
	for _, v := range []Value{Integer(0), Integer(1), Integer(2), limit, new(big.Int).Neg(limit)} {
		s.end(v)
	}
	compare := func(a, b *big.Rat) int {
		s.call.chargeExact(a, b, sumCost)
		return a.Cmp(b)
	}
	slices.SortFunc(s.ends, compare)
	s.ends = slices.CompactFunc(s.ends, func(a, b *big.Rat) bool { return compare(a, b) == 0 })
	s.call.ChargeMany(len(s.ends), endBytes)
	var all []Value
	add := func(r *big.Rat) {
		all = append(all, normalRatio(r))
		f, _ := r.Float64()
		if !math.IsInf(f, 0) {
			all = append(all, f)
		}
		if single := float32(f); !math.IsInf(float64(single), 0) {
			all = append(all, single)
		}
	}
	around := func(r *big.Rat) {
		whole := new(big.Int).Div(r.Num(), r.Denom())
		for d := int64(-1); d <= 2; d++ {
			add(new(big.Rat).SetInt(new(big.Int).Add(whole, big.NewInt(d))))
		}
		f, _ := r.Float64()
		all = append(all, math.Nextafter(f, math.Inf(1)), math.Nextafter(f, math.Inf(-1)))
		single := float32(f)
		all = append(all, math.Nextafter32(single, float32(math.Inf(1))), math.Nextafter32(single, float32(math.Inf(-1))))
	}
	for i, end := range s.ends {
		for range 16 { // about as many operations on numbers of this length
			s.call.chargeExact(end, end, sumCost)
		}
		add(end)
		around(end)
		for _, part := range []int64{3, 1000003} {
			gap := big.NewRat(1, 1)
			if i+1 < len(s.ends) {
				gap.Sub(s.ends[i+1], end)
			}
			add(new(big.Rat).Add(end, gap.Mul(gap, big.NewRat(1, part))))
		}
	}
	first, last := s.ends[0], s.ends[len(s.ends)-1]
	add(new(big.Rat).Sub(first, big.NewRat(100, 3)))
	add(new(big.Rat).Add(last, big.NewRat(100, 3)))
	return slices.DeleteFunc(all, func(v Value) bool {
		f, ok := v.(float64)
		g, single := v.(float32)
		return ok && math.IsInf(f, 0) || single && math.IsInf(float64(g), 0)
	})
}

// complexNumbers are those with the parts of some of the numbers.
func (s *samples) complexNumbers(numbers []Value) []Value {
	var all []Value
	for _, v := range numbers {
		if sign(v) != 0 {
			all = Append(s.call, all, Value(Allocate(s.call, Complex{real: v, imaginary: v})))
		}
	}
	return all
}

// instances are objects of the classes mentioned and of all their subclasses.
func (s *samples) instances() []Value {
	c := s.call
	var all []Value
	for _, table := range []map[*Symbol]*Class{c.environment.classes, c.environment.language.classes} {
		for _, class := range table {
			c.Step()
			if class.kind == builtinClass {
				continue
			}
			all = Append(c, all, Value(Allocate(c, Instance{class: class})))
		}
	}
	for _, class := range s.classes {
		all = append(all, &Instance{class: class})
	}
	return all
}

// conses are pairs of representatives of the types of their parts.
func (s *samples) conses() []Value {
	c := s.call
	part := func(kinds []Value) []Value {
		if len(kinds) == 0 {
			return []Value{Nil, Integer(1), Character('a')}
		}
		inner := &samples{call: c}
		for _, kind := range kinds {
			inner.collect(kind)
		}
		return inner.objects()
	}
	c.Descend(64)
	defer c.Ascend(64)
	cars, cdrs := part(s.cars), part(s.cdrs)
	var all []Value
	for _, car := range cars {
		for _, cdr := range cdrs {
			all = Append(c, all, Value(c.Cons(car, cdr)))
		}
	}
	return all
}

// arrayType notes the elements and the dimensions that an array type asks for.
func (s *samples) arrayType(name string, args []Value) {
	switch name {
	case "VECTOR", "ARRAY", "SIMPLE-ARRAY":
		if len(args) == 0 {
			return
		}
		s.elements = append(s.elements, s.call.elementType(args[0]))
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	switch x := args[0].(type) {
	case int64:
		if x >= 0 && x <= 64 {
			s.shapes = append(s.shapes, []int{int(x)}, make([]int, min(x, 8)))
		}
	case *Symbol:
		if x == Nil {
			s.shapes = append(s.shapes, []int{})
		}
	case *Cons:
		dimensions := []int{}
		for _, d := range s.call.Slice(x) {
			n, ok := d.(int64)
			if !ok || n < 0 || n > 8 {
				n = 3
			}
			dimensions = append(dimensions, int(n))
		}
		if len(dimensions) <= 4 {
			s.shapes = append(s.shapes, dimensions)
		}
	}
}

// arrays are those of all shapes and elements mentioned, and of others.
func (s *samples) arrays() []Value {
	shapes := append([][]int{{5}, {5, 5}, {}}, s.shapes...)
	elements := []*elementType{generalElements, bitElements, characterElements}
	for _, e := range s.elements {
		if !slices.Contains(elements, e) {
			elements = append(elements, e)
		}
	}
	var all []Value
	for _, e := range elements {
		kind := e
		if e == generalElements {
			kind = nil
		}
		for _, shape := range shapes {
			size := 1
			for _, n := range shape {
				size *= n
			}
			if len(shape) == 1 && e == characterElements {
				all = Append(s.call, all, Value(s.call.StringOf(MakeSlice[rune](s.call, size))))
				continue
			}
			v := s.call.vectorOfKind(kind, MakeSlice[Value](s.call, size))
			if len(shape) != 1 {
				v.dimensions = shape
			}
			all = Append(s.call, all, Value(v))
		}
		if e != characterElements { // one that is not simple
			all = append(all, &Vector{elements: make([]Value, 1, 4), kind: kind, capacity: 4})
		}
	}
	return all
}
