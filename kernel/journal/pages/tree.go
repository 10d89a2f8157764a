package pages

import (
	"encoding/binary"
	"iter"
	"math"
)

// A Row is a row of a table, or an entry of an index. Number is its rowid, 0 in an index. Values are
// nil, int64, float64, string or []byte.
//
// Loose is true if the row has more bytes than its values. Such a row was changed: its size, so that it is whole,
// or the number of its values, so that some are missing.
type Row struct {
	Number int64
	Values []any
	Loose  bool
}

// A Table is an entry of the database's own list of its tables and indexes.
type Table struct {
	Name string
	Root uint32
}

// The kinds of pages.
const (
	indexInterior = 0x02
	tableInterior = 0x05
	indexLeaf     = 0x0a
	tableLeaf     = 0x0d
)

// A Reader reads each page at most once. It is for one goroutine.
type Reader struct {
	source *Source
	seen   map[uint32]bool
}

// NewReader returns a reader that has read nothing.
func NewReader(source *Source) *Reader { return &Reader{source, map[uint32]bool{}} }

// Tables returns the list of tables, as far as the first page can be read.
func (r *Reader) Tables() []Table {
	var tables []Table
	for row := range r.Tree(1) {
		if len(row.Values) < 4 {
			continue
		}
		kind, _ := row.Values[0].(string)
		name, _ := row.Values[1].(string)
		root, _ := row.Values[3].(int64)
		if kind == "table" && root > 1 && root <= int64(r.source.count) {
			tables = append(tables, Table{name, uint32(root)})
		}
	}
	return tables
}

// Tree returns the rows of the tree below a page. It leaves out pages that cannot be read and those
// that were read before.
func (r *Reader) Tree(root uint32) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		waiting := []uint32{root}
		for len(waiting) > 0 {
			number := waiting[len(waiting)-1]
			waiting = waiting[:len(waiting)-1]
			if number == 0 || number > r.source.count || r.seen[number] {
				continue
			}
			r.seen[number] = true
			page, ok := r.read(number)
			if !ok {
				continue
			}
			waiting = append(waiting, page.children()...)
			for row := range page.rows() {
				if !yield(row) {
					return
				}
			}
		}
	}
}

// Leaf is the rows of a page that no tree led to. Index is true if they are the entries of an index.
type Leaf struct {
	Rows  []Row
	Index bool
}

// Rest returns the leaves that were not read yet and are not marked as free, and then those of the log that were
// changed after they were written, of which many a row is as it was.
func (r *Reader) Rest() iter.Seq[Leaf] {
	return func(yield func(Leaf) bool) {
		free := r.free()
		for number := uint32(1); number <= r.source.count; number++ {
			if r.seen[number] || free[number] {
				continue
			}
			page, ok := r.read(number)
			if leaf := page.leaf(); ok && len(leaf.Rows) > 0 && !yield(leaf) {
				return
			}
		}
		for _, at := range r.source.changed {
			data := make([]byte, r.source.size)
			if _, err := r.source.log.ReadAt(data, at); err != nil {
				continue
			}
			page, ok := r.parse(data, 0)
			if leaf := page.leaf(); ok && len(leaf.Rows) > 0 && !yield(leaf) {
				return
			}
		}
	}
}

// leaf returns the rows of a leaf, none for another page.
func (p page) leaf() Leaf {
	leaf := Leaf{Index: p.kind == indexLeaf}
	if p.kind == tableLeaf || p.kind == indexLeaf {
		for row := range p.rows() {
			leaf.Rows = append(leaf.Rows, row)
		}
	}
	return leaf
}

// free returns the pages on the list of free pages, which have old rows.
func (r *Reader) free() map[uint32]bool {
	free := map[uint32]bool{}
	if !r.source.header {
		return free
	}
	first, err := r.source.page(1)
	if err != nil {
		return free
	}
	for trunk := binary.BigEndian.Uint32(first[32:]); trunk != 0 && trunk <= r.source.count && !free[trunk]; {
		free[trunk] = true
		page, err := r.source.page(trunk)
		if err != nil {
			return free
		}
		count := min(int(binary.BigEndian.Uint32(page[4:])), r.source.size/4-2)
		for i := range max(count, 0) {
			free[binary.BigEndian.Uint32(page[8+4*i:])] = true
		}
		trunk = binary.BigEndian.Uint32(page)
	}
	return free
}

// page is a page of a tree.
type page struct {
	source *Source
	data   []byte
	at     int // where its header begins
	kind   byte
	cells  []int
}

// read reads a page of a tree. ok is false for any other page.
func (r *Reader) read(number uint32) (p page, ok bool) {
	data, err := r.source.page(number)
	if err != nil {
		return p, false
	}
	if number == 1 {
		return r.parse(data, headerSize)
	}
	return r.parse(data, 0)
}

