package str

import (
	"org-agent/kernel/lisp"
)

// strFileFunctions are those of str that touch files.
func strFileFunctions() []lisp.Builtin {
	return []lisp.Builtin{
		{Name: "from-file", Needs: lisp.NeedsRead, LambdaList: "(file &key external-format)", Doc: "The text of a file.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return c.StringOf(c.FileText(c.Pathname(args.Get("file"))))
		}},
		{Name: "to-file", Needs: lisp.NeedsWrite, LambdaList: "(file string &key if-exists if-does-not-exist)", Doc: "Make a string the text of a file; the string.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			ifExists := args.Get("if-exists")

			text := c.TakeString(args.Get("string"))
			if ifExists == nil {
				ifExists = lisp.Keyword("SUPERSEDE")
			}
			if stream, ok := c.Open(c.Pathname(args.Get("file")), lisp.Opening{Direction: lisp.Keyword("OUTPUT"), IfExists: ifExists, IfMissing: args.Get("if-does-not-exist"), ElementType: nil}).(*lisp.Stream); ok {
				c.Write(stream, text.Runes())
				c.CloseStream(stream, false)
			}
			return text
		}},
	}
}
