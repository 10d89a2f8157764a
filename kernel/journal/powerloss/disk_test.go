package powerloss_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	_ "modernc.org/sqlite" // it sets SQLite up
	sqlite3 "modernc.org/sqlite/lib"
)

// disk is a file system for SQLite: the usual one, of which it notes every change of the files in one
// directory, and lets some calls fail. What was not flushed when the power is lost may be on the disk in
// part and in any order.
type disk struct {
	mu        sync.Mutex
	directory string
	names     map[uintptr]string // of open files
	fresh     map[uintptr]bool   // logs and journals of which SQLite will flush the directory with the content
	changes   []change
	calls     int                           // writes, truncations and flushes since fail was set
	fail      func(call int, op byte) int32 // the result code of a call that fails, 0 for none
	kept      []any                         // what SQLite points to
}

// change is one change of a file: a write, a truncation, a removal or a flush.
type change struct {
	op     byte // 'w', 't', 'd' or 's'
	name   string
	offset int64 // or the size
	data   []byte
	names  bool // of a flush: that of the directory, too
}

type (
	openCall     = func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32
	deleteCall   = func(*libc.TLS, uintptr, uintptr, int32) int32
	writeCall    = func(*libc.TLS, uintptr, uintptr, int32, sqlite3.Tsqlite3_int64) int32
	truncateCall = func(*libc.TLS, uintptr, sqlite3.Tsqlite3_int64) int32
	syncCall     = func(*libc.TLS, uintptr, int32) int32
	closeCall    = func(*libc.TLS, uintptr) int32
)

// code returns the address of a function, as SQLite's tables have it.
func (d *disk) code(function any) uintptr {
	d.kept = append(d.kept, function)
	return (*[2]uintptr)(unsafe.Pointer(&function))[1]
}

// pointer is the pointer to an address in the memory of SQLite, which Go does not move.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// call returns the function at an address.
func call[F any](address uintptr) F {
	return *(*F)(unsafe.Pointer(&struct{ uintptr }{address}))
}

// allocated copies a table to where SQLite may keep it.
func allocated[T any](tls *libc.TLS, from uintptr) (*T, uintptr) {
	var empty T
	to := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(empty)))
	table := (*T)(pointer(to))
	*table = *(*T)(pointer(from))
	return table, to
}

