package lisp

import (
	"math/big"
)

// hashTest is what makes two keys the same.
type hashTest int

const (
	eqTest hashTest = iota
	eqlTest
	equalTest
	equalpTest
)

func (t hashTest) name() string { return [...]string{"EQ", "EQL", "EQUAL", "EQUALP"}[t] }

// HashTable keeps its entries in the order they were made, as SBCL does.
type HashTable struct {
	test hashTest
	// index finds candidates by a key's digest; entries with the same digest chain.
	index   map[any]int
	entries []entry
	live    int
	// size is how many entries the table was asked to have room for.
	size int
}

type entry struct {
	key, value Value
	next       int // chain of the same digest, -1 at its end
	dead       bool
}

func (c *Call) newHashTable(test hashTest) *HashTable {
	c.Charge(emptyIndexBytes)
	return Allocate(c, HashTable{test: test, index: map[any]int{}})
}

const (
	// emptyIndexBytes is what the index of a table takes before it grows.
	emptyIndexBytes = 160
	// indexBytes is what a key takes in the index of a table, which grows by copying.
	indexBytes = 80
)

func (h *HashTable) count() int { return h.live }

// digest is a comparable value that is the same for keys that are the same.
func (h *HashTable) digest(c *Call, key Value) any {
	if h.test == equalpTest && kindOf(key) != notNumber {
		return c.digestNumber(key)
	}
	switch x := key.(type) {
	case *big.Int, *big.Rat:
		return c.digestLong(x)
	case *Complex:
		hash := fnvStart
		hash.mixDigest(h.digest(c, x.real))
		hash.mixDigest(h.digest(c, x.imaginary))
		return hash
	case float32:
		return float32Bits(x)
	case float64:
		return float64Bits(x)
	}
	if h.test < equalTest {
		return key
	}
	switch x := key.(type) {
	case *Pathname:
		return "p" + c.Namestring(x)
	case *String:
		if h.test == equalpTest {
			return c.digestArray(h, x)
		}
		return c.GoText(x.chars)
	case *Cons:
		return c.digestTree(h, x, 64)
	case Character:
		if h.test == equalpTest {
			return Character(Lower(rune(x)))
		}
	case *Vector:
		if h.test == equalpTest || x.bits() {
			return c.digestArray(h, x)
		}
	case *Instance, *HashTable:
		if h.test == equalpTest {
			return "an aggregate"
		}
	}
	return key
}

// digestLong is the digest of an integer that is not small, or of a ratio.
func (c *Call) digestLong(v Value) any {
	c.chargeExact(v, v, conversionCost)
	if r, ok := v.(*big.Rat); ok {
		return "r" + string(r.Num().Bytes()) + "/" + string(r.Denom().Bytes())
	}
	return "i" + string(v.(*big.Int).Bytes())
}

// fnv mixes what a digest is made of.
type fnv uint64

const (
	fnvStart fnv = 14695981039346656037
	// mixedBytes are the bytes of each leaf that count.
	mixedBytes = 64
)

const fnvPrime = 1099511628211

func (f *fnv) mix(s string) {
	for i := 0; i < len(s) && i < mixedBytes; i++ {
		*f = (*f ^ fnv(s[i])) * fnvPrime
	}
}

// digestArray mixes the elements, so that a string and a vector of the same characters
// have the same digest.
func (c *Call) digestArray(h *HashTable, v Value) any {
	hash := fnvStart
	if s, ok := v.(*String); ok {
		for _, r := range s.chars {
			hash = (hash ^ fnv(Lower(r))) * fnvPrime
		}
		return hash
	}
	for _, element := range v.(*Vector).elements {
		c.Step()
		if ch, ok := element.(Character); ok {
			hash = (hash ^ fnv(Lower(rune(ch)))) * fnvPrime
			continue
		}
		hash.mixLeaf(h, c, element)
	}
	return hash
}

