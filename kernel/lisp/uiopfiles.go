package lisp

import (
	"path/filepath"
	"strings"
)

// uiopFileFunctions are those of uiop that touch files and the environment.
func uiopFileFunctions() []builtin {
	variable := func(name, doc string, empty bool) builtin {
		return builtin{name: name, needs: needsVariable, list: "(name)", doc: doc, one: func(c *Call, a Value) Value {
			value, set, err := c.environment.config.Access.variable(c.ctx, c.name(a))
			if err != nil {
				c.fail(simpleError, "%v", err)
			}
			if !set || value == "" && !empty {
				return Nil
			}
			return c.text(value)
		}}
	}
	return append(append(uiopReading(), uiopLooking()...), []builtin{
		variable("uiop:getenv", "The value of an environment variable, or nil.", true),
		variable("uiop:getenvp", "The value of an environment variable that is set and not empty, or nil.", false),
		{name: "uiop:delete-file-if-exists", needs: needsWrite, list: "(file)", doc: "Delete a file if there is one.", one: func(c *Call, a Value) Value {
			if a == Nil {
				return Nil
			}
			p := c.pathname(a)
			at := c.located(p, kindWrite)
			info, err := at.stat()
			if err != nil {
				c.fileError(p, err)
			}
			if info == nil {
				return Nil
			}
			c.change(p, at.remove)
			return T
		}},
		{name: "uiop:copy-file", needs: needsWrite, list: "(from to)", doc: "Make a file with the text of another one, instead of the one that is there.", two: func(c *Call, a, b Value) Value {
			text := c.fileText(c.pathname(a))
			if stream, ok := c.openOutput(c.pathname(b), fileOutput, nil, kwSupersede, nil).(*Stream); ok {
				c.write(stream, text)
				c.closeStream(stream, false)
			}
			return b
		}},
		{name: "uiop:ensure-all-directories-exist", needs: needsWrite, list: "(files)", doc: "Make the directories of files, and those above them.", one: func(c *Call, a Value) Value {
			for _, file := range c.slice(a) {
				c.standard(standardSymbol("ENSURE-DIRECTORIES-EXIST"), file)
			}
			return Nil
		}},
		{name: "uiop:call-with-output-file", needs: needsWrite, list: "(file function &key element-type external-format if-exists if-does-not-exist)", doc: "Call a function with a stream that writes a file.", many: true, named: func(c *Call, args Args) Value {
			return c.calledWithFile(args, opening{kwOutput, args.Get("if-exists"), args.Get("if-does-not-exist"), args.Get("element-type")})
		}},
		{name: "uiop:getcwd", needs: needsReadWrite, list: "()", doc: "The directory that relative names are relative to.", call: func(c *Call, _ []Value) Value {
			path, err := c.environment.config.Access.absolute(".")
			if err != nil {
				c.fail(simpleError, "%v", err)
			}
			return parsePathname(path + "/")
		}},
	}...)
}

// uiopReading are the functions that read files.
func uiopReading() []builtin {
	// whole is a function of a file that does what slurp does with a stream.
	whole := func(name string, key *Symbol, doc, slurp string) builtin {
		option := strings.ToLower(key.name)
		return builtin{name: name, needs: needsRead, list: "(file &key external-format " + option + ")", doc: doc, many: true, named: func(c *Call, args Args) Value {
			more := []Value{newInput(c.fileText(c.pathname(args.Get("file"))))}
			if v := args.Get(option); v != nil {
				more = append(more, key, v)
			}
			return c.standard(c.environment.language.symbol("UIOP:"+slurp), more...)
		}}
	}
	return []builtin{
		whole("uiop:read-file-string", kwStripped, "The text of a file, without its last end of line if stripped.", "SLURP-STREAM-STRING"),
		whole("uiop:read-file-lines", kwCount, "The lines of a file, at most count.", "SLURP-STREAM-LINES"),
		whole("uiop:read-file-line", kwAt, "A line of a file, the first unless at says which.", "SLURP-STREAM-LINE"),
		whole("uiop:safe-read-file-line", kwAt, "A line of a file, the first unless at says which.", "SLURP-STREAM-LINE"),
		whole("uiop:read-file-forms", kwCount, "The forms of a file, at most count.", "SLURP-STREAM-FORMS"),
		whole("uiop:read-file-form", kwAt, "A form of a file, the first unless at says which, and what of it.", "SLURP-STREAM-FORM"),
		whole("uiop:safe-read-file-form", kwAt, "A form of a file, the first unless at says which, and what of it.", "SLURP-STREAM-FORM"),
		{name: "uiop:call-with-input-file", needs: needsRead, list: "(file function &key element-type external-format if-does-not-exist)", doc: "Call a function with a stream of a file.", many: true, named: func(c *Call, args Args) Value {
			return c.calledWithFile(args, opening{kwInput, nil, args.Get("if-does-not-exist"), args.Get("element-type")})
		}},
	}
}

