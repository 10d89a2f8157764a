package inert

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isVerbatim reports whether a block of that kind holds text that is not Org.
func isVerbatim(kind string) bool {
	return kind == "src" || kind == "example" || kind == "export" || kind == "comment"
}

// runsAtExport reports whether an export runs the blocks of a language, or takes their text for its
// own, unless they say ":exports code".
func runsAtExport(language string) bool { return language == "dot" || language == "latex" }

// begin writes a line "#+begin_KIND …".
func (w *Writer) begin(l string, indent int) {
	from := indent + len("#+begin_")
	kind, rest := cutKind(l[from:])
	at := len(l) - len(rest) + indentation(rest)
	word, _ := cutWord(l[at:])
	s := scan{opaque: true, opened: w.paragraph} // without its end the line is text
	if word == "" && kind == "" {
		w.scanned(l, s)
		w.paragraph = w.scan.opened
		return
	}
	name := kind // an exporter makes an environment of it
	if end := strings.IndexFunc(kind, func(r rune) bool { return !unicode.IsLetter(r) && r != '*' }); end >= 0 {
		name = kind[:end]
	}
	if strings.HasPrefix(kind, "org-agent") || rules.heldTeX(name) || isVerbatim(name) && name != kind {
		s.marks = []mark{{indent + 1, Language, "a block named " + kind}}
		w.scanned(l, s)
		w.paragraph = w.scan.opened
		return
	}
	w.verse = w.verse || kind == "verse"
	stays := kind
	switch {
	case kind == "src" && rules.listedLanguage(strings.ToLower(word)) && !rules.listedLanguage(word):
		// In other letters the function may be another one.
		l = l[:at] + strings.ToLower(word) + l[at+len(word):]
	case kind == "src" && isLanguage(word) && !rules.listedLanguage(word):
		// Without the mark Org would highlight the example by that name too.
		stays = "example"
		l, at = renamed(l, from, len(kind), stays), at+len(stays)-len(kind)
		s.marks = []mark{{at, Language, "the language " + word}}
	case kind == "export" && word != "" && !strings.HasPrefix(word, Mark), isLanguage(word) && !rules.listedLanguage(word):
		s.marks = []mark{{at, Language, "the word " + word + " behind #+begin_" + kind}}
	}
	if kind == "src" || kind == "example" && (len(s.marks) > 0 || strings.HasPrefix(word, Mark)) {
		if isLanguage(word) || strings.HasPrefix(word, Mark) {
			at += len(word)
		}
		marks, exports := argumentMarks(l, at)
		s.marks = append(s.marks, marks...)
		if runsAtExport(strings.ToLower(word)) && stays == "src" && !exports {
			l = strings.TrimRight(l, " \t") + " :exports code"
		}
	}
	if isVerbatim(kind) {
		w.block, w.blockStays = kind, stays
	}
	w.scanned(l, s)
	if w.paragraph = w.scan.opened; w.block != "" && !w.doubtful() {
		w.endParagraph() // a verbatim block has its end
	}
}

// cutKind cuts the kind of a block, in lower case, from what follows. What Emacs takes for a blank
// ends it.
func cutKind(text string) (kind, rest string) {
	end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x2000 && r <= 0x200b })
	if end < 0 {
		end = len(text)
	}
	return strings.ToLower(text[:end]), text[end:]
}

// isLanguage reports whether a word behind "#+begin_src" may be the name of a language for Org. No
// function's name begins like a switch, an argument, or the mark.
func isLanguage(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return word != "" && !strings.ContainsRune(`:-+"`, r) && !strings.HasPrefix(word, Mark)
}

// renamed replaces the kind of a block that stands at an offset, in the case that it is written in.
func renamed(l string, at, n int, kind string) string {
	if unicode.IsUpper(rune(l[at])) {
		kind = strings.ToUpper(kind)
	}
	return l[:at] + kind + l[at+n:]
}

// blockLine writes a line of a verbatim block, or its end. What would end the block or the
// conversation's section early gets a comma, which Org takes off.
func (w *Writer) blockLine(l string) {
	indent := indentation(l)
	rest := l[indent:]
	if strings.HasPrefix(rest, "#+") && strings.EqualFold(strings.TrimRight(rest, " \t"), "#+end_"+w.block) {
		if w.block != w.blockStays {
			l = renamed(l, indent+len("#+end_"), len(w.block), w.blockStays)
		}
		w.block = ""
		w.out.WriteString(l)
		return
	}
	if strings.HasPrefix(rest, "*") || strings.HasPrefix(rest, "#+") {
		l = l[:indent] + "," + rest
	}
	s := scan{raw: true, code: w.blockStays == "src"}
	if w.doubtful() {
		s = scan{opaque: true, opened: w.paragraph, marks: formulas(l)}
		if rest != "" && rest[0] != '|' {
			s.marks = nil
		}
	}
	if !s.code {
		s.marks = append(s.marks, sexps(l)...)
	}
	w.scanned(l, s)
	if w.doubtful() {
		w.paragraph = w.scan.opened
	}
}
