package skillmd

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"org-agent/kernel/skill"
	"org-agent/kernel/text"
	"org-agent/kernel/watch"
)

// Config configures a [Registry]: where the skills are and what decides about them. The zero value
// has no skills.
type Config struct {
	// Watcher is shared with others. nil: the registry has its own.
	Watcher *watch.Watcher
	// Shipped holds the directories that come with the program, at its root. May be nil.
	Shipped fs.FS
	// Home is the directory of the user's skills, "" for none. It may be absent.
	Home string
	// Originals is the directory in which Copy stores the originals. "": they are not stored.
	Originals string
	// Notes returns the names of Org notes, each with the note's file. A skill with such a name is
	// shadowed. It is called at each publishing. May be nil.
	Notes func() map[string]string
	// Environment returns the machine and the settings that decide whether skills are effective. It
	// is called at each publishing. nil: the zero Environment.
	Environment func() Environment
	// Changed is called with the new statuses when a publishing changed anything, one call at a
	// time. It must not call Load or Refresh. May be nil.
	Changed func([]Status)
	// Logger receives faults. Default: they are dropped.
	Logger *slog.Logger
}

// Status is the state of one skill.
type Status struct {
	File        string   `json:"file"`
	Skill       string   `json:"skill"`
	Description string   `json:"description,omitempty"`
	State       State    `json:"state"`
	Reasons     []string `json:"reasons,omitempty"`
	Shipped     bool     `json:"shipped,omitempty"`
	Version     string   `json:"version,omitempty"`
	// OnlyUser is true if the skill is not offered to the model.
	OnlyUser    bool               `json:"only-user,omitempty"`
	Diagnostics []skill.Diagnostic `json:"diagnostics,omitempty"`
}

// Registry holds the skills. It is safe for many goroutines.
type Registry struct {
	config   Config
	current  atomic.Pointer[Set]
	statuses atomic.Pointer[[]Status]

	loading sync.Mutex // held while skills are read; guards the fields below
	skills  []*Skill
}

// Skill is one directory at the time when it was read.
type Skill struct {
	Matter Matter
	// Name is the name of the directory. The name in the front matter is the same unless the skill
	// failed.
	Name    string
	File    string
	Shipped bool

	listed string // the description, shortened for lists
	origin origin
	faults []skill.Diagnostic
}

// New returns a registry without skills. Call Load.
func New(config Config) *Registry {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Registry{config: config}
	r.current.Store(&Set{})
	r.statuses.Store(&[]Status{})
	return r
}

// Current returns the effective skills. It never blocks.
func (r *Registry) Current() *Set { return r.current.Load() }

// Statuses returns the state of every skill, the home's first, by name. It never blocks.
func (r *Registry) Statuses() []Status { return slices.Clone(*r.statuses.Load()) }

// Load reads every skill again and publishes the effective ones. If the context ends first, nothing
// is published.
func (r *Registry) Load(ctx context.Context) []Status {
	r.loading.Lock()
	defer r.loading.Unlock()
	var all []*Skill
	for _, o := range r.origins() {
		names, err := o.list()
		if err != nil {
			r.config.Logger.Error("skills cannot be listed", "err", err)
		}
		all = append(all, readAll(ctx, o, names)...)
	}
	if ctx.Err() == nil {
		r.skills = all
		r.publish()
	}
	return r.Statuses()
}

// Refresh decides again which of the skills that were read are effective with the current settings,
// machine and notes.
func (r *Registry) Refresh() []Status {
	r.loading.Lock()
	defer r.loading.Unlock()
	r.publish()
	return r.Statuses()
}

func (r *Registry) origins() []origin {
	var all []origin
	if r.config.Home != "" {
		all = append(all, origin{directory: r.config.Home})
	}
	if r.config.Shipped != nil {
		all = append(all, origin{shipped: true, files: r.config.Shipped})
	}
	return all
}

// readAll reads the directories, one per processor at the same time.
func readAll(ctx context.Context, o origin, names []string) []*Skill {
	found := make([]*Skill, len(names))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(names)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(names) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				found[i] = readSkill(o, names[i])
			}
		})
	}
	workers.Wait()
	return slices.DeleteFunc(found, func(s *Skill) bool { return s == nil })
}

