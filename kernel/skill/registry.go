package skill

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/lisp"
	"org-agent/kernel/watch"
)

// Config configures a [Registry]: where the notes are, and what they may call. The zero value has no
// notes.
type Config struct {
	// Shipped holds the notes that come with the program, at its root. May be nil.
	Shipped fs.FS
	// Home is the directory of the user's notes, "" for none. It may be absent and
	// appear later.
	Home string
	// Watcher is shared with others. nil: the registry has its own.
	Watcher *watch.Watcher
	// FirstLoad is how long each note may take in the first Load, which a kernel waits for before it answers.
	// One that takes longer is loaded by Watch. Default: 2 seconds, and less after the first four.
	FirstLoad time.Duration
	// Keep is the directory for the last good version of each of the home's notes. A later
	// registry uses it for a note that is broken. The directory is made when it is needed.
	// Default: no version is kept.
	Keep string
	// Proven is the file that says which notes passed their tests with which Program; the
	// first Load makes those live, and Prove runs their tests. Default: all tests run first.
	Proven, Program string
	// Log receives the lines that notes log, with the name of the skill. The goroutines that call
	// or load notes call it, and it must not block. Default: the lines are dropped.
	Log func(skill, text string)
	// Inject receives the events that notes inject. It is called as Log is. Default: an error in
	// the note.
	Inject func(event sexp.List)
	// Recorded returns a turn of the journal, for tests that replay one; it is called by the
	// goroutines that load notes. Default: an error in the test.
	Recorded func(ctx context.Context, turn string) (Recording, error)
	// Persona returns a value from the person's IDENTITY.org, such as "name", or "". The name is in
	// lower case. The goroutines that call notes call it, and it may read a file. Default: "".
	Persona func(name string) string
	// Specs returns the kernel's kinds of actions. They determine what answers an event, and notes
	// cannot define actions for their targets. The goroutines that call or load notes call it.
	// Default: none.
	Specs func() action.Specs
	// Tools returns the names of the kernel's tools. A note's tool cannot have one of them. Default:
	// none.
	Tools func() []string
	// CheckEvent returns an error if nobody would take an event that a note injects. Default: nil.
	CheckEvent func(event sexp.List) error
	// Changed is called after each publishing, one call at a time, with the new statuses.
	// It must not call Load. May be nil.
	Changed func([]Status)
	// Logger receives faults of notes and of the directory. Default: they are dropped.
	Logger *slog.Logger
	// Limits bound each call into a note; see [lisp.Limits] for the defaults.
	Limits lisp.Limits
	// Grants decide what the notes can reach. The registry loads a note again when its grants
	// change. Default: nothing is granted.
	Grants *Grants
}

// Registry loads the notes and holds the live skills. It is safe for many goroutines.
type Registry struct {
	config   Config
	keep     versionStore
	proofs   proofs
	memory   *lisp.Memory
	checked  []origin // of notes that are read beside the home's; see CheckFiles
	current  atomic.Pointer[Set]
	statuses atomic.Pointer[[]Status]

	loading sync.Mutex // held while notes are loaded; guards the fields below
	slots   map[string]*slot
	loaded  bool      // Load was called before
	began   time.Time // of the first Load
	// directory holds the faults of the home's directory as a whole.
	directory []Diagnostic
}

// slot is a note's file with the versions of the note.
type slot struct {
	origin origin
	name   string // of the file
	sum    [sha256.Size]byte

	// live is the newest version that loaded, passed its tests and was accepted.
	live *Note
	// restorable is the version whose text is in the keep.
	restorable *Note
	// candidate is a version that loaded, passed its tests, and is not accepted yet.
	candidate *Note
	// newest is the version in the file, live or not.
	newest *Note
	// late is true if the first Load did not wait for newest.
	late bool
	// faults are the reasons why newest did not load. blocked are the reasons why it cannot be live
	// beside other notes.
	faults, blocked []Diagnostic
	// without are the warnings about parts that the live version cannot have, such as a command of
	// another note.
	without []Diagnostic
	// rejected is true if candidate cannot be live now. rejection is the state to report then.
	rejected  bool
	rejection State
	state     State
	// missing is the time since which the file is missing, or zero.
	missing time.Time
	// published is true if live is in the current set.
	published bool
	// unproven is true if newest passed its tests before and they have not run again yet.
	unproven bool
}

// memoryOfNotes is how much memory the calls of all notes may have in use together, in bytes. With it
// a kernel stays within 200 MB, whatever its notes do.
const memoryOfNotes = 96 << 20

// New returns a registry without skills. Call Load.
func New(config Config) *Registry {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	r := &Registry{config: config, keep: versionStore{config.Keep}, proofs: proofs{path: config.Proven, program: config.Program}, slots: map[string]*slot{}, memory: lisp.NewMemory(memoryOfNotes)}
	r.current.Store(newSet(nil))
	r.statuses.Store(&[]Status{})
	return r
}