// digestNumber is the same for numbers of any type that are equal.
func (c *Call) digestNumber(v Value) any {
	if n, ok := v.(int64); ok {
		return n
	}
	if r := c.rational(v); r != nil {
		n := normalRatio(r)
		if small, ok := n.(int64); ok {
			return small
		}
		return c.digestLong(n)
	}
	return "not finite"
}

// digestTree mixes at most budget leaves, which is enough to tell most lists apart.
func (c *Call) digestTree(h *HashTable, v Value, budget int) any {
	hash := fnvStart
	var walk func(v Value)
	walk = func(v Value) {
		for budget > 0 {
			budget--
			c.Step()
			cell, ok := v.(*Cons)
			if !ok {
				hash.mixLeaf(h, c, v)
				return
			}
			hash.mix("(")
			walk(cell.Car)
			v = cell.Cdr
		}
	}
	walk(v)
	return hash
}

// mixLeaf mixes what is no list. Objects whose parts can change are all alike.
func (f *fnv) mixLeaf(h *HashTable, c *Call, v Value) {
	switch x := v.(type) {
	case *Symbol:
		f.mix("s")
		f.mix(x.name)
	case *String:
		if h.test != equalpTest {
			f.mix("t")
			f.mix(c.GoText(x.chars[:min(len(x.chars), mixedBytes)]))
		}
	case Character, int64, float32, float64, *big.Int, *big.Rat, *Complex:
		f.mixDigest(h.digest(c, x))
	default:
		f.mix("o")
	}
}

// mixDigest mixes the digest of a character or a number.
func (f *fnv) mixDigest(d any) {
	switch x := d.(type) {
	case string:
		f.mix("t")
		f.mix(x)
	case int64:
		*f = (*f ^ fnv(x)) * fnvPrime
	case uint32:
		*f = (*f ^ fnv(x)) * fnvPrime
	case uint64:
		*f = (*f ^ fnv(x)) * fnvPrime
	case Character:
		*f = (*f ^ fnv(x)) * fnvPrime
	}
}

func (h *HashTable) same(c *Call, a, b Value) bool {
	switch h.test {
	case equalTest:
		return c.equal(a, b)
	case equalpTest:
		return c.equalp(a, b)
	}
	return eql(a, b)
}

// find returns the index of an entry, -1 if there is none.
func (h *HashTable) find(c *Call, key Value, digest any) int {
	c.Step()
	i, ok := h.index[digest]
	if !ok {
		return -1
	}
	for ; i >= 0; i = h.entries[i].next {
		c.Step()
		if e := &h.entries[i]; !e.dead && h.same(c, key, e.key) {
			return i
		}
	}
	return -1
}

func (h *HashTable) get(c *Call, key Value) (Value, bool) {
	if i := h.find(c, key, h.digest(c, key)); i >= 0 {
		return h.entries[i].value, true
	}
	return nil, false
}

func (h *HashTable) put(c *Call, key, value Value) {
	digest := h.digest(c, key)
	if i := h.find(c, key, digest); i >= 0 {
		h.entries[i].value = value
		return
	}
	c.Charge(indexBytes)
	next, ok := h.index[digest]
	if !ok {
		next = -1
	}
	h.index[digest] = len(h.entries)
	h.entries = Append(c, h.entries, entry{key: key, value: value, next: next})
	h.live++
}

func (h *HashTable) remove(c *Call, key Value) bool {
	i := h.find(c, key, h.digest(c, key))
	if i < 0 {
		return false
	}
	h.entries[i].dead, h.entries[i].key, h.entries[i].value = true, Nil, Nil
	h.live--
	if len(h.entries) > 32 && h.live < len(h.entries)/4 {
		h.compact(c)
	}
	return true
}

// compact drops dead entries. A walk that is under way goes by a copy of its own.
func (h *HashTable) compact(c *Call) {
	old := h.entries
	c.Work(len(old))
	h.entries, h.index, h.live = nil, map[any]int{}, 0
	for _, e := range old {
		if !e.dead {
			h.put(c, e.key, e.value)
		}
	}
}

// pairs is a copy of the live entries.
func (h *HashTable) pairs(c *Call) []entry {
	pairs := MakeSlice[entry](c, h.live)[:0]
	for _, e := range h.entries {
		if !e.dead {
			pairs = append(pairs, e)
		}
	}
	return pairs
}

