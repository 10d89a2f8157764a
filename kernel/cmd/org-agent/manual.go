package main

import (
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/lisp"
	"org-agent/kernel/skill"
)

// entries returns the entries of the language, and those that the given note defines.
func (c *lispCommand) entries(ctx context.Context, proc *process) ([]lisp.Entry, error) {
	if c.Note == "" {
		return skill.Entries(ctx)
	}
	note, err := loadNote(ctx, proc, c.Note, lisp.Limits{})
	if err != nil {
		return nil, err
	}
	environment := note.Environment()
	own, err := environment.Entries(ctx)
	return append(own, environment.Language().Entries()...), err
}

// printManual prints the documentation that the flags request. It returns false if they request none.
func (c *lispCommand) printManual(ctx context.Context, proc *process) (bool, error) {
	if c.Describe == "" && c.Apropos == "" && !c.Manual {
		return false, nil
	}
	entries, err := c.entries(ctx, proc)
	if err != nil {
		return true, err
	}
	var text strings.Builder
	switch {
	case c.Describe != "":
		err = writeDescription(&text, c.Describe, entries)
	case c.Apropos != "":
		err = writeApropos(&text, c.Apropos, entries)
	default:
		writeManual(&text, entries)
	}
	fmt.Fprint(proc.stdout, text.String())
	return true, err
}

// writeDescription writes the description of a name, or the list of a package's entries.
func writeDescription(text *strings.Builder, name string, entries []lisp.Entry) error {
	wanted := canonicalName(name)
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

// packageNames maps nicknames of packages to their names in entries.
var packageNames = map[string]string{
	"cl": "common-lisp", "ppcre": "cl-ppcre", "cl-json": "json", "opencortex": "org-agent", "5am": "fiveam",
}

// canonicalName returns a name in the form of entries: in lower case, with one colon, and without the
// package for names of the standard and the kernel.
func canonicalName(name string) string {
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

// writeApropos writes the list of entries whose name or description contains the text.
func writeApropos(text *strings.Builder, wanted string, entries []lisp.Entry) error {
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

// synopsis returns the entry in the form of a call.
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

// writeManual writes the manual page of the language as Org.
func writeManual(text *strings.Builder, entries []lisp.Entry) {
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
