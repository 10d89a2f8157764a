package org

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A TangleRequest is a note to tangle, and the place of the Emacs that would tangle it.
type TangleRequest struct {
	Path      string // absolute, of the note
	Directory string // absolute: relative targets are relative to it
	Home      string // absolute: what ~ means
	Source    []byte // the note
	// Read returns the content of a file from a #+SETUPFILE line. An error says why it cannot be
	// read. With nil no such file can be read.
	Read func(path string) ([]byte, error)
}

// A TangledFile is one target of a note.
type TangledFile struct {
	Name          string       // as written: relative to the directory, absolute, or with ~/ at its front
	Path          string       // absolute
	Content       []byte       //
	Mode          *fs.FileMode // nil is the mode of any new file
	MakeDirectory bool         // its directory is made if it does not exist
	Line          int          // of the first block in it

	text       strings.Builder
	syntax     *commentSyntax
	language   string
	hasShebang bool // it has its #! line
}

// Tangle returns the files that org-babel-tangle (Org 9.5) writes for a note, byte for byte, in the
// order in which it writes them. Where Org would evaluate code, ask or fail, there is an error with
// the line instead, and no file may be written.
func Tangle(request TangleRequest) ([]*TangledFile, []Diagnostic) {
	if len(request.Source) > MaxSource {
		return nil, []Diagnostic{{1, 1, Error, fmt.Sprintf("the note is larger than %d MiB", MaxSource>>20)}}
	}
	d, diagnostics := decodeNote(request.Source)
	if diagnostics != nil {
		return nil, diagnostics
	}
	d, unread := withSetup(d, request)
	t := newTangler(d, request)
	t.diagnostics = unread
	t.index = newSourceIndex(d)
	t.web = newNoweb(t.index, &t.resolver)
	t.web.missing = Warning
	t.web.comment = t.nowebComment
	t.reportScan()
	t.blocks()
	t.diagnostics = append(t.diagnostics, t.web.diagnostics...)
	for _, f := range t.files {
		f.Content = []byte(f.text.String())
		t.checkCookie(f)
	}
	slices.SortStableFunc(t.diagnostics, func(a, b Diagnostic) int { return a.Line - b.Line })
	t.diagnostics = slices.Compact(t.diagnostics)
	return t.files, t.diagnostics
}

// A tangler makes the files of one note.
type tangler struct {
	request     TangleRequest
	doc         *Document
	index       *sourceIndex
	resolver    resolver
	web         *noweb
	files       []*TangledFile
	byName      map[string]*TangledFile
	diagnostics []Diagnostic
}

func newTangler(d *Document, request TangleRequest) *tangler {
	return &tangler{request: request, doc: d, byName: map[string]*TangledFile{}}
}

func (t *tangler) fail(line int, format string, arguments ...any) {
	t.diagnostics = append(t.diagnostics, Diagnostic{line, 1, Error, fmt.Sprintf(format, arguments...)})
}

// reportScan reports the faults of the note's src blocks. Org takes a block without an end for
// text. So does this package, with a diagnostic.
func (t *tangler) reportScan() {
	for _, d := range t.doc.Diagnostics {
		if strings.Contains(d.Message, "_src") {
			d.Severity = Warning
			t.diagnostics = append(t.diagnostics, d)
		}
	}
}

// A place is a block that Org visits: the match of the regular expression, and the parser's block.
type place struct {
	block     *Block
	begin     int // index of the line
	heading   *Heading
	counter   int    // of the blocks visited under the heading, from 1
	behind    string // the note's text from the last block or heading to this block
	arguments arguments
}

// blocks visits every block as Org does.
func (t *tangler) blocks() {
	counter := 0
	var last *Heading
	var ends commentEnds
	for _, match := range t.index.found {
		if t.index.blockAt(match.end) == nil {
			continue
		}
		heading := t.index.headingAt(match.begin)
		if heading != last {
			counter, last = 0, heading
		}
		counter++
		if heading.Hidden() {
			continue
		}
		b := t.index.blockAt(match.begin)
		if b == nil {
			t.fail(match.begin+1, "#+begin_src without #+end_src before the next heading: Emacs fails here; end the block")
			continue
		}
		p := place{block: b, begin: match.begin, heading: heading, counter: counter, arguments: t.resolver.arguments(b)}
		if p.arguments.fault != nil {
			t.diagnostics = append(t.diagnostics, *p.arguments.fault)
			continue
		}
		tangle, written := p.arguments.get("tangle")
		if !written || tangle.kind == textValue && tangle.Value == "no" {
			continue
		}
		if t.check(&p) {
			p.behind = ends.textBefore(t.doc, &p)
			t.tangle(&p)
		}
	}
}

