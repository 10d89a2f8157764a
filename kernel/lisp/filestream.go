package lisp

import (
	"context"
	"errors"
	"io/fs"
	"math/big"
	"slices"
	"strings"
)

// openFile is what an open file still has to do. Its text is the input of the stream, and
// is stored when the stream is closed, when its output is finished, or at the end of the
// call that wrote it.
type openFile struct {
	path *Pathname
	// store writes the whole text, or adds to what is there; nil for input only.
	store func(c *Call, text string, add bool) error
	// base is the size of what was there before the text of the stream, when it is added to.
	base int
	// stored is how much of the stream is in the file; all of that is as it is there
	// unless rewritten.
	stored    int
	rewritten bool
	unsaved   bool
}

// CloseStream closes a stream; what was written to a file is stored, unless the stream
// is aborted.
func (c *Call) CloseStream(s *Stream, abort bool) {
	if s == terminal || s.closed || s.sink != nil {
		return
	}
	s.closed = true
	switch {
	case s.file == nil || s.file.store == nil:
	case abort:
		c.environment.saved(s)
	default:
		c.storeFile(s)
	}
}

// writeFile puts n elements at the position of a file by replace, which is given where.
func (c *Call) writeFile(s *Stream, n int, replace func()) {
	if !s.file.unsaved {
		s.file.unsaved = true
		c.environment.unsaved = append(c.environment.unsaved, s)
	}
	s.file.rewritten = s.file.rewritten || s.pos < s.file.stored
	replace()
	s.pos += n
	s.form = nil
}

// storeFile stores what was written to a file.
func (c *Call) storeFile(s *Stream) {
	f := s.file
	if !f.unsaved && f.stored > 0 {
		return
	}
	c.environment.saved(s)
	add := f.base > 0 || f.stored > 0 && !f.rewritten
	from := 0
	if add {
		from = f.stored
	}
	c.Work((s.length() - from) / 8)
	f.stored, f.rewritten = s.length(), false
	if err := f.store(c, s.content(from), add); err != nil {
		c.fileError(f.path, err)
	}
}

// saved forgets that a file is to be stored.
func (e *Environment) saved(s *Stream) {
	s.file.unsaved = false
	e.unsaved = slices.DeleteFunc(e.unsaved, func(other *Stream) bool { return other == s })
}

// forgetUnsaved drops what is to be stored; a stream that is written to again is stored.
func (e *Environment) forgetUnsaved() {
	for _, s := range e.unsaved {
		s.file.unsaved = false
	}
	e.unsaved = nil
}

// storeFiles stores what was written to files that are still open.
func (c *Call) storeFiles() {
	for len(c.environment.unsaved) > 0 {
		c.storeFile(c.environment.unsaved[0])
	}
}

// fileError signals what went wrong with a file.
func (c *Call) fileError(p *Pathname, err error) {
	if c.ctx.Err() != nil && errors.Is(err, c.ctx.Err()) {
		c.cancelled(context.Cause(c.ctx))
	}
	message := err.Error()
	var path *fs.PathError
	if errors.As(err, &path) { // without the place in the granted directory
		message = strings.Replace(message, path.Path, p.String(), 1)
	}
	condition := c.newCondition("FILE-ERROR", message, "PATHNAME", p)
	condition.cause = err
	c.signalError(condition)
}

// located finds the file of a pathname, merged with the defaults, where it was granted.
func (c *Call) located(p *Pathname, kind string) location {
	at, err := c.locate(p, kind)
	if err != nil {
		c.fileError(p, err)
	}
	return at
}

// locate is located with its error. Each directory on the way is looked at several times.
func (c *Call) locate(p *Pathname, kind string) (location, error) {
	path := c.Plain(c.MergePathname(p, c.DefaultPathname()))
	c.Work(1000 * (1 + strings.Count(path, "/")))
	c.ChargeMany(len(path)+100, lookUpBytes)
	return c.environment.config.Access.locate(c.reason, path, kind)
}

// lookedAt finds a file in what may be read, or else in what may be written.
func (c *Call) lookedAt(p *Pathname) location {
	access := &c.environment.config.Access
	if len(access.Read) > 0 {
		at, err := c.locate(p, kindRead)
		if err == nil {
			return at
		}
		if len(access.Write) == 0 {
			c.fileError(p, err)
		}
	}
	return c.located(p, kindWrite)
}

// FileText is the text of a file, charged before it is read.
func (c *Call) FileText(p *Pathname) []rune {
	text, err := c.readFile(p)
	if err != nil {
		c.fileError(p, err)
	}
	return c.codePoints(string(text))
}

// readFile reads a file, of which the size is charged before.
func (c *Call) readFile(p *Pathname) ([]byte, error) {
	at := c.located(p, kindRead)
	text, err := at.read(c.ctx, func(size int64) { c.ChargeMany(int(min(size, 1<<40)), 2) })
	if shown := c.environment.config.Access.Shown; shown != nil && err == nil {
		text = shown(at.path(), text)
	}
	return text, err
}

// lookUpBytes is what Go allocates to look up a path, for each of its bytes.
const lookUpBytes = 24

// FileInfo looks at a file; nil if there is none.
func (c *Call) FileInfo(p *Pathname) fs.FileInfo {
	info, err := c.lookedAt(p).stat()
	if err != nil {
		c.fileError(p, err)
	}
	return info
}

