package lisp

import "io/fs"

// fileFunctions touch files. Each exists only for a note that was granted what it needs.
func fileFunctions() []builtin {
	return []builtin{
		{name: "open", needs: needsReadWrite, list: "(file &key direction element-type if-exists if-does-not-exist external-format)", doc: "A stream of a file's text.", named: func(c *Call, args Args) Value {
			return c.open(c.pathname(args.Get("file")), opening{args.Get("direction"), args.Get("if-exists"), args.Get("if-does-not-exist"), args.Get("element-type")})
		}},
		{name: "probe-file", needs: needsReadWrite, list: "(file)", doc: "The file's pathname without links, or nil if there is no such file.", one: func(c *Call, a Value) Value {
			p := c.pathname(a)
			if c.fileInfo(p) == nil {
				return Nil
			}
			return c.truename(p)
		}},
		{name: "truename", needs: needsReadWrite, list: "(file)", doc: "The file's pathname without links.", one: func(c *Call, a Value) Value {
			p := c.pathname(a)
			if c.fileInfo(p) == nil {
				return c.missingFile(p, nil, kwError)
			}
			return c.truename(p)
		}},
		{name: "directory", needs: needsRead, list: "(pattern &key resolve-symlinks)", doc: "The files that fit a pathname with wildcards.", named: func(c *Call, args Args) Value {
			return c.matchingFiles(c.merge(c.pathname(args.Get("pattern")), c.defaultPathname()))
		}},
		{name: "file-write-date", needs: needsReadWrite, list: "(file)", doc: "When the file was written last, as a universal time.", one: func(c *Call, a Value) Value {
			p := c.pathname(a)
			info := c.fileInfo(p)
			if info == nil {
				return c.missingFile(p, nil, kwError)
			}
			return Integer(info.ModTime().Unix() + universalEpoch)
		}},
		{name: "file-length", needs: needsReadWrite, list: "(stream)", doc: "The number of characters of a file that is open.", one: func(c *Call, a Value) Value {
			s := c.streamArgument(a)
			if s.kind == broadcastStream {
				if len(s.parts) == 0 {
					return Integer(0)
				}
				s = s.parts[len(s.parts)-1]
			}
			if s.file != nil {
				return count(s.file.base + s.length())
			}
			c.typeError(a, "FILE-STREAM")
			return nil
		}},
		{name: "delete-file", needs: needsWrite, list: "(file)", doc: "Delete a file.", one: func(c *Call, a Value) Value {
			p := c.pathname(a)
			c.change(p, c.located(p, kindWrite).remove)
			return T
		}},
		{name: "rename-file", needs: needsWrite, list: "(file new-name)", doc: "Give a file another name in what may be written.", many: true, two: func(c *Call, a, b Value) Value {
			p := c.pathname(a)
			to := c.merge(c.pathname(b), p)
			from, target := c.located(p, kindWrite), c.located(to, kindWrite)
			c.change(p, func() error { return from.rename(target) })
			return c.values(to, parsePathname(from.path()), parsePathname(target.path()))
		}},
		{name: "ensure-directories-exist", needs: needsWrite, list: "(file &key verbose)", doc: "Make the directory of a file, and those above it.", many: true, named: func(c *Call, args Args) Value {
			file := args.Get("file")

			p := c.pathname(file)
			directory := &Pathname{directory: p.directory, name: Nil, kind: Nil}
			at := c.located(directory, kindWrite)
			info, err := at.stat()
			if err != nil {
				c.fileError(p, err)
			}
			if info == nil {
				c.change(p, at.makeDirectories)
			}
			return c.values(file, Boolean(info == nil))
		}},
	}
}

// change does something to a file.
func (c *Call) change(p *Pathname, do func() error) {
	if err := c.environment.config.Access.change(c.ctx, do); err != nil {
		c.fileError(p, err)
	}
}

// truename is the pathname of a file that is there, without links.
func (c *Call) truename(p *Pathname) Value {
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
	if !p.isWild(p.name) && !p.isWild(p.kind) {
		if c.fileInfo(p) == nil {
			return Nil
		}
		return NewList(c.truename(p))
	}
	directory := &Pathname{directory: p.directory, name: Nil, kind: Nil}
	var list builder
	for _, entry := range c.listed(directory) {
		q := parsePathname(entry.Name())
		if entry.IsDir() || !c.matchPart(q.name, p.name) || !c.matchPart(q.kind, p.kind) {
			continue
		}
		list.add(c.merge(q, c.truename(directory).(*Pathname)))
	}
	return list.list()
}

// listed are the entries of a directory.
func (c *Call) listed(directory *Pathname) []fs.DirEntry {
	c.charge(64 * 1024)
	entries, err := c.lookedAt(directory).entries(maximumEntries)
	if err != nil {
		c.fileError(directory, err)
	}
	c.chargeMany(len(entries), 4*entryBytes)
	return entries
}

// fileMacros open a file for a body.
func fileMacros() []standardMacro {
	expand := func(spec Value, cp *compiler, body Value) Value {
		parts := cp.forms(spec)
		if len(parts) < 2 {
			cp.fail(programError, "malformed specification %s", sketch(spec, formLength))
		}
		abort := cp.gensym("ABORT")
		_, _, rest := cp.declarations(body, false)
		forms := append(declarationForms(body, rest), call(symUnwindProtect,
			call(standardSymbol("MULTIPLE-VALUE-PROG1"), callStar(symProgn, rest), call(symSetq, abort, Nil)),
			call(symWhen, parts[0], call(symClose, parts[0], kwAbort, abort))))
		opened := &Cons{Car: standardSymbol("OPEN"), Cdr: NewList(parts[1:]...)}
		return callStar(symLet, NewList(forms...), NewList(NewList(parts[0], opened), NewList(abort, T)))
	}
	return []standardMacro{
		{"with-open-file", "((stream file &rest options) &body body)", "Open a file and close it after body.", func(cp *compiler, form *Cons) Value {
			return expand(cp.arguments(form, 1, -1)[0], cp, form.Cdr.(*Cons).Cdr)
		}},
		{"uiop:with-input-file", "((stream file &rest options) &body body)", "Open a file for input and close it after body.", func(cp *compiler, form *Cons) Value {
			return expand(cp.arguments(form, 1, -1)[0], cp, form.Cdr.(*Cons).Cdr)
		}},
		{"uiop:with-output-file", "((stream file &rest options) &body body)", "Open a file for output and close it after body.", func(cp *compiler, form *Cons) Value {
			spec := cp.forms(cp.arguments(form, 1, -1)[0])
			return expand(NewList(append(spec, kwDirection, kwOutput)...), cp, form.Cdr.(*Cons).Cdr)
		}},
	}
}
