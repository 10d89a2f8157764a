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

// GrantsConfig configures [Grants]. The zero value grants nothing.
type GrantsConfig struct {
	// File is policy.org. "": nothing is granted.
	File string
	// Home is the directory of relative names, and User is the directory of ~ and $HOME. Both are
	// absolute.
	Home, User string
	// Protected reports whether notes can never write to a path. Closed reports whether they cannot
	// read it either. Paths are absolute and have no links. Either may be nil.
	Protected, Closed func(path string) bool
	// Secrets returns environment variables that no note may read now, in addition to those whose
	// names mark them as secrets. nil: there are none.
	Secrets func() []string
	// Network asks the servers that notes are granted. nil: no server is asked.
	Network Network
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Grants are the rows of policy.org in which a person grants capabilities to notes. A grant is for
// one note at its path without links, with its requested capabilities and its blocks. It holds as
// long as all of these are unchanged and the row exists. A running note loses the grant as soon as
// the row is found to be gone. Grants are safe for many goroutines. A nil *Grants grants nothing.
type Grants struct {
	config GrantsConfig
	table  atomic.Pointer[grantTable]
	// writing is held while policy.org is read, or is changed and written.
	writing sync.Mutex
}

// NewGrants returns the grants of a home from the current policy.org.
func NewGrants(config GrantsConfig) *Grants {
	if config.Now == nil {
		config.Now = time.Now
	}
	g := &Grants{config: config}
	g.table.Store(&grantTable{})
	g.Refresh()
	return g
}

// noGrants returns the Grants without a home. They grant nothing, and ~ is the directory of the
// process's user.
func noGrants() *Grants {
	user, _ := os.UserHomeDir() // without one, a name with ~ is refused
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

// take makes a table the current one and reports whether it differs. The caller must hold writing
// since before it read the table, so that an older table never replaces a newer one.
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

// behindLink returns the path of policy.org without links, and whether there were any.
func (g *Grants) behindLink() (path string, linked bool) {
	if g == nil || g.config.File == "" {
		return "", false
	}
	path, err := lisp.RealPath(g.config.File)
	return path, err == nil && path != g.config.File
}

// isPolicy reports whether a path is policy.org, with or without links.
func (g *Grants) isPolicy(path string) bool {
	if g == nil || g.config.File == "" {
		return false
	}
	real, _ := g.behindLink()
	return path == g.config.File || path == real
}

// Diagnostics returns the errors of policy.org. While there are any, nothing is granted.
func (g *Grants) Diagnostics() []Diagnostic {
	if g == nil {
		return nil
	}
	return slices.Clone(g.table.Load().faults)
}

// change replaces the text of policy.org by the result of edit, atomically.
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

// replacePolicy replaces the old text by a new one. If the file is a link, it writes the target of
// the link, even if that does not exist yet. If the file no longer has the old text, it is not
// changed.
func replacePolicy(path, old, text string) (err error) {
	if path, err = lisp.RealPath(path); err != nil {
		return err
	}
	return atomicfile.Replace(path, []byte(old), []byte(text), 0o644)
}
