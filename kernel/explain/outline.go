package explain

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"org-agent/kernel/org"
	"org-agent/kernel/text"
)

const (
	// outlineLimit is the largest outline, in bytes. It must fit one frame of the wire.
	outlineLimit = 3 << 20
	// textLimit is the largest text in an outline, in bytes.
	textLimit = 256 << 10
	// lineLimit is the longest text on one line, in characters.
	lineLimit = 300
)

// outline is an Org outline under construction. Text from outside is added through line or block,
// which make it inert.
type outline struct {
	out    strings.Builder
	full   bool
	nested bool // the current heading is below level 1
}

// write adds trusted Org text of this package.
func (o *outline) write(text string) {
	if o.full {
		return
	}
	if o.out.Len()+len(text) > outlineLimit {
		o.full = true
		o.out.WriteString("* There is more\nThis outline ends here; \"org-agent why --json\" prints everything.\n")
		return
	}
	o.out.WriteString(text)
}

// heading adds a heading. The arguments of format are made inert.
func (o *outline) heading(level int, format string, args ...any) {
	o.nested = level > 1
	title := strings.ReplaceAll(inertLine(fmt.Sprintf(format, args...)), "COMMENT", "C\u200bOMMENT")
	o.write(strings.Repeat("*", level) + " " + title + "\n")
}

// field adds a line of a list, unless the value is empty.
func (o *outline) field(name, format string, args ...any) {
	if value := inertLine(fmt.Sprintf(format, args...)); value != "" {
		o.write("- " + inertLine(name) + " :: " + value + "\n")
	}
}

// note adds a field with a link to a place in a note.
func (o *outline) note(name, file string, at int, shipped bool) {
	if file == "" {
		return
	}
	link := fmt.Sprintf("- %s :: [[file:%s::%d][%s:%d]]\n", name, file, at, inertLine(filepath.Base(file)), at)
	// What stands right below the root may be a host to Emacs.
	if ok, _ := org.IsInert(link); shipped || !filepath.IsAbs(file) || strings.ContainsAny(file, "[]\n\r:") || !utf8.ValidString(file) || !ok {
		o.field(name, "%s:%d", file, at)
		return
	}
	o.write(link)
}

// text adds a text and its size below a heading of its own. A short text of one line becomes a
// field instead or, if a field would belong to the text before it, part of the heading.
func (o *outline) text(level int, name, text string) {
	switch {
	case text == "":
	case len(text) <= lineLimit && !strings.ContainsAny(text, "\n\r") && o.nested:
		o.heading(level, "%s: %s", name, text)
	case len(text) <= lineLimit && !strings.ContainsAny(text, "\n\r"):
		o.field(name, "%s", text)
	default:
		o.code(level, name, text)
	}
}

// code adds a text that people may want to copy, in a block below its own heading, where almost
// none of it must be changed. It ignores an empty text.
func (o *outline) code(level int, name, text string) {
	if text != "" {
		o.heading(level, "%s, %s", name, sizeText(len(text)))
		o.block(text)
	}
}

// block adds a text in a block. Of a very long text it adds the beginning.
func (o *outline) block(text string) {
	left := 0
	if len(text) > textLimit {
		cut := textLimit
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text, left = text[:cut], len(text)-cut
	}
	text = strings.ToValidUTF8(strings.TrimRight(text, "\n"), "\uFFFD")
	lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n")
	for i, l := range lines {
		bare := strings.TrimLeft(l, " \t")
		if commas := strings.TrimLeft(bare, ","); strings.HasPrefix(commas, "*") || strings.HasPrefix(commas, "#+") {
			lines[i] = l[:len(l)-len(bare)] + "," + bare
		}
	}
	o.write(org.Inert("#+begin_example\n" + strings.Join(lines, "\n") + "\n#+end_example\n"))
	if left > 0 {
		o.write(fmt.Sprintf("and %s more; \"org-agent why --json\" prints everything.\n", sizeText(left)))
	}
}

// inertLine returns text from outside on one line, inert at any place of a line.
func inertLine(from string) string {
	line := text.Clip(text.Line(from), lineLimit)
	if line == "" {
		return ""
	}
	// The word in front keeps the text from beginning a line.
	const before = "x "
	inert := strings.TrimRight(org.Inert(before+line), "\n")
	inert = strings.TrimPrefix(inert, before)
	// Only at the end of a heading do tags and cookies have a meaning, and this text may become
	// that end.
	if strings.HasSuffix(inert, ":") {
		inert += "\u200b"
	}
	return inert
}

// sizeText returns a number of bytes for people.
func sizeText(bytes int) string {
	switch {
	case bytes == 1:
		return "1 byte"
	case bytes < 10_000:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes < 10_000_000:
		return fmt.Sprintf("%d kB", bytes/1000)
	}
	return fmt.Sprintf("%d MB", bytes/1_000_000)
}

// clockText writes a time in the local zone.
func clockText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05.000")
}

// durationText writes how long something took.
func durationText(d time.Duration) string {
	switch {
	case d < 0:
		return "0 ms"
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
