package lisp

import "io/fs"

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
			c.change(p, c.located(p, kindWrite).remove)
			return T
		}},
		{Name: "rename-file", Needs: NeedsWrite, LambdaList: "(file new-name)", Doc: "Give a file another name in what may be written.", Many: true, Two: func(c *Call, a, b Value) Value {
			p := c.Pathname(a)
			to := c.MergePathname(c.Pathname(b), p)
			from, target := c.located(p, kindWrite), c.located(to, kindWrite)
			c.change(p, func() error { return from.rename(target) })
			return c.Values(to, ParsePathname(from.path()), ParsePathname(target.path()))
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
	if err := c.environment.config.Access.change(c.ctx, do); err != nil {
		c.fileError(p, err)
	}
}

// Truename is the pathname of a file that is there, without links.
func (c *Call) Truename(p *Pathname) Value {
	at := c.lookedAt(p)
	text := at.path()
	if info, err := at.stat(); err == nil && info != nil && info.IsDir() {
		text += "/"
	}
	return ParsePathname(text)
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
		q := ParsePathname(entry.Name())
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
