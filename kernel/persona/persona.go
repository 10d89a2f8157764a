// Package persona reads the files of the home that describe the agent and the person: the files of the
// persona, the profiles, and the notes that replace sections of prompts. It reads the first two anew
// on every use, and all of them after every save. After each reading it reports all faults of the
// files.
//
// A [Persona] is safe for many goroutines and starts none. [Persona.Follow] blocks until its context
// ends; every other method returns when it has read the files.
package persona

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"org-agent/kernel/memory"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
	"org-agent/kernel/watch"
)

// The groups of files whose faults are reported together.
const (
	groupPersona  = "persona"
	groupPrompt   = "prompt"
	groupProfiles = "profiles"
)

// Persona gives access to the files of one home.
type Persona struct {
	home    *memory.Home
	clock   func() time.Time
	faults  func(group string, faults []string)
	logger  *slog.Logger
	watcher *watch.Watcher
	library atomic.Pointer[prompt.Library]
	zone    atomic.Pointer[time.Location] // the person's time zone; nil if USER.org names none
}

// Config configures a [Persona]. All fields are required.
type Config struct {
	// Watcher is shared with others. nil: the persona has its own.
	Watcher *watch.Watcher
	Home    *memory.Home
	// Clock returns the present time. Its zone holds if USER.org names none.
	Clock func() time.Time
	// Faults is called each time a group of files was read, with all faults of the group.
	Faults func(group string, faults []string)
	Logger *slog.Logger
}

// New reads the files. The only error is that the program's own sections of the prompt cannot be
// read.
func New(c Config) (*Persona, error) {
	p := &Persona{home: c.Home, clock: c.Clock, faults: c.Faults, logger: c.Logger, watcher: c.Watcher}
	if err := p.loadLibrary(); err != nil {
		return nil, err
	}
	p.read() // finds the person's time zone too
	p.checkProfiles()
	return p, nil
}

// Field returns a function that looks up the fields of the home's file IDENTITY by name.
func Field(home *memory.Home) func(name string) string {
	return func(name string) string {
		value := home.File("IDENTITY").Field(name)
		if name == "name" {
			return prompt.Name(value)
		}
		return value
	}
}

// Now returns the time in the zone that USER.org names.
func (p *Persona) Now() time.Time {
	if zone := p.zone.Load(); zone != nil {
		return p.clock().In(zone)
	}
	return p.clock()
}

// Library returns the sections of prompts, including the notes that replace some.
func (p *Persona) Library() *prompt.Library { return p.library.Load() }

// With returns the present content of the home's files with a profile; "" means no profile. If the
// profile cannot be read, it returns the files without it and an error.
func (p *Persona) With(profile string) (memory.Persona, error) {
	persona := p.read()
	if profile == "" {
		return persona, nil
	}
	with, err := p.profile(profile)
	p.checkProfiles()
	if err != nil {
		return persona, err
	}
	return persona.With(with), nil
}

// CheckProfile returns an error if there is no profile of that name or if its file has a fault. The
// error suggests a similar name if there is one.
func (p *Persona) CheckProfile(name string) error {
	_, err := p.profile(name)
	return err
}

// Profiles returns the names of all profiles, with faults or without. It reports no faults;
// [Persona.With] does.
func (p *Persona) Profiles() []string {
	names, _ := p.home.Profiles()
	return names
}

// profile reads the profile of that name.
func (p *Persona) profile(name string) (memory.Profile, error) {
	profile, err := p.home.Profile(name)
	if !errors.Is(err, memory.ErrNoProfile) {
		if err != nil {
			err = protocol.Errorf(protocol.CodeInvalidParams, "%w", err)
		}
		return profile, err
	}
	if near := suggest.Of(name, p.Profiles()); near != "" {
		return profile, protocol.Errorf(protocol.CodeNotFound, "there is no profile %q: did you mean %q?", name, near)
	}
	return profile, protocol.Errorf(protocol.CodeNotFound, "there is no profile %q: it would be the file profiles/%s.org in the home", name, name)
}

// checkProfiles reports the faults of the profiles' files.
func (p *Persona) checkProfiles() {
	_, found := p.home.Profiles()
	var faults []string
	for _, fault := range found {
		faults = append(faults, fault.Error())
	}
	p.faults(groupProfiles, faults)
}

// read returns the present content of the home's files and reports their faults. It reads the time zone
// first, because the zone decides which notes are of today. It uses the zone that this call has read,
// because other goroutines may read at the same time.
func (p *Persona) read() memory.Persona {
	user := p.home.File("USER")
	var fault *memory.Fault
	now := p.clock()
	switch location, err := zoneOf(user); {
	case err != nil:
		fault = &memory.Fault{Path: user.Path, Message: err.Error()}
		now = p.Now()
	case location != nil:
		now = now.In(location)
		p.zone.Store(location)
	default:
		p.zone.Store(nil)
	}
	persona := p.home.Persona(now)
	if fault != nil {
		persona.Faults = append(persona.Faults, *fault)
	}
	var faults []string
	for _, fault := range persona.Faults {
		faults = append(faults, fault.Error())
	}
	p.faults(groupPersona, faults)
	return persona
}

// zoneOf returns the time zone that USER.org names, nil if it names none.
func zoneOf(user memory.File) (*time.Location, error) {
	name := user.Field("timezone")
	if name == "" {
		return nil, nil
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("there is no time zone %q; write it as Europe/Berlin", name)
	}
	return location, nil
}

// loadLibrary reads the sections of prompts. If a note has a fault, the earlier sections stay; the first
// time, these are the program's own.
func (p *Persona) loadLibrary() error {
	library, found := prompt.Load(filepath.Join(p.home.Directory, "prompt"))
	var faults []string
	for _, fault := range found {
		faults = append(faults, fault.Error()+"; the prompt stays what it was")
	}
	if library == nil && p.library.Load() == nil {
		if library, found = prompt.Load(""); library == nil {
			return fmt.Errorf("read the sections of the prompt: %w", found[0])
		}
	}
	if library != nil {
		p.library.Store(library)
	}
	p.faults(groupPrompt, faults)
	return nil
}

// Follow watches the files until ctx ends. After a save it loads the notes of the prompt, and reports the
// faults of all files. It returns an error at once if the files cannot be watched.
func (p *Persona) Follow(ctx context.Context) error {
	directories := []string{filepath.Join(p.home.Directory, "prompt"), filepath.Join(p.home.Directory, "profiles")}
	w := watch.Watch{
		Of: "the persona", Above: p.home.Directory, Quiet: 20 * time.Millisecond, MaxDelay: 500 * time.Millisecond, Logger: p.logger, Watcher: p.watcher,
		Directories: func() []string { return directories },
		Concerns: func(path string) bool {
			if slices.Contains(directories, path) || slices.Contains(directories, filepath.Dir(path)) && strings.HasSuffix(path, ".org") {
				return true
			}
			role := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".org"), ".md")
			return slices.Contains(memory.Roles(), role)
		},
		CatchUp: func(context.Context) time.Duration {
			if err := p.loadLibrary(); err != nil {
				p.logger.Error("the prompt stays what it was", "err", err)
			}
			p.read()
			p.checkProfiles()
			return 0
		},
	}
	return w.Follow(ctx)
}
