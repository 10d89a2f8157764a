package lisp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// fileFunctions touch files. Each exists only for a note that was granted what it needs.
func fileFunctions() []Builtin {
	return []Builtin{
		{Name: "open", Needs: NeedsReadWrite, LambdaList: "(file &key direction element-type if-exists if-does-not-exist external-format)", Doc: "A stream of a file's text.", Named: func(c *Call, args Args) Value {
			return c.Open(c.Pathname(args.Get("file")), Opening{args.Get("direction"), args.Get("if-exists"), args.Get("if-does-not-exist"), args.Get("element-type")})
		}},
		{Name: "probe-file", Needs: NeedsReadWrite, LambdaList: "(file)", Doc: "The file's pathname without links, or nil if there is no such file.", One: func(c *Call, a Value) Value {
			p := c.Pathname(a)
			if c.FileInfo(p) == nil {
				return Nil
			}
			return c.Truename(p)
		}},
		{Name: "truename", Needs: NeedsReadWrite, LambdaList: "(file)", Doc: "The file's pathname without links.", One: func(c *Call, a Value) Value {
			p := c.Pathname(a)
			if c.FileInfo(p) == nil {
				return c.missingFile(p, nil, kwError)
			}
			return c.Truename(p)
		}},
		{Name: "directory", Needs: NeedsRead, LambdaList: "(pattern &key resolve-symlinks)", Doc: "The files that fit a pathname with wildcards.", Named: func(c *Call, args Args) Value {
			return c.matchingFiles(c.MergePathname(c.Pathname(args.Get("pattern")), c.DefaultPathname()))
		}},
		{Name: "file-write-date", Needs: NeedsReadWrite, LambdaList: "(file)", Doc: "When the file was written last, as a universal time.", One: func(c *Call, a Value) Value {
			p := c.Pathname(a)
			info := c.FileInfo(p)
			if info == nil {
				return c.missingFile(p, nil, kwError)
			}
			return Integer(info.ModTime().Unix() + UniversalEpoch)
		}},
		{Name: "file-length", Needs: NeedsReadWrite, LambdaList: "(stream)", Doc: "The number of characters of a file that is open.", One: func(c *Call, a Value) Value {
			s := c.streamArgument(a)
			if s.kind == broadcastStream {
				if len(s.parts) == 0 {
					return Integer(0)
				}
				s = s.parts[len(s.parts)-1]
			}
			if s.file != nil {
				return Count(s.file.base + s.length())
			}
			c.TypeError(a, "FILE-STREAM")
			return nil
		}},
		{Name: "delete-file", Needs: NeedsWrite, LambdaList: "(file)", Doc: "Delete a file.", One: func(c *Call, a Value) Value {
			p := c.Pathname(a)
			c.removeFile(p, c.located(p, kindWrite))
			return T
		}},
		{Name: "rename-file", Needs: NeedsWrite, LambdaList: "(file new-name)", Doc: "Give a file another name in what may be written.", Many: true, Two: func(c *Call, a, b Value) Value {
			p := c.Pathname(a)
			to := c.MergePathname(c.Pathname(b), p)
			from, target := c.located(p, kindWrite), c.located(to, kindWrite)
			c.change(p, func() error {
				access := &c.environment.config.Access
				if err := errors.Join(access.keeps(from, nil), access.keeps(target, nil)); err != nil {
					return err
				}
				return from.rename(target)
			})
			return c.Values(to, c.ParsePathname(from.path()), c.ParsePathname(target.path()))
		}},
		{Name: "ensure-directories-exist", Needs: NeedsWrite, LambdaList: "(file &key verbose)", Doc: "Make the directory of a file, and those above it.", Many: true, Named: func(c *Call, args Args) Value {
			file := args.Get("file")
			p := c.Pathname(file)
			directory := &Pathname{Directory: p.Directory, Name: Nil, Type: Nil}
			at := c.located(directory, kindWrite)
			info, err := at.stat()
			if err != nil {
				c.fileError(p, err)
			}
			if info == nil {
				c.change(p, at.makeDirectories)
			}
			return c.Values(file, Boolean(info == nil))
		}},
	}
}

// change does something to a file.
func (c *Call) change(p *Pathname, do func() error) {
	if err := c.environment.config.Access.change(c.reason, do); err != nil {
		c.fileError(p, err)
	}
}

// removeFile deletes a file.
func (c *Call) removeFile(p *Pathname, at location) {
	c.change(p, func() error {
		if err := c.environment.config.Access.keeps(at, nil); err != nil {
			return err
		}
		return at.remove()
	})
}

// Truename is the pathname of a file that is there, without links.
func (c *Call) Truename(p *Pathname) Value {
	at := c.lookedAt(p)
	text := at.path()
	if info, err := at.stat(); err == nil && info != nil && info.IsDir() {
		text += "/"
	}
	return parsePathname(text)
}