// parse reads the page of a tree whose header begins at an offset.
func (r *Reader) parse(data []byte, at int) (p page, ok bool) {
	p = page{source: r.source, data: data, at: at}
	p.kind = data[p.at]
	header := 8
	switch p.kind {
	case indexInterior, tableInterior:
		header = 12
	case indexLeaf, tableLeaf:
	default:
		return p, false
	}
	count := int(binary.BigEndian.Uint16(data[p.at+3:]))
	for i := range count {
		at := p.at + header + 2*i
		if at+2 > r.source.usable {
			break
		}
		cell := int(binary.BigEndian.Uint16(data[at:]))
		if cell >= p.at+header && cell < r.source.usable {
			p.cells = append(p.cells, cell)
		}
	}
	return p, true
}

// children returns the pages below an interior page, the last one first.
func (p page) children() (numbers []uint32) {
	if p.kind != indexInterior && p.kind != tableInterior {
		return nil
	}
	numbers = append(numbers, binary.BigEndian.Uint32(p.data[p.at+8:]))
	for i := len(p.cells) - 1; i >= 0; i-- {
		if p.cells[i]+4 <= len(p.data) {
			numbers = append(numbers, binary.BigEndian.Uint32(p.data[p.cells[i]:]))
		}
	}
	return numbers
}

// rows returns the rows that the page has.
func (p page) rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for _, at := range p.cells {
			row, ok := p.row(at)
			if ok && !yield(row) {
				return
			}
		}
	}
}

// row reads a cell.
func (p page) row(at int) (row Row, ok bool) {
	rest := p.data[at:p.source.usable]
	switch p.kind {
	case tableInterior:
		return row, false
	case indexInterior:
		if len(rest) < 4 {
			return row, false
		}
		rest = rest[4:]
	}
	size, rest, ok := varint(rest)
	if ok && p.kind == tableLeaf {
		row.Number, rest, ok = varint(rest)
	}
	if !ok || size < 1 || size > math.MaxInt32 || size > int64(p.source.count)*int64(p.source.size) {
		return row, false
	}
	payload, ok := p.source.payload(rest, int(size), p.kind == tableLeaf)
	if !ok {
		return row, false
	}
	row.Values, row.Loose, ok = record(payload)
	return row, ok
}

// payload returns the content of a cell, of which a part may be on other pages. It ends where no more can be read:
// where the size was changed, all of the row may be there.
func (s *Source) payload(rest []byte, size int, table bool) ([]byte, bool) {
	most := (s.usable-12)*64/255 - 23
	if table {
		most = s.usable - 35
	}
	if size <= most {
		return rest[:min(size, len(rest))], true
	}
	least := (s.usable-12)*32/255 - 23
	local := least + (size-least)%(s.usable-4)
	if local > most {
		local = least
	}
	if local+4 > len(rest) {
		return nil, false
	}
	payload := append([]byte(nil), rest[:local]...)
	next := binary.BigEndian.Uint32(rest[local:])
	for len(payload) < size {
		more, err := s.page(next)
		if err != nil {
			break
		}
		payload = append(payload, more[4:4+min(s.usable-4, size-len(payload))]...)
		next = binary.BigEndian.Uint32(more)
	}
	return payload, true
}

// record reads the values of a row. loose is true if bytes are left behind them.
func record(payload []byte) (values []any, loose, ok bool) {
	size, rest, ok := varint(payload)
	if !ok || size < int64(len(payload)-len(rest)) || size > int64(len(payload)) { // it counts the bytes that say it
		return nil, false, false
	}
	header, body := rest[:int(size)-(len(payload)-len(rest))], payload[size:]
	for len(header) > 0 {
		var serial int64
		if serial, header, ok = varint(header); !ok {
			return nil, false, false
		}
		var one any
		if one, body, ok = value(serial, body); !ok {
			return nil, false, false
		}
		values = append(values, one)
	}
	return values, len(body) > 0, len(values) > 0
}

// widths are the sizes of the numbers of the serial types 0 to 9.
var widths = [10]int{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}

// value reads one value of a serial type.
func value(serial int64, body []byte) (one any, rest []byte, ok bool) {
	switch {
	case serial < 0 || serial == 10 || serial == 11:
		return nil, nil, false
	case serial >= 12:
		size := (serial - 12) / 2
		if size > int64(len(body)) {
			return nil, nil, false
		}
		if serial%2 == 0 {
			return append([]byte(nil), body[:size]...), body[size:], true
		}
		return string(body[:size]), body[size:], true
	}
	width := widths[serial]
	if width > len(body) {
		return nil, nil, false
	}
	switch {
	case serial == 0:
		return nil, body, true
	case serial >= 8:
		return serial - 8, body, true
	}
	var bits uint64
	if body[0]&0x80 != 0 && serial != 7 {
		bits = ^uint64(0)
	}
	for _, b := range body[:width] {
		bits = bits<<8 | uint64(b)
	}
	if serial == 7 {
		return math.Float64frombits(bits), body[width:], true
	}
	return int64(bits), body[width:], true
}

// varint reads a number of one to nine bytes.
func varint(data []byte) (n int64, rest []byte, ok bool) {
	var bits uint64
	for i, b := range data {
		if i == 8 {
			return int64(bits<<8 | uint64(b)), data[9:], true
		}
		bits = bits<<7 | uint64(b&0x7f)
		if b < 0x80 {
			return int64(bits), data[i+1:], true
		}
	}
	return 0, nil, false
}
