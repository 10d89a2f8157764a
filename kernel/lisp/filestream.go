package lisp

import (
	"context"
	"errors"
	"io/fs"
	"strings"
)

// openFile is what a file stream still has to do.
type openFile struct {
	path *Pathname
	// write stores the text when an output stream is closed; nil for input. What is
	// not closed is not stored.
	write func(c *Call, text string) error
}

// closeStream closes a stream; what was written to a file is stored, unless the stream
// is aborted.
func (c *Call) closeStream(s *Stream, abort bool) {
	if s == terminal || s.closed || s.sink != nil {
		return
	}
	s.closed = true
	if s.file == nil || s.file.write == nil || abort {
		return
	}
	c.work(len(s.out) / 8)
	if err := s.file.write(c, string(s.out)); err != nil {
		c.fileError(s.file.path, err)
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
		message = strings.Replace(message, path.Path, p.text(), 1)
	}
	condition := c.newCondition("FILE-ERROR", message, "PATHNAME", p)
	condition.cause = err
	c.signalError(condition)
}

// located finds the file of a pathname, merged with the defaults, where it was granted.
func (c *Call) located(p *Pathname, kind string) location {
	c.work(1000)
	c.charge(1000)
	at, err := c.environment.config.Access.locate(c.ctx, c.merge(p, c.defaultPathname()).plain(), kind)
	if err != nil {
		c.fileError(p, err)
	}
	return at
}

// lookedAt finds a file in what may be read, or else in what may be written.
func (c *Call) lookedAt(p *Pathname) location {
	access := &c.environment.config.Access
	if len(access.Read) > 0 {
		at, err := access.locate(c.ctx, c.merge(p, c.defaultPathname()).plain(), kindRead)
		if err == nil {
			return at
		}
		if len(access.Write) == 0 {
			c.fileError(p, err)
		}
	}
	return c.located(p, kindWrite)
}

// fileText is the text of a file, charged before it is read.
func (c *Call) fileText(p *Pathname) []rune {
	text, err := c.located(p, kindRead).read(c.ctx, func(size int64) {
		c.chargeMany(int(min(size, 1<<40)), 3*runeBytes)
	})
	if err != nil {
		c.fileError(p, err)
	}
	return []rune(string(text))
}

// fileInfo looks at a file; nil if there is none.
func (c *Call) fileInfo(p *Pathname) fs.FileInfo {
	info, err := c.lookedAt(p).stat()
	if err != nil {
		c.fileError(p, err)
	}
	return info
}

var (
	kwDirection    = standardKeyword("DIRECTION")
	kwIfExists     = standardKeyword("IF-EXISTS")
	kwIfMissing    = standardKeyword("IF-DOES-NOT-EXIST")
	kwFormat       = standardKeyword("EXTERNAL-FORMAT")
	kwInput        = standardKeyword("INPUT")
	kwOutput       = standardKeyword("OUTPUT")
	kwProbe        = standardKeyword("PROBE")
	kwSupersede    = standardKeyword("SUPERSEDE")
	kwAppend       = standardKeyword("APPEND")
	kwCreate       = standardKeyword("CREATE")
	kwError        = standardKeyword("ERROR")
	kwOverwrite    = standardKeyword("OVERWRITE")
	kwNewVersion   = standardKeyword("NEW-VERSION")
	kwRename       = standardKeyword("RENAME")
	kwRenameDelete = standardKeyword("RENAME-AND-DELETE")
)

// openFunction is open. A file is read whole when it is opened, and written whole when
// it is closed.
func openFunction(c *Call, args []Value) Value {
	k := c.keywords(args[1:], kwDirection, kwIfExists, kwIfMissing, kwElementType, kwFormat)
	p := c.pathname(args[0])
	switch k[0] {
	case nil, kwInput, kwProbe:
		if c.located(p, kindRead); k[0] != kwProbe && c.fileInfo(p) != nil {
			return &Stream{kind: fileInput, input: c.fileText(p), file: &openFile{path: p}}
		}
		if k[0] == kwProbe {
			if c.fileInfo(p) == nil {
				return Nil
			}
			return &Stream{kind: fileInput, closed: true, file: &openFile{path: p}}
		}
		return c.missingFile(p, k[2], kwError)
	case kwOutput:
	default:
		c.fail(simpleError, "a file is opened with :direction :input or :output, not %s", c.shown(k[0]))
	}
	return c.openOutput(p, k[1], k[2])
}

// missingFile is what :if-does-not-exist says.
func (c *Call) missingFile(p *Pathname, option Value, fallback *Symbol) Value {
	if option == nil {
		option = fallback
	}
	if option == Nil {
		return Nil
	}
	c.fileError(p, errors.New("the file "+p.text()+" does not exist"))
	return nil
}

func (c *Call) openOutput(p *Pathname, ifExists, ifMissing Value) Value {
	at := c.located(p, kindWrite)
	info, err := at.stat()
	if err != nil {
		c.fileError(p, err)
	}
	appending := ifExists == kwAppend
	switch {
	case info == nil && ifMissing != nil && ifMissing != kwCreate:
		return c.missingFile(p, ifMissing, kwError)
	case info == nil:
	case ifExists == nil || ifExists == kwError:
		c.fileError(p, errors.New("the file "+p.text()+" exists"))
	case ifExists == Nil:
		return Nil
	case ifExists == kwOverwrite:
		c.fail(simpleError, "a file cannot be overwritten in part: use :supersede or :append")
	case appending, ifExists == kwSupersede, ifExists == kwNewVersion, ifExists == kwRename, ifExists == kwRenameDelete:
	default:
		c.fail(simpleError, ":if-exists is :error, :supersede, :append or nil, not %s", c.shown(ifExists))
	}
	c.charge(closureBytes)
	return &Stream{kind: fileOutput, file: &openFile{path: p, write: func(c *Call, text string) error {
		access := &c.environment.config.Access
		if err := access.check(c.ctx, kindWrite, at.path()); err != nil {
			return err
		}
		if appending {
			return access.change(c.ctx, func() error { return at.add(text) })
		}
		return access.change(c.ctx, func() error { return at.write(text) })
	}}}
}