// check reports what Org would evaluate or fail on. It returns true if the block can be tangled.
func (t *tangler) check(p *place) bool {
	before := len(t.diagnostics)
	for _, a := range p.arguments.all {
		switch {
		case a.kind == codeValue && (a.Key != "tangle-mode" || identityMode(a.Value) < 0):
			t.fail(a.Line, ":%s %s is Emacs Lisp, which is not evaluated; write the value itself", a.Key, a.Value)
		case a.kind == numberValue && slices.Contains(textArguments, a.Key):
			t.fail(a.Line, ":%s %s is a number; write it as text in quotes", a.Key, a.Value)
		}
	}
	if tangle, _ := p.arguments.get("tangle"); tangle.kind == absentValue {
		t.fail(tangle.Line, ":tangle has no value; write yes, no or a file's name")
	}
	t.checkVariables(p)
	return len(t.diagnostics) == before
}

// textArguments are the arguments whose values must be text for Org.
var textArguments = []string{"tangle", "comments", "padline", "shebang", "mkdirp", "noweb", "prologue", "epilogue"}

// tangle adds a block to its target's file.
func (t *tangler) tangle(p *place) {
	body, ok := t.body(p)
	if !ok {
		return
	}
	name := t.target(p)
	if name == "" {
		return // :tangle "" has no target
	}
	f := t.file(name, p)
	if f == nil {
		return
	}
	if p.block.Language != f.language {
		f.language = p.block.Language
		f.syntax = syntaxOf(f.language, f.syntax)
	}
	shebang := p.arguments.text("shebang")
	t.mode(f, p, shebang != "")
	if mkdirp, _ := p.arguments.get("mkdirp"); mkdirp.kind == textValue && mkdirp.Value != "no" && strings.Contains(name, "/") {
		f.MakeDirectory = true
	}
	if p.arguments.text("padline") != "no" && f.text.Len() > 0 {
		f.text.WriteByte('\n')
	}
	if shebang != "" && !f.hasShebang {
		f.text.WriteString(shebang + "\n")
		f.hasShebang = true
	}
	t.write(f, p, body)
}

// write adds a block's code and its comments.
func (t *tangler) write(f *TangledFile, p *place, body string) {
	var before, behind string
	comments := p.arguments.text("comments")
	if comments == "org" || comments == "both" {
		before = p.behind
	}
	if before != "" {
		t.insertComment(f, p, before)
	}
	linked := slices.Contains([]string{"both", "link", "yes", "noweb"}, comments)
	if linked {
		before, behind = t.linkComments(p)
		t.insertComment(f, p, before)
	}
	f.text.WriteString(body)
	f.text.WriteByte('\n')
	if linked {
		t.insertComment(f, p, behind)
	}
}

func (t *tangler) insertComment(f *TangledFile, p *place, text string) {
	if strings.Trim(text, " \r\t\n") == "" {
		return
	}
	comment, err := f.syntax.comment(text)
	if err != nil {
		written, _ := p.arguments.get("comments")
		t.fail(written.Line, ":comments %s: %s: %v", written.Value, p.block.Language, err)
		return
	}
	f.text.WriteString(comment)
	f.text.WriteByte('\n')
}

// remoteName matches a file that Emacs would open on another machine, packedName one that it would
// compress or encrypt.
var (
	remoteName = regexp.MustCompile(`^/[^/|:]+:`)
	packedName = regexp.MustCompile(`\.(?:Z|gz|tgz|svgz|sifz|bz2|tbz2?|tbz|tzst|zst|xz|txz|lzma|lz|dz|g?z|gpg)~?$`)
)

// target returns the target's name as Org makes it.
func (t *tangler) target(p *place) string {
	name := p.arguments.text("tangle")
	if name != "yes" {
		return name
	}
	extension := p.block.Language
	if extension == "emacs-lisp" || extension == "elisp" {
		extension = "el"
	}
	name = sansExtension(path.Base(t.request.Path))
	if extension == "" {
		return name // with a tab before the language Org sees no language
	}
	return name + "." + extension
}

// sansExtension removes the extension from a file's name. A leading dot begins no extension.
func sansExtension(name string) string {
	name = strings.TrimSuffix(name, "~")
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		return name[:dot]
	}
	return name
}

// file returns the target of that name, or nil after an error.
func (t *tangler) file(name string, p *place) *TangledFile {
	if f := t.byName[name]; f != nil {
		return f
	}
	written, _ := p.arguments.get("tangle")
	switch {
	case remoteName.MatchString(name):
		t.fail(written.Line, ":tangle %s is on another machine for Emacs, which is not supported", name)
		return nil
	case packedName.MatchString(name):
		t.fail(written.Line, ":tangle %s: Emacs would compress or encrypt this file, which is not supported", name)
		return nil
	case strings.HasSuffix(name, "/"):
		t.fail(written.Line, ":tangle %s names a directory", name)
		return nil
	case strings.HasPrefix(name, "~") && name != "~" && !strings.HasPrefix(name, "~/"):
		t.fail(written.Line, ":tangle %s: the home of another user is not looked up", name)
		return nil
	}
	f := &TangledFile{Name: name, Path: t.expand(name, t.request.Directory), Line: p.begin + 1}
	t.byName[name] = f
	t.files = append(t.files, f)
	return f
}