// Current returns the live skills. It never blocks.
func (r *Registry) Current() *Set { return r.current.Load() }

// Statuses returns the status of every note, the home's first, by file. It never blocks. The slice is
// the caller's.
func (r *Registry) Statuses() []Status { return slices.Clone(*r.statuses.Load()) }

// Load reads, loads and tests every note, and publishes all that can be live as one new Set. A note
// that fails leaves its last good version and all other notes live. If the context ends first,
// nothing is published.
func (r *Registry) Load(ctx context.Context) []Status {
	r.loading.Lock()
	defer r.loading.Unlock()
	if !r.loaded {
		r.began = time.Now()
		if err := r.proofs.read(); err != nil {
			r.config.Logger.Warn("all tests of notes run", "err", err)
		}
	}
	r.refresh(ctx, true)
	r.loaded = r.loaded || ctx.Err() == nil
	return r.Statuses()
}

// origins returns the places from which notes are read.
func (r *Registry) origins() []origin {
	all := slices.Clone(r.checked)
	if r.config.Home != "" {
		all = append(all, homeOrigin(r.config.Home))
	}
	if r.config.Shipped != nil {
		all = append(all, origin{files: r.config.Shipped, shipped: true})
	}
	return all
}

// refresh reads the notes and publishes if anything changed. If again is true, it loads all notes
// and drops those whose files are gone. Otherwise it loads the notes whose text has changed, and
// drops a note only when its file has been missing for goneTime, because editors save a file by
// replacing it. It returns true if a file has been missing for less. The caller holds loading.
func (r *Registry) refresh(ctx context.Context, again bool) (missing bool) {
	found := map[string]bool{}
	changed := r.config.Grants.Refresh()
	if changed || again {
		for _, d := range r.config.Grants.Diagnostics() {
			r.config.Logger.Warn("nothing is granted to any note", "faults", d.String())
		}
	}
	var all []*slot
	for _, o := range r.origins() {
		names, err := o.list()
		names = r.withoutChecked(o, names)
		if r.unlisted(o, err) {
			changed = true
		}
		if err != nil && len(names) == 0 { // the directory exists and is unreadable: live notes stay live
			for id, s := range r.slots {
				found[id] = found[id] || !s.origin.shipped && !o.shipped
			}
		}
		for _, name := range names {
			s := r.slots[o.path(name)]
			if s == nil {
				s = &slot{origin: o, name: name}
			}
			s.missing = time.Time{}
			found[o.path(name)] = true
			all = append(all, s)
		}
	}
	fresh := r.prepareAll(ctx, all, again)
	if ctx.Err() != nil {
		return false
	}
	for i, s := range all {
		if fresh[i] {
			r.slots[s.origin.path(s.name)], changed = s, true
		}
	}
	for id, s := range r.slots {
		switch {
		case found[id]:
		case s.missing.IsZero() && !again:
			s.missing, missing = time.Now(), true
		case again || time.Since(s.missing) >= goneTime:
			delete(r.slots, id)
			changed = true
		default:
			missing = true
		}
	}
	if changed {
		r.publish()
	}
	if changed || again {
		r.storeLive()
		r.keepProofs()
	}
	return missing
}

// unlisted records the fault of a whole directory for the statuses. It reports whether the fault is
// new.
func (r *Registry) unlisted(o origin, err error) bool {
	if o.shipped {
		return false // the program contains these notes
	}
	var now []Diagnostic
	if err != nil {
		now = []Diagnostic{Unread(o.directory, err)}
	}
	if slices.Equal(now, r.directory) {
		return false
	}
	r.directory = now
	return true
}

// prepareAll prepares the slots, one per processor at the same time, and returns which of them
// changed. It stops early when the context ends.
func (r *Registry) prepareAll(ctx context.Context, slots []*slot, again bool) []bool {
	fresh := make([]bool, len(slots))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(slots)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(slots) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				fresh[i] = r.prepare(ctx, slots[i], again)
			}
		})
	}
	workers.Wait()
	return fresh
}

