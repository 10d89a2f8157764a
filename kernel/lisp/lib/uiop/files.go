package uiop

import (
	"path/filepath"
	"strings"

	"org-agent/kernel/lisp"
)

// uiopFileFunctions are those of uiop that touch files and the environment.
func uiopFileFunctions() []lisp.Builtin {
	variable := func(name, doc string, empty bool) lisp.Builtin {
		return lisp.Builtin{Name: name, Needs: lisp.NeedsVariable, LambdaList: "(name)", Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			value, set := c.EnvironmentVariable(c.Name(a))
			if !set || value == "" && !empty {
				return lisp.Nil
			}
			return c.Text(value)
		}}
	}
	return append(append(uiopReading(), uiopLooking()...), []lisp.Builtin{
		variable("getenv", "The value of an environment variable, or nil.", true),
		variable("getenvp", "The value of an environment variable that is set and not empty, or nil.", false),
		{Name: "delete-file-if-exists", Needs: lisp.NeedsWrite, LambdaList: "(file)", Doc: "Delete a file if there is one.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			if a == lisp.Nil {
				return lisp.Nil
			}
			return lisp.Boolean(c.DeleteFile(c.Pathname(a)))
		}},
		{Name: "copy-file", Needs: lisp.NeedsWrite, LambdaList: "(from to)", Doc: "Make a file with the text of another one, instead of the one that is there.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			text := c.FileText(c.Pathname(a))
			if stream, ok := c.Open(c.Pathname(b), lisp.Opening{Direction: lisp.Keyword("OUTPUT"), IfExists: lisp.Keyword("SUPERSEDE")}).(*lisp.Stream); ok {
				c.Write(stream, text)
				c.CloseStream(stream, false)
			}
			return b
		}},
		{Name: "ensure-all-directories-exist", Needs: lisp.NeedsWrite, LambdaList: "(files)", Doc: "Make the directories of files, and those above them.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			for _, file := range c.Slice(a) {
				c.Standard("ENSURE-DIRECTORIES-EXIST", file)
			}
			return lisp.Nil
		}},
		{Name: "call-with-output-file", Needs: lisp.NeedsWrite, LambdaList: "(file function &key element-type external-format if-exists if-does-not-exist)", Doc: "Call a function with a stream that writes a file.", Many: true, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return calledWithFile(c, args, lisp.Opening{Direction: lisp.Keyword("OUTPUT"), IfExists: args.Get("if-exists"), IfMissing: args.Get("if-does-not-exist"), ElementType: args.Get("element-type")})
		}},
		{Name: "getcwd", Needs: lisp.NeedsReadWrite, LambdaList: "()", Doc: "The directory that relative names are relative to.", Call: func(c *lisp.Call, _ []lisp.Value) lisp.Value {
			return c.ParsePathname(c.WorkingDirectory() + "/")
		}},
	}...)
}

// uiopReading are the functions that read files.
func uiopReading() []lisp.Builtin {
	// whole is a function of a file that does what slurp does with a stream.
	whole := func(name string, key *lisp.Symbol, doc, slurp string) lisp.Builtin {
		option := strings.ToLower(key.Name())
		return lisp.Builtin{Name: name, Needs: lisp.NeedsRead, LambdaList: "(file &key external-format " + option + ")", Doc: doc, Many: true, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			more := []lisp.Value{c.NewInput(c.FileText(c.Pathname(args.Get("file"))))}
			if v := args.Get(option); v != nil {
				more = append(more, key, v)
			}
			return c.Funcall(c.Lookup("UIOP:"+slurp), more...)
		}}
	}
	return []lisp.Builtin{
		whole("read-file-string", kwStripped, "The text of a file, without its last end of line if stripped.", "SLURP-STREAM-STRING"),
		whole("read-file-lines", lisp.Keyword("COUNT"), "The lines of a file, at most count.", "SLURP-STREAM-LINES"),
		whole("read-file-line", kwAt, "A line of a file, the first unless at says which.", "SLURP-STREAM-LINE"),
		whole("safe-read-file-line", kwAt, "A line of a file, the first unless at says which.", "SLURP-STREAM-LINE"),
		whole("read-file-forms", lisp.Keyword("COUNT"), "The forms of a file, at most count.", "SLURP-STREAM-FORMS"),
		whole("read-file-form", kwAt, "A form of a file, the first unless at says which, and what of it.", "SLURP-STREAM-FORM"),
		whole("safe-read-file-form", kwAt, "A form of a file, the first unless at says which, and what of it.", "SLURP-STREAM-FORM"),
		{Name: "call-with-input-file", Needs: lisp.NeedsRead, LambdaList: "(file function &key element-type external-format if-does-not-exist)", Doc: "Call a function with a stream of a file.", Many: true, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return calledWithFile(c, args, lisp.Opening{Direction: lisp.Keyword("INPUT"), IfExists: nil, IfMissing: args.Get("if-does-not-exist"), ElementType: args.Get("element-type")})
		}},
	}
}

// calledWithFile opens a file, calls a function with the stream and closes it; what was
// written is not stored when the function is left otherwise.
func calledWithFile(c *lisp.Call, args lisp.Args, o lisp.Opening) lisp.Value {
	function := args.Get("function")
	stream, ok := c.Open(c.Pathname(args.Get("file")), o).(*lisp.Stream)
	if !ok {
		return c.Funcall(function, lisp.Nil)
	}
	done := false
	defer func() {
		if !done {
			stream.Drop()
		}
	}()
	v := c.Funcall(function, stream)
	done = true
	c.CloseStream(stream, false)
	return v
}