var hashTests = map[string]hashTest{"EQ": eqTest, "EQL": eqlTest, "EQUAL": equalTest, "EQUALP": equalpTest}

// hashFunctions make and use hash tables.
func hashFunctions() []Builtin {
	return []Builtin{
		{Name: "make-hash-table", LambdaList: "(&key test size rehash-size rehash-threshold weakness synchronized)", Doc: "A new hash table.", Named: func(c *Call, args Args) Value {
			testArg, sizeArg := args.Get("test"), args.Get("size")
			test, size := eqlTest, 14
			if testArg != nil {
				var ok bool
				if test, ok = hashTests[c.Function(testArg).name]; !ok {
					c.Fail(SimpleError, "unknown hash table test: %s", c.Shown(testArg))
				}
			}
			if sizeArg != nil {
				size = max(size, c.Index(sizeArg))
			}
			h := c.newHashTable(test)
			h.size = size
			return h
		}},
		{Name: "gethash", LambdaList: "(key table &optional default)", Doc: "The value of a key, and whether there is one.", Many: true, Named: func(c *Call, args Args) Value {
			defaultArg := args.Get("default")
			if v, ok := c.HashTable(args.Get("table")).get(c, args.Get("key")); ok {
				return c.Values(v, T)
			}
			if defaultArg != nil {
				return c.Values(defaultArg, Nil)
			}
			return c.Values(Nil, Nil)
		}},
		{Name: "remhash", LambdaList: "(key table)", Doc: "Remove a key; true if it was there.", Two: func(c *Call, a, b Value) Value { return Boolean(c.HashTable(b).remove(c, a)) }},
		{Name: "clrhash", LambdaList: "(table)", Doc: "Remove all keys.", One: func(c *Call, a Value) Value {
			h := c.HashTable(a)
			h.entries, h.index, h.live = nil, map[any]int{}, 0
			return h
		}},
		{Name: "maphash", LambdaList: "(function table)", Doc: "Call a function with each key and value.", Two: func(c *Call, a, b Value) Value {
			fn := c.Function(a)
			for _, e := range c.HashTable(b).pairs(c) {
				c.Call2(fn, e.key, e.value)
			}
			return Nil
		}},
		{Name: "hash-table-count", LambdaList: "(table)", Doc: "The number of keys.", One: func(c *Call, a Value) Value { return Count(c.HashTable(a).live) }},
		{Name: "hash-table-size", LambdaList: "(table)", Doc: "The number of keys there is room for.", One: func(c *Call, a Value) Value {
			h := c.HashTable(a)
			return Count(max(h.size, h.live))
		}},
		{Name: "hash-table-rehash-size", LambdaList: "(table)", Doc: "The factor by which the table grows.", One: func(c *Call, a Value) Value {
			c.HashTable(a)
			return float32(1.5)
		}},
		{Name: "hash-table-rehash-threshold", LambdaList: "(table)", Doc: "How full the table gets before it grows.", One: func(c *Call, a Value) Value {
			c.HashTable(a)
			return float32(1)
		}},
		{Name: "hash-table-test", LambdaList: "(table)", Doc: "The name of the test.", One: func(c *Call, a Value) Value { return CL(c.HashTable(a).test.name()) }},
		{Name: "hash-table-p", LambdaList: "(object)", Doc: "True for a hash table.", One: func(_ *Call, a Value) Value { _, ok := a.(*HashTable); return Boolean(ok) }},
		{Name: "sxhash", LambdaList: "(object)", Doc: "A hash code that is the same for EQUAL objects.", One: func(c *Call, a Value) Value {
			h := c.newHashTable(equalTest)
			if v, ok := a.(*Vector); ok && v.bits() {
				return Integer(int64(c.digestArray(h, v).(fnv) >> 2))
			}
			return Integer(int64(c.digestTree(h, a, 64).(fnv) >> 2))
		}},
	}
}

