package outline

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"sort"
	"strings"

	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
)

// Veil tells of the lines of an Org text, one after the other, which are kept from every model:
// the subtrees of headings with such a tag ([Withheld]), and all where #+FILETAGS: has one. It
// errs towards keeping: a #+FILETAGS: in an example counts, and so does a heading whose end,
// where its tags would be, is not given. The zero value is that of a text whose file has no tags.
type Veil struct {
	all   bool
	below int // the level of the heading whose subtree is kept; 0: none is
}

// Part is a part of a text, in bytes.
type Part struct{ Start, End int }

// veilLine is how much of a line is looked at for tags of the file.
const veilLine = 64 << 10

var (
	// orgName matches the names of Org files, of their archives, and of the copies of them that
	// Emacs and others leave beside them.
	orgName  = regexp.MustCompile(`(?i)\.org(_archive)?(~|#|\.~[^/]*~|\.bak|\.orig)?$`)
	orgMode  = regexp.MustCompile(`(?i)-\*-[ \t]*(.*;[ \t]*)?(mode:[ \t]*)?org[ \t]*(;.*)?-\*-`)
	fileTags = regexp.MustCompile(`(?i)^[ \t]*#\+filetags:(.*)`)
)

// IsOrg reports whether a file is Org, by its name or, as Emacs would find out, by its first lines.
func IsOrg(path string, head []byte) bool {
	if orgName.MatchString(path) {
		return true
	}
	first, rest, _ := bytes.Cut(head, []byte("\n"))
	if bytes.HasPrefix(first, []byte("#!")) {
		first, _, _ = bytes.Cut(rest, []byte("\n"))
	}
	return orgMode.Match(first)
}

// NewVeil is the veil of an Org text, which it reads to its end: the tags of a file may stand
// anywhere in it.
func NewVeil(text io.Reader) (Veil, error) {
	reader := bufio.NewReaderSize(text, veilLine)
	for begins := true; ; {
		line, err := reader.ReadSlice('\n')
		if begins && hasFileTags(string(bytes.TrimPrefix(line, []byte("\ufeff"))), errors.Is(err, bufio.ErrBufferFull)) {
			return Veil{all: true}, nil
		}
		begins = err == nil
		switch {
		case errors.Is(err, io.EOF):
			return Veil{}, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return Veil{all: true}, err
		}
	}
}

// hasFileTags reports whether a line keeps the whole file.
func hasFileTags(line string, cut bool) bool {
	if !strings.Contains(line, "#+") {
		return false
	}
	found := fileTags.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
	return found != nil && (cut || Withheld(splitTags(found[1])))
}

// Hides reports whether the line that follows is kept. Cut: only its beginning is given.
func (v *Veil) Hides(line string, cut bool) bool {
	if !v.all && strings.HasPrefix(line, "*") {
		if h := org.Parse(line + "\n").Headings; len(h) > 0 && (v.below == 0 || h[0].Level <= v.below) {
			if v.below = 0; cut || Withheld(h[0].Tags) {
				v.below = h[0].Level
			}
		}
	}
	v.all = v.all || hasFileTags(line, cut)
	return v.all || v.below > 0
}

// Kept are the parts of a file's text that are kept from every model, in order and apart from
// each other; none of what is no Org file.
func Kept(path, text string) []Part {
	if !IsOrg(path, []byte(text[:min(len(text), 4096)])) {
		return nil
	}
	veil, _ := NewVeil(strings.NewReader(text)) // a text in memory is read without an error
	var parts []Part
	at := 0
	for line := range strings.Lines(text) {
		content := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		if at == 0 {
			content = strings.TrimPrefix(content, "\ufeff")
		}
		if veil.Hides(content, false) {
			if n := len(parts); n > 0 && parts[n-1].End == at {
				parts[n-1].End += len(line)
			} else {
				parts = append(parts, Part{at, at + len(line)})
			}
		}
		at += len(line)
	}
	return parts
}

// Overlaps reports whether something from start to end is in one of the parts, which are as [Kept]
// returns them.
func Overlaps(parts []Part, start, end int) bool {
	i := sort.Search(len(parts), func(i int) bool { return parts[i].End > start })
	return i < len(parts) && parts[i].Start < end
}

// Intact is an error where a change of a file's text would change what is kept from every model,
// or what of it is kept.
func Intact(path, before, after string) error {
	if kept(path, before) == kept(path, after) {
		return nil
	}
	return protocol.ToolErrorf(protocol.ToolRefused, "%s has a subtree tagged :noagent:, :@private: or :crypt:, and this would change it or what is in it; only the person does that", path)
}

// kept is all that is kept of a text.
func kept(path, text string) string {
	var b strings.Builder
	for _, p := range Kept(path, text) {
		b.WriteString(text[p.Start:p.End])
	}
	return b.String()
}