// maximumEntries bounds the files that are looked at for one directory.
const maximumEntries = 10_000

// matchingFiles are the files that fit a pathname with wildcards in its name and type.
func (c *Call) matchingFiles(p *Pathname) Value {
	if !p.isWild(p.Name) && !p.isWild(p.Type) {
		if c.FileInfo(p) == nil {
			return Nil
		}
		return NewList(c.Truename(p))
	}
	directory := &Pathname{Directory: p.Directory, Name: Nil, Type: Nil}
	list := NewListBuilder(c)
	for _, entry := range c.ListDirectory(directory) {
		q := parsePathname(entry.Name())
		if entry.IsDir() || !c.MatchPart(q.Name, p.Name) || !c.MatchPart(q.Type, p.Type) {
			continue
		}
		list.Add(c.MergePathname(q, c.Truename(directory).(*Pathname)))
	}
	return list.List()
}

// ListDirectory are the entries of a directory.
func (c *Call) ListDirectory(directory *Pathname) []fs.DirEntry {
	c.Charge(64 * 1024)
	entries, err := c.lookedAt(directory).entries(maximumEntries)
	if err != nil {
		c.fileError(directory, err)
	}
	c.ChargeMany(len(entries), 4*EntryBytes)
	return entries
}

// fileMacros open a file for a body.
func fileMacros() []Macro {
	expand := func(spec Value, cp *Compiler, body Value) Value {
		parts := cp.Forms(spec)
		if len(parts) < 2 {
			cp.Fail(ProgramError, "malformed specification %s", Sketch(spec, formLength))
		}
		abort := cp.Gensym("ABORT")
		_, _, rest := cp.declarations(body, false)
		forms := append(declarationForms(body, rest), Form(symUnwindProtect,
			Form(CL("MULTIPLE-VALUE-PROG1"), FormStar(symProgn, rest), Form(symSetq, abort, Nil)),
			Form(symWhen, parts[0], Form(symClose, parts[0], kwAbort, abort))))
		opened := &Cons{Car: CL("OPEN"), Cdr: NewList(parts[1:]...)}
		return FormStar(symLet, NewList(forms...), NewList(NewList(parts[0], opened), NewList(abort, T)))
	}
	return []Macro{
		{"with-open-file", "((stream file &rest options) &body body)", "Open a file and close it after body.", func(cp *Compiler, form *Cons) Value {
			return expand(cp.Arguments(form, 1, -1)[0], cp, form.Cdr.(*Cons).Cdr)
		}},
	}
}

// location is a file below a granted directory, by its path without links.
type location struct {
	root string // the granted directory
	name string // of the file, relative to it
}

func (p location) path() string { return filepath.Join(p.root, p.name) }

var (
	errNotRegular   = errors.New("it is no regular file")
	errNotDirectory = errors.New("it is no directory")
	errMoved        = errors.New("something else took its place while it was opened")
)

// open runs use with the directory that the file is in, and the file's name in it. What
// is opened on the way is what the path named without a link: one that came into the way
// since it was looked up is not followed.
func (p location) open(use func(parent *os.Root, name string) error) error {
	parent, err := openGranted(p.root)
	if err != nil {
		return fmt.Errorf("open the granted directory: %w", err)
	}
	defer func() { _ = parent.Close() }() // nothing was written to it
	for _, name := range strings.Split(filepath.Dir(p.name), "/") {
		if name == "." {
			continue
		}
		next, err := enter(parent, name)
		if err != nil {
			return fmt.Errorf("open the directory %s: %w", name, err)
		}
		_ = parent.Close()
		parent = next
	}
	return use(parent, filepath.Base(p.name))
}

