package tasks

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/task"
)

// Tag is the tag of headings outside of the file of tasks that are tasks, where the person names no other.
const Tag = "agenttask"

// otherLimit is how many files are looked at besides the file of tasks.
const otherLimit = 1000

// Watched are files that the person wants to be looked at for tasks.
type Watched struct {
	Files []string // absolute
	Tag   string   // of the headings that are tasks
	// Sequences are the TODO keywords of files that declare none, as for [task.Source].
	Sequences []string
}

// sources are the files that are looked at for tasks. The methods directories and concerns may be called from any
// goroutine, all others only from that of [Sensor.Run].
type sources struct {
	config   Config
	all      []*source       // the file of tasks first
	emacs    Watched         // what the person's Emacs wants to be looked at
	reported map[string]bool // the files of which faults were told

	mu      sync.Mutex
	paths   map[string]bool // of the files
	renewed chan struct{}   // the paths are others
}

func newSources(c Config) *sources {
	return &sources{
		config: c, all: []*source{{path: c.File.Path}}, paths: map[string]bool{c.File.Path: true}, renewed: make(chan struct{}, 1), reported: map[string]bool{},
	}
}

// source is a file with tasks.
type source struct {
	path      string
	tag       string // of its tasks, "" for the file of tasks
	sequences []string

	text  string
	file  *task.File // as it was read last, nil if it was not
	fault string     // why it cannot be read
	since time.Time  // when the text was first seen
}

// unsettled is how long a text may be one that an editor is still writing.
const unsettled = time.Second

// fresh reports whether the text may be a part of what an editor is writing: it disarms nothing yet.
func (one *source) fresh(now time.Time) bool {
	age := now.Sub(one.since)
	return age >= 0 && age < unsettled
}

// look reads the sources, and reports whether one is not as it was.
func (s *sources) look(consents map[string]journal.Consent) (changed bool) {
	former := s.all
	s.all = s.wanted(consents)
	changed = len(former) != len(s.all)
	for i, one := range s.all {
		at := slices.IndexFunc(former, func(f *source) bool { return f.path == one.path })
		if at >= 0 && former[at].tag == one.tag && slices.Equal(former[at].sequences, one.sequences) {
			*one = *former[at]
		}
		changed = s.read(one) || changed || at != i
	}
	paths := make(map[string]bool, len(s.all))
	for _, one := range s.all {
		paths[one.path] = true
	}
	s.mu.Lock()
	renewed := !maps.Equal(paths, s.paths)
	s.paths = paths
	s.mu.Unlock()
	if renewed {
		signal(s.renewed)
	}
	return changed
}

// wanted returns what is to be looked at: the file of tasks first, what Emacs and the settings name, and the files in
// which tasks are armed. All but the first have no links in their names.
func (s *sources) wanted(consents map[string]journal.Consent) []*source {
	all := []*source{{path: s.config.File.Path}}
	taken := map[string]bool{real(s.config.File.Path): true}
	add := func(path, tag string, sequences []string) {
		path = real(path)
		if taken[path] || len(all) > otherLimit || s.config.Excluded != nil && s.config.Excluded(path) {
			return
		}
		taken[path] = true
		all = append(all, &source{path: path, tag: tag, sequences: sequences})
	}
	for _, path := range s.emacs.Files {
		add(path, s.emacs.Tag, s.emacs.Sequences)
	}
	for _, id := range slices.Sorted(maps.Keys(consents)) {
		add(consents[id].File, consents[id].Tag, consents[id].Sequences)
	}
	if s.config.Others != nil {
		files, tag := s.config.Others()
		for _, path := range files {
			add(path, cmp.Or(tag, Tag), nil)
		}
	}
	return all
}

// hold has the tags of the files held. The next look tries again what fails.
func (s *sources) hold(ctx context.Context) {
	for _, one := range s.all[1:] {
		if err := s.config.hold(ctx, one.tag); err != nil && ctx.Err() == nil {
			s.config.Logger.Error("a tag of tasks is not held by later kernels", "tag", one.tag, "file", one.path, "err", err)
			return
		}
	}
}

// real returns a path without links. That of a file that is not there stays as it is.
func real(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return filepath.Clean(path)
}

// read reads a source, and reports whether it is not as it was. One that cannot be read keeps what it had, and is no source
// of tasks meanwhile.
func (s *sources) read(one *source) (changed bool) {
	text, err := readFile(one.path, one.tag != "")
	if err != nil {
		changed = one.fault != err.Error()
		one.fault = err.Error()
		return changed
	}
	if one.file != nil && one.fault == "" && text == one.text {
		return false
	}
	one.text, one.fault, one.since = text, "", s.config.Now()
	one.file = task.Read(one.source(text, s.config))
	return true
}

// source returns a text of the file for [task.Read].
func (one *source) source(text string, c Config) task.Source {
	return task.Source{Path: one.path, Text: text, Zone: c.Zone, Tag: one.tag, Sequences: one.sequences}
}

// of returns the source of a file. One that is not looked at any more has no other keywords than the usual ones.
func (s *sources) of(path string) *source {
	for _, one := range s.all {
		if one.path == path {
			return one
		}
	}
	return &source{path: path, tag: Tag}
}

// twice notes that a task is one of another file.
func (one *source) twice(w, other *watched) {
	fault := org.Diagnostic{
		Line: w.Line, Column: 1, Severity: org.Error, Message: fmt.Sprintf("the task has the :ID: of that on line %d of %s: give it one of its own", other.Line, other.file),
	}
	if !slices.Contains(one.file.Faults, fault) {
		one.file.Faults = append(one.file.Faults, fault)
	}
}

// report tells what is wrong with the files.
func (s *sources) report() {
	told := map[string]bool{}
	for _, one := range s.all {
		lines := one.faults()
		if len(lines) == 0 && !s.reported[one.path] {
			continue
		}
		s.config.Report(s.subject(one.path), lines)
		if one.fault != "" {
			s.config.Logger.Warn("tasks cannot be read", "file", one.path, "err", one.fault)
		}
		told[one.path] = len(lines) > 0
	}
	for path := range s.reported {
		if _, looked := told[path]; !looked {
			s.config.Report(s.subject(path), nil)
		}
	}
	maps.DeleteFunc(told, func(_ string, has bool) bool { return !has })
	s.reported = told
}

// subject names a file where faults are told.
func (s *sources) subject(path string) string {
	if path == s.config.File.Path {
		return filepath.Base(path)
	}
	return path
}

// faults returns what is wrong with a file, a line each.
func (one *source) faults() []string {
	if one.fault != "" {
		return []string{one.fault}
	}
	lines := make([]string, len(one.file.Faults))
	for i, d := range one.file.Faults {
		lines[i] = one.path + ":" + d.String()
	}
	return lines
}

// directories returns those that have files to look at, besides that of the file of tasks.
func (s *sources) directories() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]bool{}
	for path := range s.paths {
		if directory := filepath.Dir(path); directory != filepath.Dir(s.config.File.Path) {
			all[directory] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// concerns reports whether a path is that of a file to look at.
func (s *sources) concerns(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paths[path]
}
