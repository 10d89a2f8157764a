package lisp

import (
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

// Package is the name of the package that the entry's name is exported from.
func (e Entry) Package() string {
	if prefix, _, qualified := strings.Cut(e.Name, ":"); qualified {
		return strings.ToUpper(prefix)
	}
	if e.Chapter == KernelChapter {
		return kernelPackage
	}
	return standardPackage
}

// KernelChapter is the title of the chapter about what the kernel offers to notes.
const KernelChapter = "The kernel"

// variableChapter is the title of the chapter about variables, the last one.
const variableChapter = "Variables and constants"

// Entries returns everything the language has, chapter by chapter, by name in each.
func Entries() []Entry {
	l := standardLanguage()
	var entries []Entry
	for _, chapter := range chapters() {
		var own []Entry
		add := func(kind Kind, name, list, doc string) {
			if !internalName(name) {
				own = append(own, Entry{Name: strings.ToLower(name), Kind: kind, LambdaList: list, Doc: doc, Chapter: chapter.title})
			}
		}
		for _, row := range chapter.forms {
			add(FormEntry, row.name, row.list, row.doc)
		}
		for _, row := range chapter.macros {
			add(MacroEntry, row.name, row.list, row.doc)
		}
		for _, row := range chapter.functions {
			add(FunctionEntry, row.name, row.list, row.doc)
		}
		entries = append(entries, sorted(own)...)
	}
	var variables []Entry
	for symbol, v := range l.variables {
		kind := VariableEntry
		if v.constant {
			kind = ConstantEntry
		}
		variables = append(variables, Entry{Name: strings.ToLower(symbol.name), Kind: kind, Doc: v.doc, Chapter: variableChapter})
	}
	return append(entries, sorted(variables)...)
}

// Entries describes what the configuration adds to the language.
func (config Config) Entries() []Entry {
	var entries []Entry
	add := func(kind Kind, name, list, doc string) {
		if !internalName(name) {
			entries = append(entries, Entry{Name: name, Kind: kind, LambdaList: list, Doc: doc, Chapter: KernelChapter})
		}
	}
	for _, f := range config.Functions {
		add(FunctionEntry, f.Name, f.LambdaList, f.Doc)
	}
	for _, m := range config.Macros {
		add(MacroEntry, m.Name, m.LambdaList, m.Doc)
	}
	return sorted(entries)
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
