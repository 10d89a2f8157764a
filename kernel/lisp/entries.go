package lisp

import (
	"context"
	"slices"
	"strings"
)

// Kind says what a name is.
type Kind string

// The kinds of an [Entry].
const (
	FunctionEntry Kind = "function"
	MacroEntry    Kind = "macro"
	FormEntry     Kind = "special form"
	VariableEntry Kind = "variable"
	ConstantEntry Kind = "constant"
)

// Entry describes one name, for documentation and completion.
type Entry struct {
	// Name is as in source, in lower case, with its package unless that is COMMON-LISP
	// or the kernel's own.
	Name string
	Kind Kind
	// LambdaList is "" for variables and constants.
	LambdaList string
	// Doc is one line.
	Doc string
	// Chapter is the part of the manual it stands in.
	Chapter string
}

// The chapters that are not about the language: what the kernel offers to notes, and
// what a note defines.
const (
	KernelChapter = "The kernel"
	NoteChapter   = "The note"
)

// variableChapter is the title of the chapter about variables, the last of the language.
const variableChapter = "Variables and constants"

// Entries returns everything the language has, chapter by chapter, by name in each.
func (l *Language) Entries() []Entry {
	var entries []Entry
	titles, byTitle := []string{}, map[string][]Entry{}
	for _, chapter := range l.chapters {
		if byTitle[chapter.title] == nil {
			titles = append(titles, chapter.title)
		}
		own := byTitle[chapter.title]
		add := func(kind Kind, name, list, doc string) {
			if name = strings.ToLower(name); !internalName(name) {
				if chapter.home != "" {
					name = strings.ToLower(chapter.home) + ":" + name
				}
				own = append(own, Entry{Name: name, Kind: kind, LambdaList: list, Doc: doc, Chapter: chapter.title})
			}
		}
		for _, row := range chapter.forms {
			add(FormEntry, row.name, row.list, row.doc)
		}
		for _, row := range chapter.macros {
			add(MacroEntry, row.Name, row.LambdaList, row.Doc)
		}
		for _, row := range chapter.functions {
			add(FunctionEntry, row.Name, row.LambdaList, row.Doc)
		}
		byTitle[chapter.title] = own
	}
	for _, title := range titles {
		entries = append(entries, sorted(byTitle[title])...)
	}
	var variables []Entry
	for symbol, v := range l.variables {
		kind := VariableEntry
		if v.constant {
			kind = ConstantEntry
		}
		variables = append(variables, Entry{Name: entryName(symbol, standardPackage), Kind: kind, Doc: v.doc, Chapter: variableChapter})
	}
	return append(entries, sorted(variables)...)
}

// Entries describes what the environment has beside the language: what the kernel gave
// it and what its note defined, by name. It waits for the note's guard.
func (e *Environment) Entries(ctx context.Context) (entries []Entry, err error) {
	err = e.run(ctx, func(c *Call) {
		for symbol, g := range e.known() {
			if symbol.home == standardPackage || symbol.home == keywordPackage || e.language.functions[symbol] != nil || internalName(symbol.name) {
				continue
			}
			if entry, ok := c.entry(symbol, g); ok {
				entries = append(entries, entry)
			}
		}
	})
	return sorted(entries), err
}

// entry describes a name that is not of the language, if it means anything.
func (c *Call) entry(symbol *Symbol, g *global) (Entry, bool) {
	entry := Entry{Name: entryName(symbol, c.environment.user.name), Chapter: KernelChapter}
	if symbol.home == c.environment.user.name {
		entry.Chapter = NoteChapter
	}
	described := g.function
	switch {
	case g.function != nil:
		entry.Kind, entry.LambdaList, entry.Doc = FunctionEntry, g.function.list, g.function.doc
	case g.macro != nil:
		entry.Kind, entry.LambdaList, entry.Doc, described = MacroEntry, g.macro.list, g.macro.doc, g.macro.function
	case g.constant:
		entry.Kind = ConstantEntry
	case g.special:
		entry.Kind = VariableEntry
	default:
		return entry, false
	}
	if text, ok := g.docs[symVariable].(*String); ok && entry.Doc == "" {
		entry.Doc = text.String()
	}
	entry.Doc, _, _ = strings.Cut(entry.Doc, "\n")
	if described != nil && described.lambda != nil {
		entry.LambdaList = strings.ToLower(strings.ReplaceAll(c.Printed(described.lambda.parameters, true), "#:", ""))
		if described.lambda.parameters == Nil {
			entry.LambdaList = "()"
		}
	}
	return entry, true
}

// entryName spells a symbol as a note of the package user does.
func entryName(symbol *Symbol, user string) string {
	if symbol.home == user || symbol.home == kernelPackage {
		return strings.ToLower(symbol.name)
	}
	return strings.ToLower(symbol.home + ":" + symbol.name)
}

// internalName reports a name that only expansions use.
func internalName(name string) bool {
	_, rest, qualified := strings.Cut(name, ":")
	if !qualified {
		rest = name
	}
	return strings.HasPrefix(rest, "%")
}

func sorted(entries []Entry) []Entry {
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return entries
}

// Nearest returns the entry whose name is most like name, which is none of them; nil if
// none is near.
func Nearest(name string, entries []Entry) *Entry {
	var best *Entry
	distance := min(2, (len(name)+1)/3) + 1
	for i := range entries {
		if d := editDistance(strings.ToLower(name), entries[i].Name, distance); d < distance {
			best, distance = &entries[i], d
		}
	}
	return best
}
