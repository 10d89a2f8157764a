package memory

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"org-agent/kernel/org"
	"org-agent/kernel/withheld"
)

// File is a file in a home at its last good reading. Such files describe the agent and its user,
// and contain the agent's memory.
type File struct {
	Role string // IDENTITY, SOUL, …; "" for a daily note
	Path string
	// Text is its Org text, converted if it is Markdown. It is without comments, keyword lines and
	// drawers, without subtrees that are tagged :@private:, :noagent: or :crypt:, and without those
	// that have a scope of their own. It is "" for a file without content, such as the starters.
	Text string
	Size int    // of the file, in bytes
	Hash string // the beginning of the SHA-256 of the file, in hex
	// Fields are the named values of the file: keywords, properties before the first heading, and
	// description items, "- Name :: Sam". The first value of each name counts. Names are in lower
	// case.
	Fields  []Field
	pieces  []piece
	roles   []File // of a profile
	related string // the stamps of the files whose tags count for it
}

// Field is a named value in a file.
type Field struct{ Name, Value string }

// Field returns the value of a name in the file, or "" if there is none. The words of a name are
// joined by blanks or by hyphens.
func (f File) Field(name string) string {
	for _, field := range f.Fields {
		if strings.EqualFold(strings.ReplaceAll(field.Name, " ", "-"), strings.ReplaceAll(name, " ", "-")) {
			return field.Value
		}
	}
	return ""
}

// Fault is a fault of a file, in words for a person. If one line is at fault, Path ends with it:
// path:line.
type Fault struct{ Path, Message string }

// Error returns the path and the message.
func (f Fault) Error() string { return f.Path + ": " + f.Message }

// Persona is the content of the files of a home at one time.
type Persona struct {
	Files []File // those that exist, in the order of [Roles]
	Days  []File // the notes of today and of yesterday, if they exist
	Style string // the profile's instructions on how to answer
	// Faults are the faults of files that cannot be used as they are now. An earlier version of
	// such a file is used, or none.
	Faults []Fault
}

// File returns the file of a role, or the zero File if it does not exist.
func (p Persona) File(role string) File {
	for _, file := range p.Files {
		if file.Role == role {
			return file
		}
	}
	return File{}
}

// Roles returns the names of the files without the ending, in the order of a prompt.
func Roles() []string {
	return []string{"IDENTITY", "SOUL", "USER", "TOOLS", "PROFILES", "WORKSPACE", "MEMORY", "HEARTBEAT"}
}

// fileBytes is the maximum size of a file.
const fileBytes = 8 << 20

// Home reads the files of a home. The zero value reads those of the current directory. It is safe for
// many goroutines.
type Home struct {
	Directory string

	mu    sync.Mutex
	known map[string]reading // by path
}

// reading is the result of the last attempt to read a file.
type reading struct {
	stamp stamp
	at    time.Time
	file  File // the last good file
	good  bool // there is a good one
	fault string
}

// trustedAge is how long a file must have been unchanged before its stamp is trusted. File systems
// do not distinguish two changes at the same moment.
const trustedAge = 2 * time.Second

// savingAge is how long an empty file counts as being saved. An editor that saves in place, such as
// Emacs, empties the file before it writes the text. Until then the earlier content counts, so that
// a reading between the two steps is not taken for the person's wish.
const savingAge = 200 * time.Millisecond

// stamp identifies a version of a file. A file with the same stamp has not changed.
type stamp struct {
	size    int64
	changed time.Time
	inode   uint64
}

// Persona returns the content of the files now. A file that has not changed since the last call is not
// read again. Now, in its time zone, decides which days are today and yesterday.
func (h *Home) Persona(now time.Time) Persona {
	h.mu.Lock()
	defer h.mu.Unlock()
	var p Persona
	for _, role := range Roles() {
		if file, there := h.readNamed(&p, h.Directory, role); there {
			file.Role = role
			p.Files = append(p.Files, file)
		}
	}
	for _, day := range []time.Time{now, now.AddDate(0, 0, -1)} {
		if file, there := h.readNamed(&p, filepath.Join(h.Directory, "memory"), day.Format(time.DateOnly)); there {
			p.Days = append(p.Days, file)
		}
	}
	return p
}

// File returns the file of a role as it is now, or the zero File if it does not exist. Only
// [Home.Persona] returns its faults.
func (h *Home) File(role string) File {
	h.mu.Lock()
	defer h.mu.Unlock()
	file, _ := h.readNamed(&Persona{}, h.Directory, role)
	return file
}

// readNamed returns the file NAME.org of a directory or, if there is none, NAME.md. It adds their
// faults to p.
func (h *Home) readNamed(p *Persona, directory, name string) (File, bool) {
	path := filepath.Join(directory, name)
	r, there := h.read(path+".org", readFile)
	second, both := h.read(path+".md", readFile)
	switch {
	case there && both:
		p.Faults = append(p.Faults, Fault{path + ".md", fmt.Sprintf("it is not read, because %s.org is there; put both into one", name)})
	case both:
		r, there = second, true
	case !there:
		return File{}, false
	}
	if r.fault != "" {
		p.Faults = append(p.Faults, Fault{r.file.Path, r.fault})
	}
	if fault := r.file.disclosureFault(); fault != "" {
		p.Faults = append(p.Faults, Fault{r.file.Path, fault})
	}
	return r.file, r.good
}