// uiopLooking are the functions that look for files.
func uiopLooking() []lisp.Builtin {
	found := func(name, list, doc string, fits func(c *lisp.Call, p *lisp.Pathname) bool) lisp.Builtin {
		return lisp.Builtin{Name: name, Needs: lisp.NeedsReadWrite, LambdaList: list, Doc: doc, Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
			if args[0] == lisp.Nil {
				return lisp.Nil
			}
			if p := c.Pathname(args[0]); fits(c, p) {
				return c.Truename(p)
			}
			return lisp.Nil
		}}
	}
	directory := func(c *lisp.Call, p *lisp.Pathname) bool {
		info := c.FileInfo(directoryForm(c, p))
		return info != nil && info.IsDir()
	}
	exists := func(c *lisp.Call, p *lisp.Pathname) bool { return c.FileInfo(p) != nil }
	return []lisp.Builtin{
		found("file-exists-p", "(file)", "The file's pathname if there is such a file that is no directory.", func(c *lisp.Call, p *lisp.Pathname) bool {
			info := c.FileInfo(p)
			return info != nil && !info.IsDir()
		}),
		{Name: "directory-exists-p", Needs: lisp.NeedsReadWrite, LambdaList: "(directory)", Doc: "The directory's pathname if there is such a directory.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			if a == lisp.Nil || !directory(c, c.Pathname(a)) {
				return lisp.Nil
			}
			return c.Truename(directoryForm(c, c.Pathname(a)))
		}},
		{Name: "probe-file*", Needs: lisp.NeedsReadWrite, LambdaList: "(file &key truename)", Doc: "The file's pathname if there is such a file; without links if truename is true.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			file := args.Get("file")
			if file == lisp.Nil || !exists(c, c.Pathname(file)) {
				return lisp.Nil
			}
			p := c.MergePathname(c.Pathname(file), c.DefaultPathname())
			if args.True("truename") {
				return c.Truename(p)
			}
			return p
		}},
		found("truename*", "(file)", "The file's pathname without links if there is such a file.", exists),
		{Name: "safe-file-write-date", Needs: lisp.NeedsReadWrite, LambdaList: "(file)", Doc: "When the file was written last, as a universal time, or nil.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			if a == lisp.Nil {
				return lisp.Nil
			}
			if info := c.FileInfo(c.Pathname(a)); info != nil {
				return lisp.Integer(info.ModTime().Unix() + lisp.UniversalEpoch)
			}
			return lisp.Nil
		}},
		{Name: "directory-files", Needs: lisp.NeedsRead, LambdaList: "(directory &optional pattern)", Doc: "The files in a directory, those that fit a pattern such as *.txt if one is given.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			pattern := args.Get("pattern")
			return entriesOf(c, args.Get("directory"), false, func(p *lisp.Pathname) bool {
				if !lisp.Given(pattern) {
					return true
				}
				wanted := c.Pathname(pattern)
				return c.MatchPart(p.Name, wanted.Name) && c.MatchPart(p.Type, wanted.Type)
			})
		}},
		{Name: "subdirectories", Needs: lisp.NeedsRead, LambdaList: "(directory)", Doc: "The directories in a directory.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			return entriesOf(c, a, true, func(*lisp.Pathname) bool { return true })
		}},
		{Name: "collect-sub*directories", Needs: lisp.NeedsRead, LambdaList: "(directory collect recurse collector)", Doc: "Call collector with a directory and those below that functions say are to be collected and gone into.", Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
			walkDirectories(c, directoryForm(c, c.Pathname(args[0])), args[1:])
			return lisp.Nil
		}},
	}
}

// entriesOf are the files or directories in a directory that fit.
func entriesOf(c *lisp.Call, v lisp.Value, directories bool, fits func(p *lisp.Pathname) bool) lisp.Value {
	directory := directoryForm(c, c.Pathname(v))
	if c.FileInfo(directory) == nil {
		return lisp.Nil
	}
	base, _ := c.Truename(directory).(*lisp.Pathname)
	list := lisp.NewListBuilder(c)
	for _, entry := range c.ListDirectory(directory) {
		if entry.IsDir() != directories || !fits(c.ParsePathname(entry.Name())) {
			continue
		}
		suffix := map[bool]string{true: "/"}[directories]
		list.Add(c.ParsePathname(filepath.Join(c.Plain(base), entry.Name()) + suffix))
	}
	return list.List()
}

// walkDirectories goes through directories by the functions of uiop:collect-sub*directories.
func walkDirectories(c *lisp.Call, directory *lisp.Pathname, functions []lisp.Value) {
	c.Descend(8)
	defer c.Ascend(8)
	if lisp.Single(c.Funcall(functions[0], directory)) != lisp.Nil {
		c.Funcall(functions[2], directory)
	}
	for _, below := range c.Slice(entriesOf(c, directory, true, func(*lisp.Pathname) bool { return true })) {
		if lisp.Single(c.Funcall(functions[1], below)) != lisp.Nil {
			walkDirectories(c, below.(*lisp.Pathname), functions)
		}
	}
}
