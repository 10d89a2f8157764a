// Package persona reads the files of the home that describe the agent and the person, and that make
// up prompts: the files of the persona, the profiles, and the notes that replace sections of
// prompts. It reads them again on every use and after every save, and reports each fault once.
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

// The sorts of files in which faults are reported.
const (
	ofPersona  = "persona"
	ofPrompt   = "prompt"
	ofProfiles = "profiles"
)

// Persona gives access to the files of one home. It is safe for many goroutines.
type Persona struct {
	home    *memory.Home
	clock   func() time.Time
	faults  func(of string, all []string)
	logger  *slog.Logger
	library atomic.Pointer[prompt.Library]
	place   atomic.Pointer[time.Location] // the person's time zone, if USER.org names one
}

// Config configures a [Persona]. All fields are required.
type Config struct {
	Home *memory.Home
	// Clock returns the time in any zone.
	Clock func() time.Time
	// Faults is called with all faults of one sort of files each time these are read.
	Faults func(of string, all []string)
	Logger *slog.Logger
}

// New reads the files. The only error is that the program's own sections of the prompt cannot be
// read.
func New(c Config) (*Persona, error) {
	p := &Persona{home: c.Home, clock: c.Clock, faults: c.Faults, logger: c.Logger}
	if err := p.loadLibrary(); err != nil {
		return nil, err
	}
	p.read() // this also finds the person's time zone
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

// Now returns the time in the person's zone, which USER.org may name.
func (p *Persona) Now() time.Time {
	if place := p.place.Load(); place != nil {
		return p.clock().In(place)
	}
	return p.clock()
}

// Library returns the sections of prompts, including the notes that replace some.
func (p *Persona) Library() *prompt.Library { return p.library.Load() }

// With returns the present texts of the home's files together with a profile; "" means no profile.
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

// CheckProfile returns an error if there is no profile of that name, with a suggestion, or if its
// file has a fault.
func (p *Persona) CheckProfile(name string) error {
	_, err := p.profile(name)
	return err
}

// Profiles returns the names of the profiles, also of those with faults. [Persona.With] reports the
// faults.
func (p *Persona) Profiles() []string {
	names, _ := p.home.Profiles()
	return names
}

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
	p.faults(ofProfiles, faults)
}

// read returns the present texts of the home's files and reports their faults. The time zone comes
// first, as it decides which notes are of today, and only this call's own zone does: others may read at
// the same time.
func (p *Persona) read() memory.Persona {
	user := p.home.File("USER")
	var fault *memory.Fault
	now := p.clock()
	switch place, err := zone(user); {
	case err != nil:
		fault = &memory.Fault{Path: user.Path, Message: err.Error()}
		now = p.Now()
	case place != nil:
		now = now.In(place)
		p.place.Store(place)
	default:
		p.place.Store(nil)
	}
	persona := p.home.Persona(now)
	if fault != nil {
		persona.Faults = append(persona.Faults, *fault)
	}
	var faults []string
	for _, fault := range persona.Faults {
		faults = append(faults, fault.Error())
	}
	p.faults(ofPersona, faults)
	return persona
}

// zone returns the time zone that USER.org names, nil if it names none.
func zone(user memory.File) (*time.Location, error) {
	name := user.Field("timezone")
	if name == "" {
		return nil, nil
	}
	place, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("there is no time zone %q; write it as Europe/Berlin", name)
	}
	return place, nil
}

// loadLibrary reads the sections of prompts. If a note has a fault the earlier sections stay; at
// first these are the program's own.
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
	p.faults(ofPrompt, faults)
	return nil
}

// Follow reloads the notes of the prompt when they are saved, and reports faults of these, of the
// persona's files and of profiles, until ctx ends. It returns an error at once if files cannot be
// watched.
func (p *Persona) Follow(ctx context.Context) error {
	directories := []string{filepath.Join(p.home.Directory, "prompt"), filepath.Join(p.home.Directory, "profiles")}
	w := watch.Watch{
		Of: "the persona", Above: p.home.Directory, Quiet: 20 * time.Millisecond, Patience: 500 * time.Millisecond, Logger: p.logger,
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
