package lisp

// strFileFunctions are those of str that touch files.
func strFileFunctions() []builtin {
	return []builtin{
		{name: "str:from-file", needs: needsRead, list: "(file &key external-format)", doc: "The text of a file.", call: func(c *Call, args []Value) Value {
			c.keywords(args[1:], kwFormat)
			return runesString(c.fileText(c.pathname(args[0])))
		}},
		{name: "str:to-file", needs: needsWrite, list: "(file string &key if-exists if-does-not-exist)", doc: "Make a string the text of a file; the string.", call: func(c *Call, args []Value) Value {
			k := c.keywords(args[2:], kwIfExists, kwIfMissing)
			text := c.str(args[1])
			if k[0] == nil {
				k[0] = kwSupersede
			}
			if stream, ok := c.openOutput(c.pathname(args[0]), fileOutput, nil, k[0], k[1]).(*Stream); ok {
				c.write(stream, text.chars)
				c.closeStream(stream, false)
			}
			return text
		}},
	}
}
