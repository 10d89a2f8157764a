package lisp

// strFileFunctions are those of str that touch files.
func strFileFunctions() []builtin {
	return []builtin{
		{name: "str:from-file", needs: needsRead, list: "(file &key external-format)", doc: "The text of a file.", named: func(c *Call, args Args) Value {
			return runesString(c.fileText(c.pathname(args.Get("file"))))
		}},
		{name: "str:to-file", needs: needsWrite, list: "(file string &key if-exists if-does-not-exist)", doc: "Make a string the text of a file; the string.", named: func(c *Call, args Args) Value {
			ifExists := args.Get("if-exists")

			text := c.str(args.Get("string"))
			if ifExists == nil {
				ifExists = kwSupersede
			}
			if stream, ok := c.openOutput(c.pathname(args.Get("file")), fileOutput, nil, ifExists, args.Get("if-does-not-exist")).(*Stream); ok {
				c.write(stream, text.chars)
				c.closeStream(stream, false)
			}
			return text
		}},
	}
}