// openGranted opens a directory that must be at its path without links.
func openGranted(path string) (*os.Root, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil && real != path {
		err = errMoved
	}
	if err == nil {
		var there fs.FileInfo
		if there, err = os.Lstat(path); err == nil {
			err = unmoved(root, there)
		}
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// enter opens a directory in another one, and no link to one.
func enter(parent *os.Root, name string) (*os.Root, error) {
	there, err := parent.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !there.IsDir() {
		return nil, errNotDirectory
	}
	root, err := parent.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if err := unmoved(root, there); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// unmoved makes sure that what was opened is what was there.
func unmoved(root *os.Root, there fs.FileInfo) error {
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(opened, there) {
		err = errMoved
	}
	return err
}

// openRegular opens a file that is there, and nothing but a regular one: neither a link nor
// a pipe, which would hold the call.
func openRegular(parent *os.Root, name string, flags int) (*os.File, fs.FileInfo, error) {
	there, err := parent.Lstat(name)
	if err != nil {
		return nil, nil, fmt.Errorf("look at the file: %w", err)
	}
	if !there.Mode().IsRegular() {
		return nil, nil, errNotRegular
	}
	file, err := parent.OpenFile(name, flags|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open the file: %w", err)
	}
	opened, err := file.Stat()
	if err == nil && !os.SameFile(opened, there) {
		err = errMoved
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, opened, nil
}

// read returns the text of a file; charge is told its size before it is read.
func (p location) read(ctx context.Context, charge func(size int64)) (text []byte, err error) {
	err = p.open(func(parent *os.Root, name string) error {
		file, info, err := openRegular(parent, name, os.O_RDONLY)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // it was only read
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read the file: %w", err)
		}
		charge(info.Size())
		text, err = io.ReadAll(io.LimitReader(file, info.Size()))
		if err != nil {
			return fmt.Errorf("read the file: %w", err)
		}
		return nil
	})
	return text, err
}

// newMode is the mode of a file that was not there.
const newMode = 0o644

// write stores text: as a file of its own that takes the old one's place, and mode, when
// it is whole.
func (p location) write(text string) error {
	return p.open(func(parent *os.Root, name string) error {
		old, err := parent.Lstat(name)
		if err == nil && !old.Mode().IsRegular() {
			return errNotRegular
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look at the file: %w", err)
		}
		beside := "." + rand.Text()[:12] + ".new~"
		file, err := parent.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newMode)
		if err != nil {
			return fmt.Errorf("open the file: %w", err)
		}
		if old != nil {
			err = file.Chmod(old.Mode().Perm())
		}
		if err == nil {
			_, err = io.WriteString(file, text)
		}
		if err = errors.Join(err, file.Close()); err == nil {
			err = parent.Rename(beside, name)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("write the file: %w", err), parent.Remove(beside))
		}
		return nil
	})
}

// add writes text behind what the file has.
func (p location) add(text string) error {
	return p.open(func(parent *os.Root, name string) error {
		file, _, err := openRegular(parent, name, os.O_WRONLY|os.O_APPEND)
		if errors.Is(err, fs.ErrNotExist) {
			file, err = parent.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newMode)
		}
		if err != nil {
			return err
		}
		_, err = io.WriteString(file, text)
		if err = errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("write the file: %w", err)
		}
		return nil
	})
}

// stat looks at a file; a missing one is no error.
func (p location) stat() (info fs.FileInfo, err error) {
	err = p.open(func(parent *os.Root, name string) error {
		info, err = parent.Lstat(name)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

// remove deletes a regular file.
func (p location) remove() error {
	return p.open(func(parent *os.Root, name string) error {
		info, err := parent.Lstat(name)
		if err == nil && !info.Mode().IsRegular() {
			err = errNotRegular
		}
		if err != nil {
			return err
		}
		return parent.Remove(name)
	})
}

// rename gives a regular file another name below the same granted directory. Directories
// stay: what is protected may be in them.
func (p location) rename(to location) error {
	if p.root != to.root {
		return errors.New("a file cannot be moved from one granted directory to another")
	}
	info, err := p.stat()
	if err == nil && info == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return err
	}
	old, err := to.stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || old != nil && !old.Mode().IsRegular() {
		return errNotRegular
	}
	root, err := openGranted(p.root)
	if err != nil {
		return err
	}
	return errors.Join(root.Rename(p.name, to.name), root.Close())
}

// makeDirectories makes the directory and those above it that are missing.
func (p location) makeDirectories() error {
	parent, err := openGranted(p.root)
	if err != nil {
		return fmt.Errorf("open the granted directory: %w", err)
	}
	defer func() { _ = parent.Close() }() // nothing was written to it
	for _, name := range strings.Split(p.name, "/") {
		if name == "." {
			continue
		}
		if err := parent.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make the directory: %w", err)
		}
		next, err := enter(parent, name)
		if err != nil {
			return fmt.Errorf("open the directory: %w", err)
		}
		_ = parent.Close()
		parent = next
	}
	return nil
}

// entries are the names in a directory, at most limit, in alphabetical order.
func (p location) entries(limit int) (entries []fs.DirEntry, err error) {
	err = p.open(func(parent *os.Root, name string) error {
		if name != "." {
			if parent, err = enter(parent, name); err != nil {
				return fmt.Errorf("open the directory: %w", err)
			}
			defer func() { _ = parent.Close() }() // it was only read
		}
		directory, err := parent.Open(".")
		if err != nil {
			return fmt.Errorf("open the directory: %w", err)
		}
		defer func() { _ = directory.Close() }() // it was only read
		entries, err = directory.ReadDir(limit)
		if err != nil && err != io.EOF {
			return fmt.Errorf("read the directory: %w", err)
		}
		return nil
	})
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}
