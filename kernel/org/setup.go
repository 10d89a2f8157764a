package org

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// maximumSetupFiles bounds the #+SETUPFILE lines that are followed for one note, including those in
// setup files.
const maximumSetupFiles = 100

// remoteSetup matches a name that is no file of this machine: a URL, or a file that Emacs reaches
// through another program.
var remoteSetup = regexp.MustCompile(`^([a-z]+://|/[A-Za-z0-9-]+:)`)

// A setup gathers the keywords of a note and of the files in its #+SETUPFILE lines, each at the
// place of the line with its name.
type setup struct {
	read        func(path string) ([]byte, error)
	home        string
	followed    int
	bytes       int
	keywords    []Keyword
	diagnostics []Diagnostic
}

// withSetup returns the document as Org reads it with its #+SETUPFILE lines: with the TODO keywords
// and the #+PROPERTY lines of those files. As in Org a file that cannot be read is left out with a
// warning.
func withSetup(d *Document, request TangleRequest) (*Document, []Diagnostic) {
	if _, ok := d.Keyword("SETUPFILE"); !ok {
		return d, nil
	}
	s := &setup{read: request.Read, home: request.Home}
	s.gather(d, filepath.Dir(request.Path), []string{request.Path}, 0)
	return reparse(d, s.keywords), s.diagnostics
}

// gather adds the keywords of a document. Relative names in it begin in directory. files are the
// note and the setup files on the way to it. line is the note's line that led here, 0 for the note
// itself.
func (s *setup) gather(d *Document, directory string, files []string, line int) {
	for _, k := range d.Keywords {
		if line > 0 {
			k.Line = line
		}
		if k.Key != "SETUPFILE" {
			s.keywords = append(s.keywords, k)
			continue
		}
		if name := strings.Trim(strings.TrimSpace(k.Value), `"`); name != "" {
			s.follow(name, directory, files, k.Line)
		}
	}
}

// follow adds the keywords of one setup file. It does so once for each way that leads to the file.
func (s *setup) follow(name, directory string, files []string, line int) {
	warn := func(why string) {
		s.diagnostics = append(s.diagnostics, Diagnostic{line, 1, Warning, "#+SETUPFILE " + name + " is not read: " + why})
	}
	if remoteSetup.MatchString(name) {
		warn("it is not on this machine")
		return
	}
	path := name
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		path = filepath.Join(s.home, rest)
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(directory, path)
	}
	for _, file := range files {
		if file == path {
			return
		}
	}
	if s.followed++; s.followed > maximumSetupFiles {
		warn(fmt.Sprintf("more than %d are followed for one note", maximumSetupFiles))
		return
	}
	if s.read == nil {
		warn("there are no files here")
		return
	}
	source, err := s.read(path)
	if err != nil {
		warn(err.Error())
		return
	}
	if s.bytes += len(source); s.bytes > MaxSource {
		warn(fmt.Sprintf("the setup files are larger than %d MiB", MaxSource>>20))
		return
	}
	d, faults := decodeNote(source)
	if faults != nil {
		warn(faults[0].Message)
		return
	}
	s.gather(d, filepath.Dir(path), append(files[:len(files):len(files)], path), line)
}
