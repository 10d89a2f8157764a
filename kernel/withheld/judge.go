package withheld

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

// Judgement is what of a text is withheld.
type Judgement struct {
	// Parts are withheld from every model; those of them that are sealed are in Sealed. Both
	// are whole lines, in order and apart from each other.
	Parts, Sealed []Part
	// Beside are the files whose tags were looked for, beside the text's own.
	Beside []string
}

// Part is a part of a text, in bytes.
type Part struct{ Start, End int }

// File judges the text of a file, or what a file would be; of what is no Org nothing is withheld.
func File(path, text string) Judgement {
	if !isOrg(path, text) {
		return Judgement{}
	}
	return Org(path, text)
}

// Org judges a text that is Org, whatever the name of its file is.
func Org(path, text string) Judgement {
	if Encrypted(path) {
		whole := []Part{{0, len(text)}}
		return Judgement{Parts: whole, Sealed: whole}
	}
	var s scan
	s.of(text)
	var b beside
	b.complete(&s, path)
	j := Judgement{Beside: b.paths}
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

// At is the level of the line that begins at an offset.
func (j Judgement) At(offset int) Level {
	switch {
	case Overlaps(j.Sealed, offset, offset+1):
		return Sealed
	case Overlaps(j.Parts, offset, offset+1):
		return Own
	}
	return Shown
}

// Overlaps reports whether something from start to end is in one of the parts, which are in order.
func Overlaps(parts []Part, start, end int) bool {
	i := sort.Search(len(parts), func(i int) bool { return parts[i].End > start })
	return i < len(parts) && parts[i].Start < end
}

// Stamps is what the files of a judgement beside the text's own are now, with their paths. While
// [Standing] holds of it, they say what they said.
func (j Judgement) Stamps() string {
	var b strings.Builder
	for _, path := range j.Beside {
		if !strings.Contains(path, "\n") {
			b.WriteString(stamp(path) + " " + path + "\n")
		}
	}
	return b.String()
}

// Standing reports whether the files of stamps are what they were.
func Standing(stamps string) bool {
	for line := range strings.Lines(stamps) {
		was, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if stamp(path) != was {
			return false
		}
	}
	return true
}

// stamp tells whether a file may have changed.
func stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d", info.Size(), info.ModTime().UnixNano())
}
