// Package persona keeps what the files of the home say the agent is, who the person is and what
// prompts are made of: the files of the persona, the profiles, and the notes that replace
// sections of prompts. It reads them anew when they are asked for or saved, and tells each fault
// once.
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

// What faults are of, as people are told.
const (
	ofPersona  = "persona"
	ofPrompt   = "prompt"
	ofProfiles = "profiles"
)

// Persona is the files of one home. It is safe for use by several goroutines.
type Persona struct {
	home    *memory.Home
	clock   func() time.Time
	faults  func(of string, all []string)
	logger  *slog.Logger
	library atomic.Pointer[prompt.Library]
	place   atomic.Pointer[time.Location] // where the person is, if they say so
}

// Config is what a [Persona] is made of. All of it is required.
type Config struct {
	Home *memory.Home
	// Clock is the time, wherever.
	Clock func() time.Time
	// Faults is told all that is wrong with files of one sort, each time that they are read.
	Faults func(of string, all []string)
	Logger *slog.Logger
}

// New reads the files. It fails only if the sections that come with the program cannot be read.
func New(c Config) (*Persona, error) {
	p := &Persona{home: c.Home, clock: c.Clock, faults: c.Faults, logger: c.Logger}
	if err := p.loadLibrary(); err != nil {
		return nil, err
	}
	p.read() // which says where the person is
	p.checkProfiles()
	return p, nil
}

// Field is what notes read of the agent in the file IDENTITY of a home, by name.
func Field(home *memory.Home) func(name string) string {
	return func(name string) string {
		value := home.File("IDENTITY").Field(name)
		if name == "name" {
			return prompt.Name(value)
		}
		return value
	}
}

// Now is the time where the person is, which USER.org may say.
func (p *Persona) Now() time.Time {
	if place := p.place.Load(); place != nil {
		return p.clock().In(place)
	}
	return p.clock()
}

// Library has the sections of prompts, with the notes that replace them.
func (p *Persona) Library() *prompt.Library { return p.library.Load() }

// With is what the files of the home and a profile say now; the profile "" is none.
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

// CheckProfile fails where there is no profile of that name, and names the one that was
// probably meant, or where its file is at fault.
func (p *Persona) CheckProfile(name string) error {
	_, err := p.profile(name)
	return err
}

// Profiles are the names of the profiles. What is wrong with one is said when it is to answer.
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

// checkProfiles tells what is wrong with the files of profiles.
func (p *Persona) checkProfiles() {
	_, found := p.home.Profiles()
	var faults []string
	for _, fault := range found {
		faults = append(faults, fault.Error())
	}
	p.faults(ofProfiles, faults)
}

// read is what the files of the home say now. What is wrong with them is told.
func (p *Persona) read() memory.Persona {
	persona := p.home.Persona(p.Now())
	user := persona.File("USER")
	name := user.Field("timezone")
	if name == "" {
		p.place.Store(nil)
	} else if place, err := time.LoadLocation(name); err != nil {
		persona.Faults = append(persona.Faults, memory.Fault{Path: user.Path, Message: fmt.Sprintf("there is no time zone %q; write it as Europe/Berlin", name)})
	} else if known := p.place.Swap(place); known == nil || known.String() != place.String() {
		faults := persona.Faults
		persona = p.home.Persona(p.Now())
		persona.Faults = faults
	}
	var faults []string
	for _, fault := range persona.Faults {
		faults = append(faults, fault.Error())
	}
	p.faults(ofPersona, faults)
	return persona
}

// loadLibrary reads the sections of prompts. With a fault in a note the sections stay what they
// were; at first they are those that come with the program.
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

// Follow takes up changes of the notes of the prompt when they are saved, and tells what is
// wrong with those, with the files of the persona and with profiles, until ctx ends. It fails
// at once where files cannot be watched.
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
