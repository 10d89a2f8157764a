package main

import (
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/lisp"
	"org-agent/kernel/skill"
)

// entries returns everything that a note may use and what the given note defines.
func (c *lispCommand) entries(ctx context.Context, w *world) ([]lisp.Entry, error) {
	if c.Note == "" {
		return skill.Entries(ctx)
	}
	note, err := loadNote(ctx, w, c.Note, lisp.Limits{})
	if err != nil {
		return nil, err
	}
	environment := note.Environment()
	own, err := environment.Entries(ctx)
	return append(own, environment.Language().Entries()...), err
}

// tell prints what the flags ask about the language. It reports whether they ask anything.
func (c *lispCommand) tell(ctx context.Context, w *world) (bool, error) {
	if c.Describe == "" && c.Apropos == "" && !c.Manual {
		return false, nil
	}
	entries, err := c.entries(ctx, w)
	if err != nil {
		return true, err
	}
	var text strings.Builder
	switch {
	case c.Describe != "":
		err = describe(&text, c.Describe, entries)
	case c.Apropos != "":
		err = apropos(&text, c.Apropos, entries)
	default:
		manual(&text, entries)
	}
	fmt.Fprint(w.out, text.String())
	return true, err
}

// describe writes about one name, or lists a package.
func describe(text *strings.Builder, name string, entries []lisp.Entry) error {
	wanted := spelled(name)
	inPackage := 0
	for _, entry := range entries {
		if entry.Name == wanted {
			fmt.Fprintf(text, "%s\n  %s: %s\n", synopsis(entry), entry.Kind, entry.Doc)
			fmt.Fprintf(text, "  in the chapter %q\n", entry.Chapter)
		}
	}
	if text.Len() > 0 {
		return nil
	}
	for _, entry := range entries {
		if packageOf(entry) == wanted {
			inPackage++
			fmt.Fprintf(text, "%-40s %s\n", synopsis(entry), entry.Doc)
		}
	}
	if inPackage > 0 {
		return nil
	}
	hint := "--apropos finds names by a part of them"
	if near := lisp.Nearest(wanted, entries); near != nil {
		hint = "did you mean " + near.Name + "?"
	}
	return fmt.Errorf("nothing is called %s; %s", name, hint)
}

// packageNames maps further names of packages to the usual ones.
var packageNames = map[string]string{
	"cl": "common-lisp", "ppcre": "cl-ppcre", "cl-json": "json", "opencortex": "org-agent", "5am": "fiveam",
}

// spelled writes a name as entries do: in lower case, with one colon, and without the package for
// names of the standard and the kernel.
func spelled(name string) string {
	name = strings.ReplaceAll(strings.ToLower(name), "::", ":")
	prefix, rest, qualified := strings.Cut(name, ":")
	if full, nickname := packageNames[prefix]; nickname {
		prefix = full
	}
	switch {
	case !qualified:
		return prefix
	case prefix == "common-lisp" || prefix == "org-agent":
		return rest
	}
	return prefix + ":" + rest
}

func packageOf(entry lisp.Entry) string {
	prefix, _, qualified := strings.Cut(entry.Name, ":")
	switch {
	case qualified:
		return prefix
	case entry.Chapter == lisp.KernelChapter:
		return "org-agent"
	case entry.Chapter == lisp.NoteChapter:
		return "note"
	}
	return "common-lisp"
}

// apropos lists the entries whose name or description contains the text.
func apropos(text *strings.Builder, wanted string, entries []lisp.Entry) error {
	wanted = strings.ToLower(wanted)
	for _, entry := range entries {
		if strings.Contains(entry.Name, wanted) || strings.Contains(strings.ToLower(entry.Doc), wanted) {
			fmt.Fprintf(text, "%-40s %s\n", synopsis(entry), entry.Doc)
		}
	}
	if text.Len() == 0 {
		return fmt.Errorf("no name and no description contains %q", wanted)
	}
	return nil
}

// synopsis writes the entry as a call.
func synopsis(entry lisp.Entry) string {
	inner := strings.TrimSuffix(strings.TrimPrefix(entry.LambdaList, "("), ")")
	switch {
	case entry.LambdaList == "":
		return entry.Name
	case inner == "":
		return "(" + entry.Name + ")"
	}
	return "(" + entry.Name + " " + inner + ")"
}

// manual writes the language's manual page as Org.
func manual(text *strings.Builder, entries []lisp.Entry) {
	text.WriteString("#+TITLE: The Lisp of notes\n\nWhat a note can use, by chapter. All of it behaves as in Common Lisp. A note can reach nothing else.\n")
	chapter := ""
	for _, entry := range entries {
		if entry.Chapter != chapter {
			chapter = entry.Chapter
			fmt.Fprintf(text, "\n* %s\n\n", chapter)
		}
		fmt.Fprintf(text, "- ~%s~ :: %s\n", synopsis(entry), entry.Doc)
	}
}
