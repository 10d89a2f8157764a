// Package pages reads the rows that are left in a damaged SQLite file, from its pages and without SQLite.
// It follows the published file format, believes no number that it reads, and leaves out what it
// cannot read. It never writes.
package pages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A Source is the pages of a database: those of its file, and in their place the later ones of its
// write-ahead log, without those that are not as they were written.
type Source struct {
	file, log *os.File // nil for a file that is missing
	logged    map[uint32]int64
	size      int
	usable    int
	count     uint32
	version   uint32
	header    bool
	logHeader bool
	changed   []int64 // where the log has pages that are not as they were written
}

const (
	headerSize  = 100
	defaultPage = 4096
)

// Open opens the database at path and its log, of which one may be missing. Close it.
func Open(path string) (*Source, error) {
	s := &Source{logged: map[uint32]int64{}, size: defaultPage}
	var err error
	if s.file, err = openThere(path); err == nil {
		s.log, err = openThere(path + "-wal")
	}
	if err == nil {
		err = s.read()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read the pages of %s: %w", path, err), s.Close())
	}
	return s, nil
}

func openThere(path string) (*os.File, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return file, err
}

// Close closes the files.
func (s *Source) Close() error {
	var err error
	for _, file := range []*os.File{s.file, s.log} {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}

// Version is the user_version of the database, 0 if its header cannot be read.
func (s *Source) Version() int { return int(s.version) }

// HasHeader reports whether the first page begins as that of a database does.
func (s *Source) HasHeader() bool { return s.header }

// LogFaulty reports whether the log has changes of which the beginning cannot be read. The beginning of a
// log that was never written to the disk is zeros.
func (s *Source) LogFaulty() bool {
	if s.log == nil || s.logHeader {
		return false
	}
	begin := make([]byte, logHeader)
	_, err := s.log.ReadAt(begin, 0)
	return err == nil && !bytes.Equal(begin, make([]byte, logHeader))
}

// Changed is the number of pages in the log that were changed after they were written, and behind which the log
// goes on. SQLite takes the first of them for the end of the log.
func (s *Source) Changed() int { return len(s.changed) }

// read finds the size and the number of the pages.
func (s *Source) read() error {
	if s.file != nil {
		first := make([]byte, headerSize)
		if _, err := s.file.ReadAt(first, 0); err == nil {
			if size, ok := headerPage(first); ok {
				s.size = size
			}
		}
		info, err := s.file.Stat()
		if err != nil {
			return err
		}
		s.count = uint32(min((info.Size()+int64(s.size)-1)/int64(s.size), 1<<31))
	}
	s.usable = s.size
	if s.log != nil {
		s.readLog()
	}
	if s.count == 0 {
		return nil
	}
	first, err := s.page(1)
	if err != nil {
		return nil // its other pages may be read
	}
	if size, ok := headerPage(first); ok && size == s.size {
		s.header, s.version = true, binary.BigEndian.Uint32(first[60:])
		if reserved := int(first[20]); s.size-reserved >= 480 {
			s.usable = s.size - reserved
		}
	}
	return nil
}

// headerPage returns the size of pages from the header of a database.
func headerPage(first []byte) (size int, ok bool) {
	if len(first) < headerSize || string(first[:16]) != "SQLite format 3\x00" {
		return 0, false
	}
	size = int(binary.BigEndian.Uint16(first[16:]))
	if size == 1 {
		size = 1 << 16
	}
	return size, size >= 512 && size&(size-1) == 0
}

// page reads a page. A page that the end of the file cuts ends in zeros.
func (s *Source) page(number uint32) ([]byte, error) {
	page := make([]byte, s.size)
	if at, ok := s.logged[number]; ok {
		_, err := s.log.ReadAt(page, at)
		return page, err
	}
	if s.file == nil || number == 0 || number > s.count {
		return nil, io.EOF
	}
	n, err := s.file.ReadAt(page, int64(number-1)*int64(s.size))
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return page, err
}

const (
	logHeader   = 32
	frameHeader = 24
)

// readLog finds the pages of the log up to the last commit. The checksum of a frame goes on from that of the frame
// before. So where one is wrong, the log ends, unless later frames go on from what is stored in a wrong one:
// then that one was changed after it was written.
func (s *Source) readLog() {
	header := make([]byte, logHeader)
	if _, err := s.log.ReadAt(header, 0); err != nil {
		return
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch binary.BigEndian.Uint32(header) {
	case 0x377f0682:
	case 0x377f0683:
		order = binary.BigEndian
	default:
		return
	}
	size := int(binary.BigEndian.Uint32(header[8:]))
	sum := checksum{order: order}
	sum.add(header[:24])
	if !sum.is(header[24:32]) || size < 512 || size > 1<<16 || size&(size-1) != 0 || s.header && size != s.size {
		return
	}
	s.size, s.usable, s.logHeader = size, size, true
	s.readFrames(header[16:24], sum)
}

// readFrames reads the frames of the log that have this salt.
func (s *Source) readFrames(salt []byte, sum checksum) {
	pending := map[uint32]int64{}
	var doubtful []int64 // changed pages since the last commit
	frame := make([]byte, frameHeader+s.size)
	for at := int64(logHeader); ; at += int64(len(frame)) {
		if _, err := s.log.ReadAt(frame, at); err != nil {
			return
		}
		ours := bytes.Equal(frame[8:16], salt)
		sum.add(frame[:8])
		sum.add(frame[frameHeader:])
		if !ours || !sum.is(frame[16:24]) {
			changed, next, ok := s.resume(at, salt, sum.order)
			if !ok {
				return
			}
			doubtful, sum, at = append(doubtful, changed...), next, changed[len(changed)-1]-frameHeader
			continue
		}
		pending[binary.BigEndian.Uint32(frame)] = at + frameHeader
		if pages := binary.BigEndian.Uint32(frame[4:]); pages > 0 {
			for number, offset := range pending {
				s.logged[number] = offset
			}
			clear(pending)
			s.changed, doubtful = append(s.changed, doubtful...), nil
			s.count = max(s.count, min(pages, 1<<31))
		}
	}
}

// resume returns the pages of the frames from a wrong one on, up to that from whose stored checksum the next one
// goes on, and this checksum. ok is false if there is none.
func (s *Source) resume(at int64, salt []byte, order binary.ByteOrder) (changed []int64, sum checksum, ok bool) {
	size := int64(frameHeader + s.size)
	frame, next := make([]byte, size), make([]byte, size)
	if _, err := s.log.ReadAt(frame, at); err != nil {
		return nil, sum, false
	}
	for ; ; at += size {
		changed = append(changed, at+frameHeader)
		if _, err := s.log.ReadAt(next, at+size); err != nil {
			return nil, sum, false
		}
		sum = checksum{order, binary.BigEndian.Uint32(frame[16:]), binary.BigEndian.Uint32(frame[20:])}
		after := sum
		after.add(next[:8])
		after.add(next[frameHeader:])
		if bytes.Equal(next[8:16], salt) && after.is(next[16:24]) {
			return changed, sum, true
		}
		frame, next = next, frame
	}
}

// checksum is the running checksum of a log.
type checksum struct {
	order  binary.ByteOrder
	s0, s1 uint32
}

func (c *checksum) add(data []byte) {
	for i := 0; i+8 <= len(data); i += 8 {
		c.s0 += c.order.Uint32(data[i:]) + c.s1
		c.s1 += c.order.Uint32(data[i+4:]) + c.s0
	}
}

// is reports whether the stored checksum is the running one.
func (c *checksum) is(stored []byte) bool {
	return binary.BigEndian.Uint32(stored) == c.s0 && binary.BigEndian.Uint32(stored[4:]) == c.s1
}
