package lisp

import (
	"math/big"
	"slices"
)

// binaryElements are the elements of a file of integers: each takes whole bytes, the
// first of them the lowest.
type binaryElements struct {
	bits   int
	signed bool
	data   []byte
}

// maximumElementBits bounds the integers of a binary file.
const maximumElementBits = 4096

func (b *binaryElements) width() int { return b.bits / 8 }

// name is the type of the elements.
func (b *binaryElements) name() Value {
	if b.signed {
		return NewList(standardSymbol("SIGNED-BYTE"), count(b.bits))
	}
	return NewList(standardSymbol("UNSIGNED-BYTE"), count(b.bits))
}

// binaryElements are those of an :element-type; nil for characters.
func (c *Call) binaryElements(kind Value) *binaryElements {
	if kind == nil || kind == kwDefault {
		return nil
	}
	if expansion, ok := c.expandType(kind); ok {
		kind = expansion
	}
	name, args := kind, []Value(nil)
	if cell, ok := kind.(*Cons); ok {
		name, args = cell.Car, c.slice(cell.Cdr)
	}
	head, _ := name.(*Symbol)
	bits, signed := 8, false
	switch {
	case head == standardSymbol("UNSIGNED-BYTE"), head == standardSymbol("SIGNED-BYTE"):
		signed = head == standardSymbol("SIGNED-BYTE")
		if size := optional(args, 0); size != nil && size != symStar {
			bits = c.index(size)
		}
	case head == standardSymbol("INTEGER") && len(args) == 2 && args[0] != symStar && args[1] != symStar:
		low, high := c.integer(args[0]), c.integer(args[1])
		bits, signed = max(low.BitLen(), high.BitLen()), low.Sign() < 0
		if signed {
			bits++
		}
	case head == standardSymbol("INTEGER"):
		bits, signed = 64, true
	case head == standardSymbol("BIT"):
	case head == standardSymbol("MOD"):
		bits = c.integer(optional(args, 0)).BitLen()
	default:
		if yes, _ := c.subtype(kind, symCharacter); yes != T {
			c.fail(simpleError, "a file has characters or integers of a bounded size, not elements of type %s", c.shown(kind))
		}
		return nil
	}
	if bits > maximumElementBits {
		c.fail(simpleError, "a file's integers have at most %d bits", maximumElementBits)
	}
	return &binaryElements{bits: max(bits+7, 8) / 8 * 8, signed: signed}
}

// at is the element at a position.
func (b *binaryElements) at(i int) Value {
	bytes := slices.Clone(b.data[i*b.width() : (i+1)*b.width()])
	slices.Reverse(bytes)
	n := new(big.Int).SetBytes(bytes)
	if b.signed && n.Bit(b.bits-1) == 1 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(b.bits)))
	}
	return normal(n)
}

// bytes are those of an element, nil if it is out of range.
func (b *binaryElements) bytes(n *big.Int) []byte {
	limit := new(big.Int).Lsh(big.NewInt(1), uint(b.bits))
	half := new(big.Int).Rsh(limit, 1)
	if b.signed && (n.Cmp(half) >= 0 || n.Cmp(half.Neg(half)) < 0) || !b.signed && (n.Sign() < 0 || n.Cmp(limit) >= 0) {
		return nil
	}
	bytes := new(big.Int).Mod(n, limit).FillBytes(make([]byte, b.width()))
	slices.Reverse(bytes)
	return bytes
}

// byteFunctions read and write the elements of binary files.
func byteStreamFunctions() []builtin {
	return []builtin{
		{name: "read-byte", list: "(stream &optional eof-error-p eof-value)", doc: "Read an integer from a binary file.", named: func(c *Call, args Args) Value {
			s := c.inputStream(c.streamArgument(args.Get("stream")))
			if v, ok := c.readByte(s); ok {
				return v
			}
			return c.ended(s, endArguments(args))
		}},
		{name: "write-byte", list: "(integer stream)", doc: "Write an integer to a binary file.", two: func(c *Call, a, b Value) Value {
			c.writeByte(c.streamArgument(b), a)
			return a
		}},
	}
}

// readByte reads an element of a binary file; ok is false at the end.
func (c *Call) readByte(s *Stream) (v Value, ok bool) {
	from, echo := c.source(s)
	if from == nil {
		if s.binary == nil && (s.kind == stringInput || s.file != nil) {
			c.typeError(s, "(SATISFIES BINARY-STREAM-P)")
		}
		return nil, false
	}
	if from.binary == nil {
		c.typeError(s, "(SATISFIES BINARY-STREAM-P)")
	}
	c.charge(from.binary.width() + valueBytes)
	v = from.binary.at(from.pos)
	from.pos++
	if echo != nil {
		c.writeByte(echo, v)
	}
	return v, true
}

// writeByte writes an element to all binary files that a stream writes to.
func (c *Call) writeByte(s *Stream, v Value) {
	s = c.resolve(s)
	c.descend(4)
	defer c.ascend(4)
	c.step()
	switch s.kind {
	case broadcastStream:
		for _, part := range s.parts {
			c.writeByte(part, v)
		}
		return
	case echoStream, twoWayStream:
		c.writeByte(s.parts[1], v)
		return
	}
	if s.binary == nil || s.file.store == nil {
		c.typeError(s, "(SATISFIES BINARY-STREAM-P)")
	}
	if s.closed {
		c.streamError(s, "the stream is closed")
	}
	bytes := s.binary.bytes(c.integer(v))
	if bytes == nil {
		c.typeError(v, sketch(s.binary.name(), formLength))
	}
	c.chargeOutput(len(bytes))
	c.charge(len(bytes))
	c.writeFile(s, 1, func() {
		n := copy(s.binary.data[s.pos*len(bytes):], bytes)
		s.binary.data = append(s.binary.data, bytes[n:]...)
	})
}
