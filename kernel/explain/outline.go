package explain

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"org-agent/kernel/org"
)

const (
	// outlineLimit bounds an outline, in bytes: it is to fit a frame of the wire.
	outlineLimit = 3 << 20
	// textLimit bounds each text in it.
	textLimit = 256 << 10
	// lineLimit bounds, in characters, a text that stands on a line.
	lineLimit = 300
)

// outline is an Org outline being written. All that comes from outside goes through line
// or block, which make it inert.
type outline struct {
	out   strings.Builder
	full  bool
	below bool // a heading below the first level was written: what follows is under it
}

// write adds Org of this package's making.
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

// heading adds a heading; format is this package's, and what it is given is made inert.
func (o *outline) heading(level int, format string, args ...any) {
	o.below = level > 1
	title := strings.ReplaceAll(line(fmt.Sprintf(format, args...)), "COMMENT", "C\u200bOMMENT")
	o.write(strings.Repeat("*", level) + " " + title + "\n")
}

// field adds a line of a list, unless the value is empty.
func (o *outline) field(name, format string, args ...any) {
	if value := line(fmt.Sprintf(format, args...)); value != "" {
		o.write("- " + line(name) + " :: " + value + "\n")
	}
}

// note adds a field that links to a place in a note of this machine.
func (o *outline) note(name, file string, at int, shipped bool) {
	switch {
	case file == "":
	case shipped || !filepath.IsAbs(file) || strings.ContainsAny(file, "[]\n\r:") || !utf8.ValidString(file):
		o.field(name, "%s:%d", file, at)
	default:
		o.write(fmt.Sprintf("- %s :: [[file:%s::%d][%s:%d]]\n", name, file, at, line(filepath.Base(file)), at))
	}
}

// text adds a text below a heading of its own, with its size; what is short and of one line
// becomes a field, or stands in the heading where a field would belong to the text before.
func (o *outline) text(level int, name, text string) {
	switch {
	case text == "":
	case len(text) <= lineLimit && !strings.ContainsAny(text, "\n\r") && o.below:
		o.heading(level, "%s: %s", name, text)
	case len(text) <= lineLimit && !strings.ContainsAny(text, "\n\r"):
		o.field(name, "%s", text)
	default:
		o.code(level, name, text)
	}
}

// code adds a text that people may want to copy, unless it is empty, in a block below a
// heading of its own: there next to nothing of it has to be changed.
func (o *outline) code(level int, name, text string) {
	if text != "" {
		o.heading(level, "%s, %s", name, size(len(text)))
		o.block(text)
	}
}

// block adds a text in a block, its beginning if it is very long.
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
		o.write(fmt.Sprintf("and %s more; \"org-agent why --json\" prints everything.\n", size(left)))
	}
}

// line is a text from outside on one line, inert wherever on a line it stands.
func line(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if utf8.RuneCountInString(text) > lineLimit {
		text = string([]rune(text)[:lineLimit]) + "…"
	}
	if text == "" {
		return ""
	}
	// A word before it: nothing in the text begins the line.
	const before = "x "
	inert := strings.TrimRight(org.Inert(before+text), "\n")
	inert = strings.TrimPrefix(inert, before)
	// Tags and cookies mean something at the end of a heading only, which this may become.
	if strings.HasSuffix(inert, ":") {
		inert += "\u200b"
	}
	return inert
}

// size is a number of bytes as people read it.
func size(bytes int) string {
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

// clock is a time as the people of this machine have it.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05.000")
}

// duration is a time that something took.
func duration(d time.Duration) string {
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
