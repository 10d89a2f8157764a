package withheld

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

// Judgement says which parts of a text are withheld.
type Judgement struct {
	// Parts are withheld from every model. Those of them that are sealed are also in Sealed. Both
	// are whole lines, in order, without overlaps.
	Parts, Sealed []Part
	// Related are the other files whose tags were looked up.
	Related []string
}

// Part is a part of a text, in bytes.
type Part struct{ Start, End int }

// File judges the text of a file, or its future text. A file that is not Org is not withheld.
func File(path, text string) Judgement {
	if !isOrg(path, text) {
		return Judgement{}
	}
	return Org(path, text)
}

// Org judges a text as Org, whatever the file's name is.
func Org(path, text string) Judgement {
	if encrypted(path) {
		whole := []Part{{0, len(text)}}
		return Judgement{Parts: whole, Sealed: whole}
	}
	var s scan
	s.scanText(text)
	var b relatedFiles
	b.complete(&s, path)
	j := Judgement{Related: b.paths}
	veil := Veil{all: s.file, inherits: s.inherits}
	at := 0
	for line := range strings.Lines(text) {
		content := line
		if at == 0 {
			content = strings.TrimPrefix(line, byteOrderMark)
		}
		level := veil.next(content, false)
		if level > Shown {
			j.Parts = extended(j.Parts, at, at+len(line))
		}
		if level == Sealed {
			j.Sealed = extended(j.Sealed, at, at+len(line))
		}
		at += len(line)
	}
	return j
}

func extended(parts []Part, start, end int) []Part {
	if n := len(parts); n > 0 && parts[n-1].End == start {
		parts[n-1].End = end
		return parts
	}
	return append(parts, Part{start, end})
}

// At returns the level of the line that begins at an offset.
func (j Judgement) At(offset int) Level {
	switch {
	case Overlaps(j.Sealed, offset, offset+1):
		return Sealed
	case Overlaps(j.Parts, offset, offset+1):
		return Private
	}
	return Shown
}

// Visible returns a text without what is withheld, and whether anything is.
func Visible(path, text string) (shown string, whole bool) {
	j := File(path, text)
	if len(j.Parts) == 0 {
		return text, true
	}
	return j.replaced(text, func(string) string { return "" }), false
}

// Blanked returns the text with an empty line in place of each withheld one.
func (j Judgement) Blanked(text string) string {
	return j.replaced(text, func(part string) string { return strings.Repeat("\n", strings.Count(part, "\n")) })
}

func (j Judgement) replaced(text string, by func(part string) string) string {
	var b strings.Builder
	end := 0
	for _, p := range j.Parts {
		b.WriteString(text[end:p.Start])
		b.WriteString(by(text[p.Start:p.End]))
		end = p.End
	}
	b.WriteString(text[end:])
	return b.String()
}

// Keeps reports whether a change of a file's text alters neither what is withheld nor its tags. A
// file of any name may be the setup file of others, so it keeps the tags that it gives them.
func Keeps(path, before, after string) bool {
	return hiddenText(path, before) == hiddenText(path, after) && fileLevel(after) >= fileLevel(before)
}

// hiddenText returns all withheld parts of a text.
func hiddenText(path, text string) string {
	var b strings.Builder
	for _, p := range File(path, text).Parts {
		b.WriteString(text[p.Start:p.End])
	}
	return b.String()
}

// fileLevel returns the level of the tags that a text gives to a whole file, whatever its name is.
func fileLevel(text string) Level {
	var s scan
	s.scanText(text)
	return s.file
}

// Overlaps reports whether the bytes from start to end overlap one of the parts, which are in
// order.
func Overlaps(parts []Part, start, end int) bool {
	i := sort.Search(len(parts), func(i int) bool { return parts[i].End > start })
	return i < len(parts) && parts[i].Start < end
}

// rule is the version of the rule. Whoever changes what is withheld raises it: texts that were judged
// by another version are then judged again.
const rule = "rule 2\n"

// Stamps returns the version of the rule and the state of the related files, with their paths. As long
// as [Unchanged] holds for it, a text is judged as before.
func (j Judgement) Stamps() string {
	var b strings.Builder
	b.WriteString(rule)
	for _, path := range j.Related {
		if !strings.Contains(path, "\n") {
			b.WriteString(stamp(path) + " " + path + "\n")
		}
	}
	return b.String()
}

// Unchanged reports whether the rule and the files of stamps are unchanged.
func Unchanged(stamps string) bool {
	files, same := strings.CutPrefix(stamps, rule)
	if !same {
		return false
	}
	for line := range strings.Lines(files) {
		was, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if stamp(path) != was {
			return false
		}
	}
	return true
}

// stamp returns the state of one file.
func stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d", info.Size(), info.ModTime().UnixNano())
}
