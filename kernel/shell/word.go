package shell

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wordOf returns what is known of a word after the shell's expansions.
func (r *reader) wordOf(w *syntax.Word) Word {
	if w == nil {
		return Word{}
	}
	if len(w.Parts) == 1 {
		if lit, ok := w.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(lit.Value, `\*?[{~`) {
			return Word{Text: lit.Value} // nearly all words are such
		}
	}
	var b strings.Builder
	kind, home := Literal, false
	for i, part := range w.Parts {
		text, of := partOf(part, false)
		if lit, ok := part.(*syntax.Lit); ok && i == 0 && strings.HasPrefix(lit.Value, "~") {
			if rest := lit.Value[1:]; rest == "" && len(w.Parts) > 1 || rest != "" && rest[0] != '/' {
				of = max(of, One) // another user's directory
			}
			home = true
		}
		kind = max(kind, of)
		b.WriteString(text)
	}
	if becomesNumber(w) {
		return Word{Text: r.written(w), Kind: One, Number: true}
	}
	if kind != Literal {
		starts, pattern := beginning(w)
		return Word{Text: r.written(w), Kind: kind, Starts: starts, Pattern: pattern, Among: r.loopWords(w)}
	}
	return Word{Text: b.String(), Home: home}
}

// beginning returns the text with which all words begin that a word can become. pattern is true if nothing
// in the word but names of files is not known.
func beginning(w *syntax.Word) (starts string, pattern bool) {
	pattern, known := true, true
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			at := strings.IndexAny(p.Value, `\*?[{~`)
			if at < 0 {
				at = len(p.Value)
			} else if p.Value[at] != '*' && p.Value[at] != '?' && p.Value[at] != '[' {
				pattern = false
			}
			if known {
				starts += p.Value[:at]
			}
			known = known && at == len(p.Value)
		case *syntax.SglQuoted, *syntax.DblQuoted:
			pattern = false
			text, kind := partOf(p, false)
			if kind == Many {
				return "", false // its parts are words of their own
			}
			if known && kind == Literal {
				starts += text
			}
			known = known && kind == Literal
		default:
			return "", false
		}
	}
	return starts, pattern
}

// partOf returns the text of a part of a word, and how much of it is known.
func partOf(part syntax.WordPart, quoted bool) (text string, kind WordKind) {
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			return unescape(p.Value, "$`\"\\\n"), Literal
		}
		return bare(p.Value)
	case *syntax.SglQuoted:
		if p.Dollar && strings.Contains(p.Value, `\`) {
			return "", One
		}
		return p.Value, Literal
	case *syntax.DblQuoted:
		var b strings.Builder
		if p.Dollar {
			kind = One // the text is translated
		}
		for _, inner := range p.Parts {
			text, of := partOf(inner, true)
			kind = max(kind, of)
			b.WriteString(text)
		}
		return b.String(), kind
	case *syntax.ParamExp:
		if quoted && !spreads(p) {
			return "", One
		}
		return "", Many
	}
	if quoted {
		return "", One
	}
	return "", Many
}

// spreads reports whether an expansion becomes any number of words even in quotes.
func spreads(p *syntax.ParamExp) bool {
	if p.Param != nil && p.Param.Value == "@" || p.Names != 0 || p.Excl || p.Param == nil || p.Exp != nil || p.Repl != nil || p.Slice != nil {
		return true
	}
	return p.Index != nil
}

// bare returns the text of a part that is not quoted. A pattern for file names, or for several
// words, is unknown.
func bare(value string) (text string, kind WordKind) {
	if value == "[" {
		return value, Literal // the command
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		switch c := value[i]; c {
		case '\\':
			if i+1 == len(value) {
				return "", Many // the text ends there
			}
			if i++; value[i] != '\n' {
				b.WriteByte(value[i])
			}
		case '*', '?', '[':
			return "", Many
		case '{':
			braces := onlyBraces.FindString(value[i:])
			if braces == "" {
				return "", Many
			}
			b.WriteString(braces)
			i += len(braces) - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), Literal
}

// onlyBraces matches braces that stand for themselves in every shell, as in HEAD@{1}.
var onlyBraces = regexp.MustCompile(`^\{[A-Za-z0-9_]*\}`)

// unescape removes the backslashes before these characters. A backslash before a line end is
// removed together with the line end.
func unescape(value, special string) string {
	if !strings.Contains(value, `\`) {
		return value
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] == '\\' && i+1 < len(value) && strings.IndexByte(special, value[i+1]) >= 0 {
			if i++; value[i] == '\n' {
				continue
			}
		}
		b.WriteByte(value[i])
	}
	return b.String()
}

// written returns a node as it stands in the text.
func (r *reader) written(node syntax.Node) string {
	from, to := int(node.Pos().Offset()), int(node.End().Offset())
	if from > to || to > len(r.source) {
		return "…"
	}
	return r.source[from:to]
}

// heredoc returns the text of a here-document, and whether it is known.
func heredoc(delimiter, text *syntax.Word) (string, bool) {
	if text == nil {
		return "", true
	}
	quoted := len(delimiter.Parts) != 1
	if !quoted {
		lit, bare := delimiter.Parts[0].(*syntax.Lit)
		quoted = !bare || strings.Contains(lit.Value, `\`)
	}
	var b strings.Builder
	for _, part := range text.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return "", false
		}
		if quoted {
			b.WriteString(lit.Value)
		} else {
			b.WriteString(unescape(lit.Value, "$`\\\n"))
		}
	}
	return b.String(), true
}

// literals returns the texts of words. The second result is true if all are known.
func literals(words []Word) ([]string, bool) {
	texts := make([]string, len(words))
	for i, w := range words {
		if w.Kind != Literal || w.Home {
			return nil, false
		}
		texts[i] = w.Text
	}
	return texts, true
}
