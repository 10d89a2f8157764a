package skill

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/lisp"
)

// GrantsConfig says where grants are kept and what is beyond them. The zero value grants
// nothing.
type GrantsConfig struct {
	// File is policy.org, "" for none: nothing is granted then.
	File string
	// Home is what relative names are relative to, User what ~ and $HOME are. Both are
	// absolute.
	Home, User string
	// Protected reports whether a note may never write to a path, Closed whether it may not
	// read it either. Paths are absolute and have no links. May be nil.
	Protected, Closed func(path string) bool
	// Secrets are environment variables that no note may read, beside those whose names
	// say that they are.
	Secrets []string
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Grants are what a person let notes reach outside of their Lisp: the rows of policy.org.
// A grant is for a note at its path without links, with the capabilities it asks for and
// with its blocks. It counts as long as all three are so, and the row stands; also a note
// that runs loses it in the moment in which the row is read to be gone. Grants are safe for
// many goroutines; a nil *Grants grants nothing.
type Grants struct {
	config GrantsConfig
	table  atomic.Pointer[grantTable]
	// writing is held while policy.org is read, and changed and written.
	writing sync.Mutex
}

// NewGrants returns the grants of a home as policy.org has them now.
func NewGrants(config GrantsConfig) *Grants {
	if config.Now == nil {
		config.Now = time.Now
	}
	g := &Grants{config: config}
	g.table.Store(&grantTable{})
	g.Refresh()
	return g
}

// noGrants is what there is without a home: nothing, and ~ is whose the process is.
func noGrants() *Grants {
	user, _ := os.UserHomeDir() // without one, names with ~ are told to mean nothing
	g := &Grants{config: GrantsConfig{User: user}}
	g.table.Store(&grantTable{})
	return g
}

// Refresh reads policy.org again and reports whether it has changed.
func (g *Grants) Refresh() bool {
	if g == nil || g.config.File == "" {
		return false
	}
	g.writing.Lock()
	defer g.writing.Unlock()
	return g.take(g.readTable())
}

// take makes a table the one that counts, and reports whether it is another. The caller
// holds writing from before it was read: an older one must not come after a newer.
func (g *Grants) take(now *grantTable) bool {
	old := g.table.Load()
	if old.text == now.text && slices.Equal(old.faults, now.faults) && (old.grants == nil) == (now.grants == nil) {
		return false
	}
	g.table.Store(now)
	return true
}

func (g *Grants) readTable() *grantTable {
	text, err := readPolicy(g.config.File)
	if err != nil {
		t := &grantTable{}
		g.fault(t, 1, "nothing is granted: this file cannot be read: %v", err)
		return t
	}
	return g.parseGrants(text)
}

// behindLink is the path of policy.org without links, and whether there were any.
func (g *Grants) behindLink() (path string, linked bool) {
	if g == nil || g.config.File == "" {
		return "", false
	}
	path, err := lisp.RealPath(g.config.File)
	return path, err == nil && path != g.config.File
}

// isPolicy reports whether a path is that of policy.org, with or without links.
func (g *Grants) isPolicy(path string) bool {
	if g == nil || g.config.File == "" {
		return false
	}
	real, _ := g.behindLink()
	return path == g.config.File || path == real
}

// Diagnostics are what is wrong with policy.org. As long as there are any nothing is
// granted.
func (g *Grants) Diagnostics() []Diagnostic {
	if g == nil {
		return nil
	}
	return slices.Clone(g.table.Load().faults)
}

// change rewrites policy.org by what edit makes of its table, at once and whole.
func (g *Grants) change(edit func(t *grantTable) string) error {
	g.writing.Lock()
	defer g.writing.Unlock()
	t := g.readTable()
	g.take(t)
	if len(t.faults) > 0 {
		return fmt.Errorf("%s:%d: %s", t.faults[0].File, t.faults[0].Line, t.faults[0].Message)
	}
	text := edit(t)
	if text == t.text {
		return nil
	}
	if err := replacePolicy(g.config.File, t.text, text); err != nil {
		return err
	}
	g.take(g.readTable())
	return nil
}

// replacePolicy puts a new text in the place of the old one; where the file is a link, in
// the place of what it leads to, even if nothing is there yet. A file that has another text
// by then stays as it is.
func replacePolicy(path, old, text string) (err error) {
	if path, err = lisp.RealPath(path); err != nil {
		return err
	}
	return atomicfile.Replace(path, []byte(old), []byte(text), 0o644)
}