// readSkill reads what is needed to list a skill. It returns nil if the directory is not a skill.
// The body is not kept in memory.
func readSkill(o origin, name string) *Skill {
	s := &Skill{Name: name, File: o.path(name), Shipped: o.shipped, origin: o}
	fault := func(message string) {
		s.faults = []skill.Diagnostic{{File: s.File, Line: 1, Column: 1, Message: message}}
	}
	files, err := o.open(name)
	if errors.Is(err, errNoSkill) {
		return nil
	}
	if err != nil {
		fault(err.Error())
		return s
	}
	defer files.close()
	source, size, err := files.read(FileName, fileBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		other := otherCase(files.fs)
		if other == "" {
			return nil
		}
		fault("the file is called " + other + ": it is read as " + FileName + " only")
	case err != nil:
		fault("read the skill: " + err.Error())
	case size > fileBytes:
		s.faults = tooLong(s.File, size)
	default:
		_, s.Matter, s.faults = examine(s.File, name, source)
		s.listed = text.PlainLine(s.Matter.Description, descriptionLength)
	}
	return s
}

// otherCase returns the name of a file that was meant to be SKILL.md and has another case.
func otherCase(files fs.FS) string {
	entries, _ := fs.ReadDir(files, ".") // an unreadable directory is not a skill
	for _, entry := range entries {
		if strings.EqualFold(entry.Name(), FileName) && !entry.IsDir() {
			return entry.Name()
		}
	}
	return ""
}

// publish decides about every skill and makes the effective ones the current set. The caller holds
// loading.
func (r *Registry) publish() {
	var around Environment
	if r.config.Environment != nil {
		around = r.config.Environment()
	}
	around.programs = map[string]bool{}
	notes := map[string]string{}
	if r.config.Notes != nil {
		notes = r.config.Notes()
	}
	set := &Set{}
	homes := map[string]*Skill{}
	var statuses []Status
	for _, s := range r.skills {
		status := s.status()
		switch other := homes[s.Name]; {
		case failed(s):
			status.State = Failed
		case notes[s.Name] != "":
			status.State, status.Reasons = Shadowed, []string{"the note " + notes[s.Name] + " has its name; rename the directory and the name in it"}
		case other != nil:
			status.State, status.Reasons = Shadowed, []string{other.File + " has its name"}
		default:
			status.State, status.Reasons = around.Eligible(s.Matter)
			if !s.Shipped {
				homes[s.Name] = s
			}
		}
		if status.State == Effective {
			set.skills = append(set.skills, s)
		}
		statuses = append(statuses, status)
	}
	slices.SortFunc(set.skills, func(a, b *Skill) int { return strings.Compare(a.Name, b.Name) })
	r.advise(statuses)
	before := r.Statuses()
	r.current.Store(set)
	r.statuses.Store(&statuses)
	r.report(before, statuses)
	if r.config.Changed != nil && !reflect.DeepEqual(before, statuses) {
		r.config.Changed(slices.Clone(statuses))
	}
}

func failed(s *Skill) bool {
	return slices.ContainsFunc(s.faults, func(d skill.Diagnostic) bool { return !d.Warning })
}

func (s *Skill) status() Status {
	return Status{
		File: s.File, Skill: s.Name, Description: s.listed, Shipped: s.Shipped,
		Version: text.PlainLine(s.Matter.Version, 40), OnlyUser: s.Matter.OnlyUser, Diagnostics: slices.Clone(s.faults),
	}
}

// report logs the changes of the skills' states.
func (r *Registry) report(before, after []Status) {
	known := map[string]Status{}
	for _, status := range before {
		known[status.File] = status
	}
	for _, status := range after {
		old := known[status.File]
		if old.State == status.State && slices.Equal(old.Reasons, status.Reasons) && slices.Equal(old.Diagnostics, status.Diagnostics) {
			continue
		}
		attributes := []any{"file", status.File, "state", string(status.State)}
		if len(status.Reasons) > 0 {
			attributes = append(attributes, "reasons", strings.Join(status.Reasons, "; "))
		}
		if status.State != Failed {
			r.config.Logger.Info("a skill was read", attributes...)
			continue
		}
		r.config.Logger.Warn("a skill does not count", append(attributes, "faults", skill.Faults(status.Diagnostics).Error())...)
	}
}

// NamesOf returns the names of notes, those of their files and of their skills, each with the
// note's file. It is meant for [Config.Notes].
func NamesOf(notes []skill.Status) map[string]string {
	names := map[string]string{}
	for _, note := range notes {
		if note.State != skill.Live && !note.LastGood {
			continue
		}
		file := strings.TrimSuffix(path.Base(filepath.ToSlash(note.File)), ".org")
		for _, name := range append(strings.Fields(note.Skill), file) {
			names[strings.TrimPrefix(strings.TrimPrefix(name, "org-"), "skill-")] = note.File
		}
	}
	return names
}
