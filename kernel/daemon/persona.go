package daemon

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/memory"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/watch"
)

// now is the time where the person is, which USER.org may say.
func (d *daemon) now() time.Time {
	if place := d.place.Load(); place != nil {
		return d.config.Now().In(place)
	}
	return d.config.Now()
}

// Persona is what notes read of the agent in the file IDENTITY of a home, by name.
func Persona(home *memory.Home) func(name string) string {
	return func(name string) string {
		said := home.File("IDENTITY").Field(name)
		if name == "name" {
			return prompt.Name(said)
		}
		return said
	}
}

// persona is what the files of the home say now. What is wrong with them is told once.
func (d *daemon) persona() memory.Persona {
	p := d.home.Persona(d.now())
	user := p.File("USER")
	name := user.Field("timezone")
	if name == "" {
		d.place.Store(nil)
	} else if place, err := time.LoadLocation(name); err != nil {
		p.Faults = append(p.Faults, memory.Fault{Path: user.Path, Message: fmt.Sprintf("there is no time zone %q; write it as Europe/Berlin", name)})
	} else if known := d.place.Swap(place); known == nil || known.String() != place.String() {
		faults := p.Faults
		p = d.home.Persona(d.now())
		p.Faults = faults
	}
	var faults []string
	for _, fault := range p.Faults {
		faults = append(faults, fault.Error())
	}
	d.faults.tell(d, "persona", faults)
	return p
}

// loadLibrary reads the sections of prompts, with the notes that replace them. With a fault
// in a note the sections stay what they were; at first they are the shipped ones.
func (d *daemon) loadLibrary() error {
	library, faults := prompt.Load(filepath.Join(d.paths.Home, "prompt"))
	var told []string
	for _, fault := range faults {
		told = append(told, fault.Error()+"; the prompt stays what it was")
	}
	if library == nil && d.library.Load() == nil {
		if library, faults = prompt.Load(""); library == nil {
			return fmt.Errorf("read the sections of the prompt: %w", faults[0])
		}
	}
	if library != nil {
		d.library.Store(library)
	}
	d.faults.tell(d, "prompt", told)
	return nil
}

// followPersona takes up changes of the notes of the prompt when they are saved, and tells
// what is wrong with those, with the files of the persona and with profiles, until ctx ends.
func (d *daemon) followPersona(ctx context.Context) error {
	directory, profiles := filepath.Join(d.paths.Home, "prompt"), filepath.Join(d.paths.Home, "profiles")
	w := watch.Watch{
		Of: "the persona", Above: d.paths.Home, Quiet: 20 * time.Millisecond, Patience: 500 * time.Millisecond, Logger: d.log,
		Directories: func() []string { return []string{directory, profiles} },
		Concerns: func(path string) bool {
			name := filepath.Base(path)
			role := strings.TrimSuffix(strings.TrimSuffix(name, ".org"), ".md")
			if within := filepath.Dir(path); path == directory || path == profiles || (within == directory || within == profiles) && strings.HasSuffix(name, ".org") {
				return true
			}
			return slices.Contains(memory.Roles(), role)
		},
		CatchUp: func(context.Context) time.Duration {
			if err := d.loadLibrary(); err != nil {
				d.log.Error("the prompt stays what it was", "err", err)
			}
			d.persona()
			d.lookAtProfiles()
			return 0
		},
	}
	return w.Follow(ctx)
}

// faults are what people were told of, so that each is told once for as long as it lasts.
// The zero value is ready.
type faults struct {
	mu   sync.Mutex
	told map[string][]string // by what they are of
}

// tell logs and notifies of those that were not told before.
func (f *faults) tell(d *daemon, of string, now []string) {
	f.mu.Lock()
	before := f.told[of]
	if f.told == nil {
		f.told = map[string][]string{}
	}
	f.told[of] = now
	f.mu.Unlock()
	for _, text := range now {
		if !slices.Contains(before, text) {
			d.log.Warn("not in order: "+of, "err", text)
			d.editors.notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: text})
		}
	}
	if len(before) > 0 && len(now) == 0 {
		d.log.Info("in order again: " + of)
	}
}

// lasting is what people were told of and is still so.
func (f *faults) lasting() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, of := range slices.Sorted(maps.Keys(f.told)) {
		all = append(all, f.told[of]...)
	}
	return all
}

// shown is a path as a person would write it.
func (d *daemon) shown(path string) string {
	user, err := os.UserHomeDir()
	if rest, within := strings.CutPrefix(path, user+"/"); err == nil && within {
		return "~/" + rest
	}
	return path
}

// runtime is where this kernel runs, for prompts.
func (d *daemon) runtime() [][2]string {
	return [][2]string{{"org-agent", d.config.Version}, {"os", runtime.GOOS + "/" + runtime.GOARCH}}
}
