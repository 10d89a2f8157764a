package ppcre

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"org-agent/kernel/lisp"
)

// class reads a class of characters behind its bracket: a list of characters, ranges
// and names of classes.
func (r *patternReader) class() lisp.Value {
	start, kind := r.pos, kwCharClass
	if r.peek() == '^' {
		r.pos++
		kind = kwInvertedCharClass
	}
	items := []lisp.Value{kind}
	var last lisp.Value // a character that a hyphen can make the beginning of a range
	hyphen := false     // such a hyphen was seen
	add := func(item lisp.Value) {
		if hyphen && last != nil {
			items[len(items)-1], last = r.list(kwRange, last, item), nil
		} else {
			items, last = lisp.Append(r.call, items, item), item
		}
		hyphen = false
	}
	// named adds a class inside of the class; hyphens beside it are themselves.
	named := func(item lisp.Value) {
		items = lisp.Append(r.call, items, item)
		if hyphen {
			items = lisp.Append(r.call, items, lisp.Value(lisp.Character('-')))
		}
		if r.peek() == '-' {
			items = lisp.Append(r.call, items, lisp.Value(lisp.Character('-')))
			r.pos++
		}
		hyphen = false
	}
	for first := true; ; first = false {
		r.call.Step()
		switch ch := r.take(); {
		case ch == end:
			r.fail(start, "the class of characters is not closed by ]")
		case ch == '\\':
			next := r.peek()
			switch symbol := classEscapes[next]; {
			case symbol != nil:
				r.pos++
				named(symbol)
			case next == 'p' || next == 'P':
				named(r.property())
			case next == 'E' && r.quoting:
				r.pos++
			default:
				add(r.character())
			}
		case first:
			add(lisp.Character(ch))
		case ch == ']':
			if hyphen {
				items = lisp.Append(r.call, items, lisp.Value(lisp.Character('-')))
			}
			return r.list(items...)
		case ch == '-' && last != nil && !hyphen:
			hyphen = true
		default:
			add(lisp.Character(ch))
		}
	}
}

// charSet is a set of characters.
type charSet struct {
	tests          []func(rune) bool
	inverted, fold bool
	ascii          [128]bool // what the set says of ASCII
	calculated     bool
}

// has reports whether a character is in the set.
func (s *charSet) has(r rune) bool {
	if r < 128 && s.calculated {
		return s.ascii[r]
	}
	return s.test(r) != s.inverted
}

func (s *charSet) test(r rune) bool {
	if s.fold && lisp.Lower(r) != lisp.Upper(r) {
		return s.any(lisp.Lower(r)) || s.any(lisp.Upper(r))
	}
	return s.any(r)
}

func (s *charSet) any(r rune) bool {
	for _, test := range s.tests {
		if test(r) {
			return true
		}
	}
	return false
}

// ready calculates what is asked most.
func (s *charSet) ready() *charSet {
	for r := range s.ascii {
		s.ascii[r] = s.test(rune(r)) != s.inverted
	}
	s.calculated = true
	return s
}

// runeRange is the characters from one to another.
type runeRange struct{ from, to rune }

// inRanges is the test of many ranges; it looks at few of them.
func inRanges(ranges []runeRange) func(rune) bool {
	slices.SortFunc(ranges, func(a, b runeRange) int { return cmp.Compare(a.from, b.from) })
	merged := ranges[:1]
	for _, r := range ranges[1:] {
		if last := &merged[len(merged)-1]; r.from <= last.to {
			last.to = max(last.to, r.to)
			continue
		}
		merged = append(merged, r)
	}
	return func(r rune) bool {
		_, found := slices.BinarySearchFunc(merged, r, func(own runeRange, r rune) int {
			switch {
			case own.to < r:
				return -1
			case own.from > r:
				return 1
			}
			return 0
		})
		return found
	}
}

func isPatternWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// namedTest is the test of a class with a name, nil if it has none.
func namedTest(v lisp.Value) func(rune) bool {
	digit := func(r rune) bool { return r >= '0' && r <= '9' }
	switch v {
	case kwDigitClass:
		return digit
	case kwNonDigitClass:
		return not(digit)
	case kwWordClass:
		return isPatternWord
	case kwNonWordClass:
		return not(isPatternWord)
	case kwSpaceClass:
		return isPatternBlank
	case kwNonSpaceClass:
		return not(isPatternBlank)
	}
	return nil
}

func not(test func(rune) bool) func(rune) bool { return func(r rune) bool { return !test(r) } }

// propertyTest finds a property of Unicode by its name: a category, a script or one of
// those with names of their own; case, hyphens, underscores and blanks do not count.
func propertyTest(name string) func(rune) bool {
	plain := strings.NewReplacer("-", "", "_", "", " ", "")
	wanted := plain.Replace(strings.ToLower(name))
	if wanted == "any" {
		return func(rune) bool { return true }
	}
	for short, long := range categoryNames {
		if wanted == long {
			wanted = short
		}
	}
	for _, tables := range []map[string]*unicode.RangeTable{unicode.Categories, unicode.Scripts, unicode.Properties} {
		for known, table := range tables {
			if plain.Replace(strings.ToLower(known)) == wanted {
				return func(r rune) bool { return unicode.Is(table, r) }
			}
		}
	}
	return map[string]func(rune) bool{"alphabetic": unicode.IsLetter, "uppercase": unicode.IsUpper, "lowercase": unicode.IsLower}[wanted]
}

// categoryNames are the long names of categories.
var categoryNames = map[string]string{
	"l": "letter", "lu": "uppercaseletter", "ll": "lowercaseletter", "lt": "titlecaseletter", "lm": "modifierletter", "lo": "otherletter",
	"m": "mark", "mn": "nonspacingmark", "mc": "spacingmark", "n": "number", "nd": "decimalnumber", "nl": "letternumber", "no": "othernumber",
	"p": "punctuation", "pc": "connectorpunctuation", "pd": "dashpunctuation", "ps": "openpunctuation", "pe": "closepunctuation", "po": "otherpunctuation",
	"s": "symbol", "sm": "mathsymbol", "sc": "currencysymbol", "sk": "modifiersymbol", "so": "othersymbol",
	"z": "separator", "zs": "spaceseparator", "zl": "lineseparator", "zp": "paragraphseparator", "c": "other", "cc": "control", "cf": "format", "co": "privateuse", "cs": "surrogate",
}