// equalityFunctions compare objects.
func equalityFunctions() []Builtin {
	return []Builtin{
		{Name: "eq", LambdaList: "(a b)", Doc: "True for the same object; small integers and characters are.", Two: func(_ *Call, a, b Value) Value { return Boolean(eql(a, b)) }},
		{Name: "eql", LambdaList: "(a b)", Doc: "True for the same object or the same number of the same type.", Two: func(_ *Call, a, b Value) Value { return Boolean(eql(a, b)) }},
		{Name: "equal", LambdaList: "(a b)", Doc: "True for objects of the same structure.", Two: func(c *Call, a, b Value) Value { return Boolean(c.equal(a, b)) }},
		{Name: "equalp", LambdaList: "(a b)", Doc: "Like equal, but numbers by value, without case, and arrays and tables by content.", Two: func(c *Call, a, b Value) Value { return Boolean(c.equalp(a, b)) }},
	}
}

func (c *Call) equal(a, b Value) bool {
	c.Descend(1)
	defer c.Ascend(1)
	for {
		c.Step()
		switch x := a.(type) {
		case *Cons:
			y, ok := b.(*Cons)
			if !ok {
				return false
			}
			if x == y {
				return true
			}
			if !c.equal(x.Car, y.Car) {
				return false
			}
			a, b = x.Cdr, y.Cdr
			continue
		case *String:
			y, ok := b.(*String)
			return ok && c.SameRunes(x.chars, y.chars)
		case *Pathname:
			y, ok := b.(*Pathname)
			return ok && c.equalPathnames(x, y)
		case *Vector:
			y, ok := b.(*Vector)
			return x == y && ok || ok && x.bits() && y.bits() && c.equalp(x, y)
		}
		return eql(a, b)
	}
}

// SameRunes compares characters.
func (c *Call) SameRunes(a, b []rune) bool {
	if len(a) != len(b) {
		return false
	}
	c.Work(len(a) / 4)
	for i, r := range a {
		if b[i] != r {
			return false
		}
	}
	return true
}

func (c *Call) equalp(a, b Value) bool {
	c.Step()
	if kindOf(a) != notNumber && kindOf(b) != notNumber {
		return c.sameValue(a, b)
	}
	c.Descend(2)
	defer c.Ascend(2)
	switch x := a.(type) {
	case *Pathname:
		y, ok := b.(*Pathname)
		return ok && c.equalPathnames(x, y)
	case Character:
		y, ok := b.(Character)
		return ok && Lower(rune(x)) == Lower(rune(y))
	case *Cons:
		y, ok := b.(*Cons)
		return ok && (x == y || c.equalp(x.Car, y.Car) && c.equalp(x.Cdr, y.Cdr))
	case *String, *Vector:
		if _, ok := b.(*String); !ok {
			if _, ok := b.(*Vector); !ok {
				return false
			}
		}
		return c.equalArrays(a, b)
	case *HashTable:
		y, ok := b.(*HashTable)
		return ok && c.equalTables(x, y)
	case *Instance:
		y, ok := b.(*Instance)
		if !ok || x == y || x.class != y.class || x.class.kind != structureClass {
			return ok && x == y
		}
		return c.equalAll(x.slots, y.slots)
	}
	return eql(a, b)
}

func (c *Call) equalArrays(a, b Value) bool {
	x, y := c.dimensions(a), c.dimensions(b)
	if len(x) != len(y) {
		return false
	}
	if len(x) == 1 {
		return c.equalAll(c.Elements(a), c.Elements(b))
	}
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return c.equalAll(a.(*Vector).elements, b.(*Vector).elements)
}

func (c *Call) equalAll(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] == nil || b[i] == nil {
			if a[i] != b[i] {
				return false
			}
			continue
		}
		if !c.equalp(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (c *Call) equalTables(x, y *HashTable) bool {
	if x.test != y.test || x.live != y.live {
		return false
	}
	for _, e := range x.pairs(c) {
		v, ok := y.get(c, e.key)
		if !ok || !c.equalp(e.value, v) {
			return false
		}
	}
	return true
}
