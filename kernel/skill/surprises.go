package skill

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"org-agent/kernel/org"
	"org-agent/kernel/suggest"
)

// chatPriority is the priority of the shipped skill that answers every message of a person.
const chatPriority = 50

// blockArguments are the header arguments that a block of a note may have: ours, and those of Org.
var (
	ourArguments   = []string{"test", "criterion", "hook", "tool", "tangle", "noweb"}
	blockArguments = append([]string{
		"cache", "cmdline", "colnames", "comments", "dir", "epilogue", "eval", "exports", "file", "file-desc", "file-ext", "file-mode", "hlines",
		"lexical", "mkdirp", "no-expand", "noweb-prefix", "noweb-ref", "noweb-sep", "output-dir", "package", "padline", "post", "prologue",
		"results", "rownames", "sep", "session", "shebang", "tangle-mode", "var", "wrap",
	}, ourArguments...)
	otherLisps   = []string{"emacs-lisp", "elisp", "picolisp", "newlisp", "list", "islisp"}
	noteKeywords = []string{"CAPABILITIES", "DEPENDS_ON", "DESCRIPTION", "TITLE", "VERSION"}
	orgKeywords  = []string{"OPTIONS", "PROPERTY", "CATEGORY", "AUTHOR", "DATE", "STARTUP", "TAGS", "FILETAGS", "TODO", "NAME", "HEADER", "SETUPFILE", "SUBTITLE", "SEQ_TODO", "CAPTION", "LINK"}
)

// surprise adds a warning that only a check of the note tells: the note is in order, and probably not what
// its author means.
func (n *Note) surprise(line int, format string, arguments ...any) {
	if len(n.surprises) < maximumDiagnostics {
		n.surprises = append(n.surprises, Diagnostic{File: n.File, Line: line, Column: 1, Warning: true, Message: fmt.Sprintf(format, arguments...)})
	}
}

// warnOfBlocks warns of what is written so that it has no effect: header arguments, values, languages
// and keywords that are misspelt.
func (n *Note) warnOfBlocks(doc *org.Document) {
	for _, b := range doc.Blocks() {
		if b.Kind != "src" || b.Heading.Hidden() {
			continue
		}
		lisp := strings.EqualFold(b.Language, "lisp") || strings.EqualFold(b.Language, "common-lisp")
		if near := suggest.Of(strings.ToLower(b.Language), []string{"lisp", "common-lisp"}); near != "" && !lisp && !slices.Contains(otherLisps, strings.ToLower(b.Language)) {
			n.surprise(b.Line, "a block of the language %s is not loaded; did you mean %s?", b.Language, near)
		}
		if !lisp {
			continue
		}
		for _, a := range b.HeaderArgs() {
			n.warnOfArgument(a, b.Line)
		}
	}
	for _, k := range doc.Keywords {
		near := suggest.Of(k.Key, noteKeywords)
		if near == "" || slices.Contains(noteKeywords, k.Key) || slices.Contains(orgKeywords, k.Key) {
			continue
		}
		n.surprise(k.Line, "#+%s means nothing to a note; did you mean #+%s?", k.Key, near)
	}
}

func (n *Note) warnOfArgument(a org.HeaderArgument, line int) {
	if a.Line > 0 {
		line = a.Line
	}
	key := strings.ToLower(a.Key)
	if !slices.Contains(blockArguments, a.Key) {
		if near := suggest.Of(key, ourArguments); near != "" {
			n.surprise(line, "the header argument :%s has no effect; did you mean :%s?", a.Key, near)
		}
		return
	}
	value := strings.ToLower(a.Value)
	if a.Key == "test" && value != "yes" && value != "no" && value != "nil" {
		n.surprise(line, ":test %s makes no test of the block; write :test yes", a.Value)
	}
}

// warnOfStrings warns of backslashes in strings that the reader drops, once for each line.
func (n *Note) warnOfStrings() {
	for i, b := range n.blocks {
		last := 0
		for _, lost := range lostEscapes(b.Body) {
			if line, _ := n.blocks[i].Position(lost.line, 1); line != last {
				last = line
				n.surprise(line, `the string has \%[1]c, which Lisp reads as %[1]c; write \\%[1]c for a backslash`, lost.character)
			}
		}
	}
}

// lostEscape is a backslash in a string of Lisp before a character that needs none.
type lostEscape struct {
	line      int
	character rune
}

// lostEscapes finds the backslashes that the reader drops in strings. It skips comments, characters and
// symbols in bars.
func lostEscapes(code string) (found []lostEscape) {
	line, text := 1, []rune(code)
	var closer string // of what is being read: "", or the end of a string, a symbol or a comment
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\n' {
			line++
		}
		next := rune(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch {
		case closer == `"` || closer == "|":
			if c == '\\' {
				if closer == `"` && !strings.ContainsRune("\"\\ntr\n\x00", next) {
					found = append(found, lostEscape{line, next})
				}
				if i++; next == '\n' {
					line++
				}
			} else if string(c) == closer {
				closer = ""
			}
		case closer == "\n":
			if c == '\n' {
				closer = ""
			}
		case closer == "|#":
			if c == '|' && next == '#' {
				closer, i = "", i+1
			}
		case c == '#' && next == '\\':
			i += 2
		case c == '#' && next == '|':
			closer, i = "|#", i+1
		case c == '"' || c == '|':
			closer = string(c)
		case c == ';':
			closer = "\n"
		case c == '\\':
			i++
		}
	}
	return found
}

// comparesMessages matches code that looks for the messages of a person.
var comparesMessages = regexp.MustCompile(`(?i)\((eq|eql|equal|member|case|ecase)\b[^"]{0,120}:chat-message`)

// warnOfPriorities warns of skills that look at the messages of a person and come after the chat, which
// answers all of them.
func (n *Note) warnOfPriorities() {
	if n.options.Shipped || !slices.ContainsFunc(n.blocks, func(b org.SkillBlock) bool { return !b.Test && comparesMessages.MatchString(b.Body) }) {
		return
	}
	for _, k := range n.skills {
		if k.trigger != nil && !k.catchAll && k.neuro != nil && k.Priority < chatPriority {
			n.surprise(k.line, "the skill %s has the priority %d and never gets a message of a person, because the shipped chat has %d and takes them all: give it more", k.Name, k.Priority, chatPriority)
		}
	}
}