var (
	kwInput        = Keyword("INPUT")
	kwOutput       = Keyword("OUTPUT")
	kwBoth         = Keyword("IO")
	kwProbe        = Keyword("PROBE")
	kwSupersede    = Keyword("SUPERSEDE")
	kwAppend       = Keyword("APPEND")
	kwCreate       = Keyword("CREATE")
	kwError        = Keyword("ERROR")
	kwOverwrite    = Keyword("OVERWRITE")
	kwNewVersion   = Keyword("NEW-VERSION")
	kwRename       = Keyword("RENAME")
	kwRenameDelete = Keyword("RENAME-AND-DELETE")
)

// Opening is what open is asked for; nil for what it is not told.
type Opening struct{ Direction, IfExists, IfMissing, ElementType Value }

// Open opens a file. It is read whole when it is opened, unless it is to be superseded.
func (c *Call) Open(p *Pathname, o Opening) Value {
	binary := c.binaryElements(o.ElementType)
	switch o.Direction {
	case nil, kwInput:
		if c.located(p, kindRead); c.FileInfo(p) == nil {
			if o.IfMissing != Value(kwCreate) {
				return c.missingFile(p, o.IfMissing, kwError)
			}
			c.createFile(p)
		}
		s := &Stream{kind: fileInput, file: &openFile{path: p}, binary: binary}
		c.loadFile(s)
		return s
	case kwProbe:
		if c.FileInfo(p) == nil {
			if o.IfMissing != Value(kwCreate) {
				return c.missingFile(p, o.IfMissing, Nil)
			}
			c.createFile(p)
		}
		return &Stream{kind: fileInput, closed: true, file: &openFile{path: p}, binary: binary}
	case kwOutput:
		return c.openOutput(p, fileOutput, binary, o.IfExists, o.IfMissing)
	case kwBoth:
		return c.openOutput(p, fileBoth, binary, o.IfExists, o.IfMissing)
	}
	c.Fail(SimpleError, "the direction of a file is :input, :output, :io or :probe, not %s", c.Shown(o.Direction))
	return nil
}

// createFile makes an empty file.
func (c *Call) createFile(p *Pathname) {
	at := c.located(p, kindWrite)
	c.change(p, func() error { return at.write("") })
}

// missingFile is what :if-does-not-exist says.
func (c *Call) missingFile(p *Pathname, option Value, fallback *Symbol) Value {
	if option == nil {
		option = fallback
	}
	if option == Nil {
		return Nil
	}
	c.fileError(p, errors.New("the file "+p.String()+" does not exist"))
	return nil
}

// openOutput opens a file to write to it.
func (c *Call) openOutput(p *Pathname, kind streamKind, binary *binaryElements, ifExists, ifMissing Value) Value {
	at := c.located(p, kindWrite)
	info, err := at.stat()
	if err != nil {
		c.fileError(p, err)
	}
	kept := ifExists == Value(kwOverwrite) || ifExists == Value(kwAppend)
	if ifMissing == nil && !kept {
		ifMissing = kwCreate
	}
	switch {
	case info == nil && ifMissing != Value(kwCreate):
		return c.missingFile(p, ifMissing, kwError)
	case info == nil || kept:
	case ifExists == nil || ifExists == Value(kwError):
		c.fileError(p, errors.New("the file "+p.String()+" exists"))
	case ifExists == Nil:
		return Nil
	case ifExists == Value(kwSupersede), ifExists == Value(kwNewVersion), ifExists == Value(kwRename), ifExists == Value(kwRenameDelete):
	default:
		c.Fail(SimpleError, ":if-exists is :error, :supersede, :append, :overwrite or nil, not %s", c.Shown(ifExists))
	}
	s := Allocate(c, Stream{kind: kind, binary: binary, file: Allocate(c, openFile{path: p, store: func(c *Call, text string, add bool) error {
		access := &c.environment.config.Access
		if err := access.check(c.reason, kindWrite, at.path()); err != nil {
			return err
		}
		if add {
			return access.change(c.reason, func() error {
				if err := access.keeps(at, func(before string) string { return before + text }); err != nil {
					return err
				}
				return at.add(text)
			})
		}
		return access.change(c.reason, func() error {
			if err := access.keeps(at, func(string) string { return text }); err != nil {
				return err
			}
			return at.write(text)
		})
	}})})
	switch {
	case info == nil || !kept:
	case ifExists == Value(kwAppend) && kind == fileOutput:
		s.file.base = int(info.Size())
	default:
		c.loadFile(s)
		s.file.stored = s.length()
		if ifExists == Value(kwAppend) {
			s.pos = s.length()
		}
	}
	return s
}

// loadFile reads a file into the stream.
func (c *Call) loadFile(s *Stream) {
	text, err := c.readFile(s.file.path)
	switch {
	case err != nil:
		c.fileError(s.file.path, err)
	case s.binary != nil:
		s.binary.data = []byte(text)
	default:
		s.input = c.codePoints(string(text))
	}
}

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

// byteStreamFunctions read and write the elements of binary files.
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
	c.writeFile(s, 1, func() {
		n := copy(s.binary.data[s.pos*len(bytes):], bytes)
		s.binary.data = Append(c, s.binary.data, bytes[n:]...)
	})
}