// prepare reads the slot's file. If the note loads and passes its tests, it becomes the candidate.
// prepare reports whether anything changed. It loads a file with the same text only if again is
// true.
func (r *Registry) prepare(ctx context.Context, s *slot, again bool) bool {
	path := s.origin.path(s.name)
	source, err := s.origin.read(s.name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && s.newest != nil {
			return false // the slot is dropped when the file leaves the list, not while it is renamed
		}
		source = []byte(err.Error())
	}
	sum := sha256.Sum256(source)
	if !again && s.newest != nil && !s.late && sum == s.sum && s.newest.consent.same(r.config.Grants.decide(s.newest)) {
		return false
	}
	options, proven := r.options(s), false
	whole := ctx
	ctx, done := r.firstLoad(ctx)
	defer done()
	var n *Note
	var faults []Diagnostic
	if err == nil {
		n, faults = loadUntested(ctx, path, source, options)
		if tests := r.proofs.passed[proofKey(sum, path)]; len(faults) == 0 && !r.loaded && tests > 0 && n.provable() {
			n.proven, proven = tests, true
		} else if len(faults) == 0 {
			faults = n.prove(ctx)
		} else {
			n.warnOfTests()
		}
	} else {
		n, _ = scan(path, nil, options)
		faults = []Diagnostic{Unread(path, err)}
	}
	late := ctx.Err() != nil && whole.Err() == nil
	if ctx = whole; late {
		faults = []Diagnostic{{File: n.File, Line: 1, Column: 1, Message: "it takes long to load: that goes on when the kernel has started"}}
	}
	var candidate *Note
	switch {
	case late:
	case len(faults) == 0:
		candidate = n
	case s.newest == nil && !s.origin.shipped:
		candidate = r.restored(ctx, s, options)
	}
	if ctx.Err() != nil {
		return false
	}
	s.sum, s.newest, s.candidate, s.faults, s.unproven, s.late = sum, n, candidate, limited(faults), proven, late
	return true
}

const (
	// firstLoad is the default of [Config.FirstLoad]. firstLoads is how long all notes may take so,
	// after which each has firstLoadLeast.
	firstLoad, firstLoads = 2 * time.Second, 4 * time.Second
	firstLoadLeast        = 100 * time.Millisecond
)

// firstLoad limits the time of a note in the first Load, and of no other one.
func (r *Registry) firstLoad(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.loaded {
		return ctx, func() {}
	}
	limit := cmp.Or(r.config.FirstLoad, firstLoad)
	return context.WithTimeout(ctx, max(min(limit, firstLoads-time.Since(r.began)), min(limit, firstLoadLeast)))
}

// options returns the options with which the slot's note is loaded.
func (r *Registry) options(s *slot) Options {
	return Options{Persona: r.config.Persona, live: func() Identity { return r.Current().Identity() }, Limits: r.config.Limits, Log: r.config.Log,
		Inject: r.config.Inject, Recorded: r.config.Recorded, Logger: r.config.Logger, Shipped: s.origin.shipped, Grants: r.config.Grants, Specs: r.config.Specs, Tools: r.config.Tools, CheckEvent: r.config.CheckEvent, defined: func() action.Specs { return specsOf(r.Current().actions) }, memory: r.memory}
}

// loadUntested loads a note. Where its text has faults, the blocks are loaded all the same, so that one
// look shows all faults.
func loadUntested(ctx context.Context, path string, source []byte, options Options) (*Note, []Diagnostic) {
	n, faults := scan(path, source, options)
	if len(faults) == 0 {
		return n, n.load(ctx)
	}
	if len(n.blocks) > 0 {
		faults = append(faults, n.independentFaults(faults, n.load(ctx))...)
	}
	return n, faults
}

// loadAndTest loads a note and runs its tests.
func loadAndTest(ctx context.Context, path string, source []byte, options Options) (*Note, []Diagnostic) {
	n, faults := loadUntested(ctx, path, source, options)
	if len(faults) == 0 {
		faults = n.prove(ctx)
	} else {
		n.warnOfTests()
	}
	return n, faults
}

// report logs the changes of the notes' states.
func (r *Registry) report(before, after []Status) {
	known := map[string]Status{}
	for _, status := range before {
		known[status.File] = status
	}
	for _, status := range after {
		old := known[status.File]
		if old.State == status.State && old.Hash == status.Hash && old.Withheld == status.Withheld && slices.Equal(old.Diagnostics, status.Diagnostics) {
			continue
		}
		if len(status.Granted) > 0 {
			r.config.Logger.Info("a note has what it was granted", "file", status.File, "granted", strings.Join(status.Granted, " "), "since", status.Since)
		}
		if status.Withheld != "" && status.State == Live {
			r.config.Logger.Warn("a note is live without what it asks for", "file", status.File,
				"capabilities", strings.Join(status.Capabilities, " "), "withheld", status.Withheld)
		}
		switch status.State {
		case Live, Shadowed:
			r.config.Logger.Info("a note is "+string(status.State), "file", status.File, "skill", status.Skill, "hash", status.Hash)
		default:
			var lines []string
			for _, d := range status.Diagnostics {
				lines = append(lines, d.String())
			}
			r.config.Logger.Warn("a note is not live", "file", status.File, "state", string(status.State),
				"last-good", status.LastGood, "faults", strings.Join(lines, "\n"))
		}
	}
}