// calledWithFile opens a file, calls a function with the stream and closes it; what was
// written is not stored when the function is left otherwise.
func (c *Call) calledWithFile(args Args, o opening) Value {
	function := args.Get("function")
	stream, ok := c.open(c.pathname(args.Get("file")), o).(*Stream)
	if !ok {
		return c.funcall(function, []Value{Nil})
	}
	done := false
	defer func() {
		if !done {
			stream.closed = true
		}
	}()
	v := c.funcall(function, []Value{stream})
	done = true
	c.closeStream(stream, false)
	return v
}

// uiopLooking are the functions that look for files.
func uiopLooking() []builtin {
	found := func(name, list, doc string, fits func(c *Call, p *Pathname) bool) builtin {
		return builtin{name: name, needs: needsReadWrite, list: list, doc: doc, call: func(c *Call, args []Value) Value {
			if args[0] == Nil {
				return Nil
			}
			if p := c.pathname(args[0]); fits(c, p) {
				return c.truename(p)
			}
			return Nil
		}}
	}
	directory := func(c *Call, p *Pathname) bool {
		info := c.fileInfo(directoryForm(p))
		return info != nil && info.IsDir()
	}
	exists := func(c *Call, p *Pathname) bool { return c.fileInfo(p) != nil }
	return []builtin{
		found("uiop:file-exists-p", "(file)", "The file's pathname if there is such a file that is no directory.", func(c *Call, p *Pathname) bool {
			info := c.fileInfo(p)
			return info != nil && !info.IsDir()
		}),
		{name: "uiop:directory-exists-p", needs: needsReadWrite, list: "(directory)", doc: "The directory's pathname if there is such a directory.", one: func(c *Call, a Value) Value {
			if a == Nil || !directory(c, c.pathname(a)) {
				return Nil
			}
			return c.truename(directoryForm(c.pathname(a)))
		}},
		{name: "uiop:probe-file*", needs: needsReadWrite, list: "(file &key truename)", doc: "The file's pathname if there is such a file; without links if truename is true.", named: func(c *Call, args Args) Value {
			file := args.Get("file")

			if file == Nil || !exists(c, c.pathname(file)) {
				return Nil
			}
			p := c.merge(c.pathname(file), c.defaultPathname())
			if args.True("truename") {
				return c.truename(p)
			}
			return p
		}},
		found("uiop:truename*", "(file)", "The file's pathname without links if there is such a file.", exists),
		{name: "uiop:safe-file-write-date", needs: needsReadWrite, list: "(file)", doc: "When the file was written last, as a universal time, or nil.", one: func(c *Call, a Value) Value {
			if a == Nil {
				return Nil
			}
			if info := c.fileInfo(c.pathname(a)); info != nil {
				return Integer(info.ModTime().Unix() + universalEpoch)
			}
			return Nil
		}},
		{name: "uiop:directory-files", needs: needsRead, list: "(directory &optional pattern)", doc: "The files in a directory, those that fit a pattern such as *.txt if one is given.", named: func(c *Call, args Args) Value {
			pattern := args.Get("pattern")
			return c.entriesOf(args.Get("directory"), false, func(p *Pathname) bool {
				if !given(pattern) {
					return true
				}
				wanted := c.pathname(pattern)
				return c.matchPart(p.name, wanted.name) && c.matchPart(p.kind, wanted.kind)
			})
		}},
		{name: "uiop:subdirectories", needs: needsRead, list: "(directory)", doc: "The directories in a directory.", one: func(c *Call, a Value) Value {
			return c.entriesOf(a, true, func(*Pathname) bool { return true })
		}},
		{name: "uiop:collect-sub*directories", needs: needsRead, list: "(directory collect recurse collector)", doc: "Call collector with a directory and those below that functions say are to be collected and gone into.", call: func(c *Call, args []Value) Value {
			c.walkDirectories(directoryForm(c.pathname(args[0])), args[1:])
			return Nil
		}},
	}
}

// entriesOf are the files or directories in a directory that fit.
func (c *Call) entriesOf(v Value, directories bool, fits func(p *Pathname) bool) Value {
	directory := directoryForm(c.pathname(v))
	if c.fileInfo(directory) == nil {
		return Nil
	}
	base, _ := c.truename(directory).(*Pathname)
	var list builder
	for _, entry := range c.listed(directory) {
		if entry.IsDir() != directories || !fits(parsePathname(entry.Name())) {
			continue
		}
		suffix := map[bool]string{true: "/"}[directories]
		c.charge(closureBytes)
		list.add(parsePathname(filepath.Join(base.plain(), entry.Name()) + suffix))
	}
	return list.list()
}

// walkDirectories goes through directories by the functions of uiop:collect-sub*directories.
func (c *Call) walkDirectories(directory *Pathname, functions []Value) {
	c.descend(8)
	defer c.ascend(8)
	if single(c.funcall(functions[0], []Value{directory})) != Nil {
		c.funcall(functions[2], []Value{directory})
	}
	for _, below := range c.slice(c.entriesOf(directory, true, func(*Pathname) bool { return true })) {
		if single(c.funcall(functions[1], []Value{below})) != Nil {
			c.walkDirectories(below.(*Pathname), functions)
		}
	}
}
