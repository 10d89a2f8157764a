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

func newHashTable(test hashTest) *HashTable { return &HashTable{test: test, index: map[any]int{}} }

func (h *HashTable) count() int { return h.live }

// digest is a comparable value that is the same for keys that are the same.
func (h *HashTable) digest(c *Call, key Value) any {
	if h.test == equalpTest && kindOf(key) != notNumber {
		return c.digestNumber(key)
	}
	switch x := key.(type) {
	case *big.Int:
		c.chargeMany(x.BitLen()/4, 1)
		return "i" + string(x.Bytes())
	case *big.Rat:
		c.chargeMany(x.Num().BitLen()/4+x.Denom().BitLen()/4, 1)
		return "r" + string(x.Num().Bytes()) + "/" + string(x.Denom().Bytes())
	case *Complex:
		return "c" + sketchDigest(h.digest(c, x.real)) + sketchDigest(h.digest(c, x.imaginary))
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
		return "p" + x.text()
	case *String:
		c.work(len(x.chars) / 4)
		if h.test == equalpTest {
			return c.digestArray(h, x)
		}
		return string(x.chars)
	case *Cons:
		return c.digestTree(h, x, 64)
	case Character:
		if h.test == equalpTest {
			return Character(lower(rune(x)))
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

// fnv mixes what a digest is made of.
type fnv uint64

const fnvStart fnv = 14695981039346656037

func (f *fnv) mix(s string) {
	for i := 0; i < len(s) && i < 64; i++ {
		*f = (*f ^ fnv(s[i])) * 1099511628211
	}
}

// digestArray mixes the elements, so that a string and a vector of the same characters
// have the same digest.
func (c *Call) digestArray(h *HashTable, v Value) any {
	hash := fnvStart
	if s, ok := v.(*String); ok {
		for _, r := range s.chars {
			hash = (hash ^ fnv(lower(r))) * 1099511628211
		}
		return hash
	}
	for _, element := range v.(*Vector).elements {
		c.step()
		if ch, ok := element.(Character); ok {
			hash = (hash ^ fnv(lower(rune(ch)))) * 1099511628211
			continue
		}
		hash.mix(leafDigest(h, c, element))
	}
	return hash
}

func (c *Call) digestNumber(v Value) any {
	if r := rational(v); r != nil {
		n := normalRatio(r)
		if small, ok := n.(int64); ok {
			return small
		}
		return r.String()
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
			c.step()
			cell, ok := v.(*Cons)
			if !ok {
				hash.mix(leafDigest(h, c, v))
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

func leafDigest(h *HashTable, c *Call, v Value) string {
	switch x := v.(type) {
	case *Symbol:
		return "s" + x.name
	case *String, Character, int64, float32, float64, *big.Int, *big.Rat, *Complex:
		d := h.digest(c, x)
		return sketchDigest(d)
	}
	return "o"
}

func sketchDigest(d any) string {
	switch x := d.(type) {
	case string:
		return "t" + x
	case int64:
		return "n" + string(big.NewInt(x).Append(nil, 36))
	case uint32:
		return "f" + string(rune(x&0xffff)) + string(rune(x>>16))
	case Character:
		return "c" + string(rune(x))
	}
	return "o"
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
	i, ok := h.index[digest]
	if !ok {
		return -1
	}
	for ; i >= 0; i = h.entries[i].next {
		c.step()
		if e := &h.entries[i]; !e.dead && h.same(c, key, e.key) {
			return i
		}
	}
	return -1
}

func (h *HashTable) get(c *Call, key Value) (Value, bool) {
	c.step()
	if i := h.find(c, key, h.digest(c, key)); i >= 0 {
		return h.entries[i].value, true
	}
	return nil, false
}

func (h *HashTable) put(c *Call, key, value Value) {
	digest := h.digest(c, key)
	c.step()
	if i := h.find(c, key, digest); i >= 0 {
		h.entries[i].value = value
		return
	}
	c.charge(entryBytes)
	next, ok := h.index[digest]
	if !ok {
		next = -1
	}
	h.index[digest] = len(h.entries)
	h.entries = append(h.entries, entry{key: key, value: value, next: next})
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
	c.work(len(old))
	h.entries, h.index, h.live = nil, map[any]int{}, 0
	for _, e := range old {
		if !e.dead {
			h.put(c, e.key, e.value)
		}
	}
}

// pairs is a copy of the live entries.
func (h *HashTable) pairs(c *Call) []entry {
	c.chargeMany(h.live, 2*valueBytes)
	pairs := make([]entry, 0, h.live)
	for _, e := range h.entries {
		if !e.dead {
			pairs = append(pairs, e)
		}
	}
	return pairs
}

var hashTests = map[string]hashTest{"EQ": eqTest, "EQL": eqlTest, "EQUAL": equalTest, "EQUALP": equalpTest}

// hashFunctions make and use hash tables.
func hashFunctions() []builtin {
	return []builtin{
		{name: "make-hash-table", list: "(&key test size rehash-size rehash-threshold weakness synchronized)", doc: "A new hash table.", named: func(c *Call, args Args) Value {
			testArg, sizeArg := args.Get("test"), args.Get("size")

			c.charge(2 * closureBytes)
			test, size := eqlTest, 14
			if testArg != nil {
				var ok bool
				if test, ok = hashTests[c.function(testArg).name]; !ok {
					c.fail(simpleError, "unknown hash table test: %s", c.shown(testArg))
				}
			}
			if sizeArg != nil {
				size = max(size, c.index(sizeArg))
			}
			h := newHashTable(test)
			h.size = size
			return h
		}},
		{name: "gethash", list: "(key table &optional default)", doc: "The value of a key, and whether there is one.", many: true, named: func(c *Call, args Args) Value {
			defaultArg := args.Get("default")

			if v, ok := c.hashTable(args.Get("table")).get(c, args.Get("key")); ok {
				return c.values(v, T)
			}
			if defaultArg != nil {
				return c.values(defaultArg, Nil)
			}
			return c.values(Nil, Nil)
		}},
		{name: "remhash", list: "(key table)", doc: "Remove a key; true if it was there.", two: func(c *Call, a, b Value) Value { return Boolean(c.hashTable(b).remove(c, a)) }},
		{name: "clrhash", list: "(table)", doc: "Remove all keys.", one: func(c *Call, a Value) Value {
			h := c.hashTable(a)
			h.entries, h.index, h.live = nil, map[any]int{}, 0
			return h
		}},
		{name: "maphash", list: "(function table)", doc: "Call a function with each key and value.", two: func(c *Call, a, b Value) Value {
			fn := c.function(a)
			for _, e := range c.hashTable(b).pairs(c) {
				c.call2(fn, e.key, e.value)
			}
			return Nil
		}},
		{name: "hash-table-count", list: "(table)", doc: "The number of keys.", one: func(c *Call, a Value) Value { return count(c.hashTable(a).live) }},
		{name: "hash-table-size", list: "(table)", doc: "The number of keys there is room for.", one: func(c *Call, a Value) Value {
			h := c.hashTable(a)
			return count(max(h.size, h.live))
		}},
		{name: "hash-table-rehash-size", list: "(table)", doc: "The factor by which the table grows.", one: func(c *Call, a Value) Value {
			c.hashTable(a)
			return float32(1.5)
		}},
		{name: "hash-table-rehash-threshold", list: "(table)", doc: "How full the table gets before it grows.", one: func(c *Call, a Value) Value {
			c.hashTable(a)
			return float32(1)
		}},
		{name: "hash-table-test", list: "(table)", doc: "The name of the test.", one: func(c *Call, a Value) Value { return standardSymbol(c.hashTable(a).test.name()) }},
		{name: "hash-table-p", list: "(object)", doc: "True for a hash table.", one: func(_ *Call, a Value) Value { _, ok := a.(*HashTable); return Boolean(ok) }},
		{name: "sxhash", list: "(object)", doc: "A hash code that is the same for EQUAL objects.", one: func(c *Call, a Value) Value {
			h := newHashTable(equalTest)
			if v, ok := a.(*Vector); ok && v.bits() {
				return Integer(int64(c.digestArray(h, v).(fnv) >> 2))
			}
			return Integer(int64(c.digestTree(h, a, 64).(fnv) >> 2))
		}},
	}
}

// equalityFunctions compare objects.
func equalityFunctions() []builtin {
	return []builtin{
		{name: "eq", list: "(a b)", doc: "True for the same object; small integers and characters are.", two: func(_ *Call, a, b Value) Value { return Boolean(eql(a, b)) }},
		{name: "eql", list: "(a b)", doc: "True for the same object or the same number of the same type.", two: func(_ *Call, a, b Value) Value { return Boolean(eql(a, b)) }},
		{name: "equal", list: "(a b)", doc: "True for objects of the same structure.", two: func(c *Call, a, b Value) Value { return Boolean(c.equal(a, b)) }},
		{name: "equalp", list: "(a b)", doc: "Like equal, but numbers by value, without case, and arrays and tables by content.", two: func(c *Call, a, b Value) Value { return Boolean(c.equalp(a, b)) }},
	}
}

func (c *Call) equal(a, b Value) bool {
	c.descend(1)
	defer c.ascend(1)
	for {
		c.step()
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
			return ok && sameRunes(c, x.chars, y.chars)
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

func sameRunes(c *Call, a, b []rune) bool {
	if len(a) != len(b) {
		return false
	}
	c.work(len(a) / 4)
	for i, r := range a {
		if b[i] != r {
			return false
		}
	}
	return true
}

func (c *Call) equalp(a, b Value) bool {
	c.step()
	if kindOf(a) != notNumber && kindOf(b) != notNumber {
		return c.sameValue(a, b)
	}
	c.descend(2)
	defer c.ascend(2)
	switch x := a.(type) {
	case *Pathname:
		y, ok := b.(*Pathname)
		return ok && c.equalPathnames(x, y)
	case Character:
		y, ok := b.(Character)
		return ok && lower(rune(x)) == lower(rune(y))
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
		return c.equalAll(c.elements(a), c.elements(b))
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