// newDisk makes the disk the file system of every database that is opened from now on.
func newDisk(t *testing.T, directory string) *disk {
	t.Helper()
	d := &disk{directory: directory, names: map[uintptr]string{}, fresh: map[uintptr]bool{}}
	tls := libc.NewTLS()
	usual := sqlite3.Xsqlite3_vfs_find(tls, 0)
	system, address := allocated[sqlite3.Tsqlite3_vfs](tls, usual)
	name, err := libc.CString("powerloss " + directory)
	if err != nil {
		t.Fatal(err)
	}
	system.FzName = name
	open, remove := call[openCall](system.FxOpen), call[deleteCall](system.FxDelete)
	methods := map[uintptr]uintptr{}
	system.FxOpen = d.code(func(tls *libc.TLS, _, name, file uintptr, flags int32, out uintptr) int32 {
		result := open(tls, usual, name, file, flags, out)
		path := ""
		if name != 0 {
			path = libc.GoString(name)
		}
		if result != sqlite3.SQLITE_OK || filepath.Dir(path) != d.directory {
			return result
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		opened := (*sqlite3.Tsqlite3_file)(pointer(file))
		if methods[opened.FpMethods] == 0 {
			methods[opened.FpMethods] = d.methods(tls, opened.FpMethods)
		}
		opened.FpMethods = methods[opened.FpMethods]
		d.names[file] = filepath.Base(path)
		d.fresh[file] = flags&sqlite3.SQLITE_OPEN_CREATE != 0 && flags&(sqlite3.SQLITE_OPEN_WAL|sqlite3.SQLITE_OPEN_MAIN_JOURNAL) != 0
		return result
	})
	system.FxDelete = d.code(func(tls *libc.TLS, _, name uintptr, flush int32) int32 {
		path := libc.GoString(name)
		result := remove(tls, usual, name, flush)
		if result == sqlite3.SQLITE_OK && filepath.Dir(path) == d.directory {
			d.note(change{op: 'd', name: filepath.Base(path), names: flush != 0})
		}
		return result
	})
	if result := sqlite3.Xsqlite3_vfs_register(tls, address, 1); result != sqlite3.SQLITE_OK {
		t.Fatal("the file system was not registered:", result)
	}
	t.Cleanup(func() {
		sqlite3.Xsqlite3_vfs_register(tls, usual, 1)
		sqlite3.Xsqlite3_vfs_unregister(tls, address)
		tls.Close()
	})
	return d
}

// methods returns a table of the calls on an open file.
func (d *disk) methods(tls *libc.TLS, usual uintptr) uintptr {
	table, address := allocated[sqlite3.Tsqlite3_io_methods](tls, usual)
	write, truncate := call[writeCall](table.FxWrite), call[truncateCall](table.FxTruncate)
	flush, closed := call[syncCall](table.FxSync), call[closeCall](table.FxClose)
	table.FxWrite = d.code(func(tls *libc.TLS, file, data uintptr, size int32, at sqlite3.Tsqlite3_int64) int32 {
		if result := d.failure('w'); result != 0 {
			return result
		}
		result := write(tls, file, data, size, at)
		content := append([]byte(nil), unsafe.Slice((*byte)(pointer(data)), size)...)
		d.noteFile(file, change{op: 'w', offset: int64(at), data: content})
		return result
	})
	table.FxTruncate = d.code(func(tls *libc.TLS, file uintptr, size sqlite3.Tsqlite3_int64) int32 {
		if result := d.failure('t'); result != 0 {
			return result
		}
		result := truncate(tls, file, size)
		d.noteFile(file, change{op: 't', offset: int64(size)})
		return result
	})
	table.FxSync = d.code(func(tls *libc.TLS, file uintptr, flags int32) int32 {
		if result := d.failure('s'); result != 0 {
			return result
		}
		d.mu.Lock()
		names := d.fresh[file]
		d.fresh[file] = false
		d.mu.Unlock()
		d.noteFile(file, change{op: 's', names: names})
		_ = flush // what is flushed is noted; the real disk need not hurry
		return sqlite3.SQLITE_OK
	})
	table.FxClose = d.code(func(tls *libc.TLS, file uintptr) int32 {
		d.mu.Lock()
		delete(d.names, file)
		d.mu.Unlock()
		return closed(tls, file)
	})
	return address
}

func (d *disk) failure(op byte) int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail == nil {
		return 0
	}
	d.calls++
	return d.fail(d.calls, op)
}

// setFailure sets which calls fail from now on.
func (d *disk) setFailure(fail func(call int, op byte) int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail, d.calls = fail, 0
}

func (d *disk) noteFile(file uintptr, c change) {
	d.mu.Lock()
	c.name = d.names[file]
	d.mu.Unlock()
	d.note(c)
}

func (d *disk) note(c change) {
	if strings.HasSuffix(c.name, "-shm") { // it is memory, and made again
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changes = append(d.changes, c)
}

// moment is the number of changes so far.
func (d *disk) moment() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.changes)
}

// sector is what a disk writes whole.
const sector = 512

// image is the files of the directory after a loss of power.
type image map[string][]byte

// lose returns what is on the disk if the power is lost after the first changes. some says of each
// sector that was not flushed, and of each truncation and removal, whether it was done.
func (d *disk) lose(changes int, some func() bool) image {
	flushed, named := map[string]int{}, 0
	for i, c := range d.changes[:changes] {
		if c.op == 's' {
			flushed[c.name] = i
		}
		if c.names {
			named = i
		}
	}
	files := image{}
	for i, c := range d.changes[:changes] {
		sure := i < flushed[c.name]
		switch c.op {
		case 'w':
			for from := 0; from < len(c.data); from += sector {
				if sure || some() {
					files.write(c.name, c.offset+int64(from), c.data[from:min(from+sector, len(c.data))])
				}
			}
		case 't':
			if content, ok := files[c.name]; ok && (sure || some()) && int64(len(content)) > c.offset {
				files[c.name] = content[:c.offset]
			}
		case 'd':
			if i <= named && named > 0 || some() {
				delete(files, c.name)
			}
		}
	}
	return files
}

func (f image) write(name string, at int64, data []byte) {
	if need := at + int64(len(data)); int64(len(f[name])) < need {
		f[name] = append(f[name], make([]byte, need-int64(len(f[name])))...)
	}
	copy(f[name][at:], data)
}

// save writes the image into a directory.
func (f image) save(directory string) error {
	var err error
	for name, content := range f {
		err = errors.Join(err, os.WriteFile(filepath.Join(directory, name), content, 0o600))
	}
	return err
}
