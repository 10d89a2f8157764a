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
		return NewList(CL("SIGNED-BYTE"), Count(b.bits))
	}
	return NewList(CL("UNSIGNED-BYTE"), Count(b.bits))
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
		name, args = cell.Car, c.Slice(cell.Cdr)
	}
	head, _ := name.(*Symbol)
	bits, signed := 8, false
	switch {
	case head == CL("UNSIGNED-BYTE"), head == CL("SIGNED-BYTE"):
		signed = head == CL("SIGNED-BYTE")
		if size := Optional(args, 0); size != nil && size != symStar {
			bits = c.Index(size)
		}
	case head == CL("INTEGER") && len(args) == 2 && args[0] != symStar && args[1] != symStar:
		low, high := c.Integer(args[0]), c.Integer(args[1])
		bits, signed = max(low.BitLen(), high.BitLen()), low.Sign() < 0
		if signed {
			bits++
		}
	case head == CL("INTEGER"):
		bits, signed = 64, true
	case head == CL("BIT"):
	case head == CL("MOD"):
		bits = c.Integer(Optional(args, 0)).BitLen()
	default:
		if yes, _ := c.subtype(kind, symCharacter); yes != T {
			c.Fail(SimpleError, "a file has characters or integers of a bounded size, not elements of type %s", c.Shown(kind))
		}
		return nil
	}
	if bits > maximumElementBits {
		c.Fail(SimpleError, "a file's integers have at most %d bits", maximumElementBits)
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
func byteStreamFunctions() []Builtin {
	return []Builtin{
		{Name: "read-byte", LambdaList: "(stream &optional eof-error-p eof-value)", Doc: "Read an integer from a binary file.", Named: func(c *Call, args Args) Value {
			s := c.InputStream(c.streamArgument(args.Get("stream")))
			if v, ok := c.readByte(s); ok {
				return v
			}
			return c.ended(s, endArguments(args))
		}},
		{Name: "write-byte", LambdaList: "(integer stream)", Doc: "Write an integer to a binary file.", Two: func(c *Call, a, b Value) Value {
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
			c.TypeError(s, "(SATISFIES BINARY-STREAM-P)")
		}
		return nil, false
	}
	if from.binary == nil {
		c.TypeError(s, "(SATISFIES BINARY-STREAM-P)")
	}
	c.Charge(from.binary.width() + ValueBytes)
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
	c.Descend(4)
	defer c.Ascend(4)
	c.Step()
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
		c.TypeError(s, "(SATISFIES BINARY-STREAM-P)")
	}
	if s.closed {
		c.streamError(s, "the stream is closed")
	}
	bytes := s.binary.bytes(c.Integer(v))
	if bytes == nil {
		c.TypeError(v, Sketch(s.binary.name(), formLength))
	}
	c.ChargeOutput(len(bytes))
	c.Charge(len(bytes))
	c.writeFile(s, 1, func() {
		n := copy(s.binary.data[s.pos*len(bytes):], bytes)
		s.binary.data = append(s.binary.data, bytes[n:]...)
	})
}