// read returns the reading of a file, and whether the file exists. It calls take if the file may
// have changed.
func (h *Home) read(path string, take func(path string) (File, error)) (reading, bool) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		delete(h.known, path)
		return reading{}, false
	}
	known := h.known[path]
	now := stampOf(info)
	if err == nil && known.stamp == now && known.at.Sub(now.changed) > trustedAge && withheld.Unchanged(known.file.related) {
		return known, true
	}
	if err == nil && known.good && known.file.Size > 0 && saving(info) {
		return known, true
	}
	known.stamp, known.at, known.file.Path, known.fault = now, time.Now(), path, ""
	if file, err := take(path); err == nil {
		known.file, known.good = file, true
	} else {
		known.fault = fmt.Sprintf("%v; what it said before is used", err)
		if !known.good {
			known.fault = fmt.Sprintf("%v; nothing of it is used", err)
		}
	}
	if h.known == nil {
		h.known = map[string]reading{}
	}
	h.known[path] = known
	return known, true
}

// saving reports whether a file may be about to get its text.
func saving(info fs.FileInfo) bool {
	age := time.Since(info.ModTime())
	return info.Mode().IsRegular() && info.Size() == 0 && age >= 0 && age < savingAge
}

func stampOf(info fs.FileInfo) stamp {
	if info == nil {
		return stamp{}
	}
	s := stamp{size: info.Size(), changed: info.ModTime()}
	if system, is := info.Sys().(*syscall.Stat_t); is {
		s.inode = system.Ino
	}
	return s
}

// readFile reads a whole file. Its error says what a person can do about it.
func readFile(path string) (File, error) {
	file, text, err := readText(path)
	if err != nil {
		return File{}, err
	}
	if strings.HasSuffix(path, ".md") {
		text = org.MarkdownToOrg(text)
	}
	judgement := withheld.Org(path, text)
	file.related = judgement.Stamps()
	file.pieces, text = pieces(text, judgement)
	file.Fields, file.Text = fields(text), file.Within("", true)
	return file, nil
}

// readText reads the text of a file, with Org's line ends.
func readText(path string) (File, string, error) {
	data, err := contents(path)
	if err != nil {
		return File{}, "", err
	}
	text := string(data)
	if !utf8.ValidString(text) {
		line := 1 + strings.Count(text[:strings.IndexRune(text, utf8.RuneError)], "\n")
		return File{}, "", fmt.Errorf("it is not UTF-8 in line %d; save it as UTF-8", line)
	}
	sum := sha256.Sum256(data)
	file := File{Path: path, Size: len(data), Hash: hex.EncodeToString(sum[:6])}
	return file, strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), nil
}

func contents(path string) ([]byte, error) {
	f, _, err := openRegular(path)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("it cannot be read: %w", failed.Err) // the [Fault] has the path
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // the file was only read
	data, err := io.ReadAll(io.LimitReader(f, fileBytes+1))
	if err == nil && len(data) > fileBytes {
		err = fmt.Errorf("it is larger than %d MB", fileBytes>>20)
	}
	return data, err
}

// visibleText returns a text without comments, keyword lines, and the drawer before the first
// heading. Blocks stay whole.
func visibleText(text string) string { return strings.TrimSpace(visibleLines(text)) }

// visibleLines does the same as visibleText, and keeps the blank lines around the text.
func visibleLines(text string) string {
	var b strings.Builder
	inBlock, inDrawer, begun := false, false, false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		lower := strings.ToLower(trimmed)
		switch {
		case strings.HasPrefix(lower, "#+begin_"):
			inBlock = true
		case strings.HasPrefix(lower, "#+end_"):
			inBlock = false
		case inBlock:
		case !begun && lower == ":properties:":
			inDrawer = true
			continue
		case inDrawer:
			inDrawer = lower != ":end:"
			continue
		case trimmed == "#" || strings.HasPrefix(trimmed, "# ") || strings.HasPrefix(trimmed, "#+"):
			continue
		}
		begun = begun || trimmed != ""
		b.WriteString(line)
	}
	return b.String()
}

// fields returns the named values of a text.
func fields(text string) []Field {
	var found []Field
	known := map[string]bool{}
	add := func(name, value string) {
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if name != "" && value != "" && !known[name] {
			known[name] = true
			found = append(found, Field{name, value})
		}
	}
	d := org.Parse(text)
	for _, k := range d.Keywords {
		add(k.Key, k.Value)
	}
	for _, p := range d.Properties {
		add(p.Key, p.Value)
	}
	for line := range strings.Lines(text) {
		item, is := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if name, value, described := strings.Cut(item, " ::"); is && described {
			add(name, value)
		}
	}
	return found
}
