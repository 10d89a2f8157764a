package skill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"org-agent/kernel/lisp"
)

// GrantRequest is what a note requests, and whether it was granted. A person sees it to decide.
type GrantRequest struct {
	// Note is the note's path without links, Blocks the SHA-256 of its blocks.
	Note         string       `json:"note"`
	Blocks       string       `json:"blocks"`
	Capabilities []Capability `json:"capabilities,omitempty"`
	Granted      bool         `json:"granted,omitempty"`
	// Since is the day of the grant, including a grant that was lost. Withheld is the reason why
	// nothing is granted.
	Since    string `json:"since,omitempty"`
	Withheld string `json:"withheld,omitempty"`
}

// Names returns the names in policy.org of the capabilities that can be granted.
func (q *GrantRequest) Names() []string {
	return (&consent{capabilities: q.Capabilities}).names()
}

// The reasons why a note is granted nothing.
var (
	ErrNoNote      = errors.New("that is no note of this home")
	ErrNotAsked    = errors.New("the note asks for nothing that can be granted")
	ErrOtherBlocks = errors.New("the note is not what was shown any more: look at it again")
)

// Requests returns what the note in a file requests. It reads the file again.
func (r *Registry) Requests(file string) (GrantRequest, error) {
	n, err := r.noteToGrant(file)
	if err != nil {
		return GrantRequest{}, err
	}
	c := n.consent
	if c.note == "" {
		c.note = file
	}
	return GrantRequest{Note: c.note, Blocks: n.Hash, Capabilities: c.capabilities, Granted: c.granted, Since: c.since, Withheld: c.why}, nil
}

// Grant grants the note in a file what it requests. The person agreed to these blocks and names. If
// the note has others now, Grant fails with [ErrOtherBlocks]. The note is loaded again before Grant
// returns.
func (r *Registry) Grant(ctx context.Context, file, blocks string, names []string) (GrantRequest, error) {
	now, err := r.Requests(file)
	if err != nil {
		return GrantRequest{}, err
	}
	if len(now.Names()) == 0 {
		return GrantRequest{}, ErrNotAsked
	}
	if now.Blocks != blocks || !slices.Equal(now.Names(), names) {
		return GrantRequest{}, ErrOtherBlocks
	}
	g := r.config.Grants
	row := grant{note: now.Note, capabilities: now.Names(), blocks: now.Blocks, since: "[" + g.config.Now().Format("2006-01-02 Mon 15:04") + "]"}
	if err := g.change(func(t *grantTable) string { return t.with(row.cells()) }); err != nil {
		return GrantRequest{}, err
	}
	return r.reload(ctx, file, "granted")
}

// Revoke removes all grants of the note in a file. The note is loaded again before Revoke returns.
// Calls of the note that still run lose the grants too.
func (r *Registry) Revoke(ctx context.Context, file string) (GrantRequest, error) {
	now, err := r.Requests(file)
	if err != nil {
		return GrantRequest{}, err
	}
	if err := r.config.Grants.change(func(t *grantTable) string { return t.without(now.Note) }); err != nil {
		return GrantRequest{}, err
	}
	return r.reload(ctx, file, "revoked")
}

// reload loads the changed notes, and returns what the note requests and has now.
func (r *Registry) reload(ctx context.Context, file, done string) (GrantRequest, error) {
	now, err := r.Requests(file)
	r.config.Logger.Info("capabilities were "+done+" by a person", "file", now.Note, "blocks", now.Blocks)
	r.loading.Lock()
	defer r.loading.Unlock()
	r.refresh(ctx, false)
	return now, err
}

// noteToGrant reads the note in a file, which must be a note of the home.
func (r *Registry) noteToGrant(file string) (*Note, error) {
	if r.config.Grants == nil || r.config.Grants.config.File == "" || r.config.Home == "" {
		return nil, errors.New("there is no home that grants could be kept in")
	}
	wanted, err := lisp.RealPath(file)
	if err != nil || !filepath.IsAbs(file) {
		return nil, fmt.Errorf("%s: %w", encodeName(file, false), ErrNoNote)
	}
	home := homeOrigin(r.config.Home)
	names, err := home.list()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !home.leadsTo(name, wanted) {
			continue
		}
		source, err := home.read(name)
		if err != nil {
			return nil, err
		}
		n, faults := scan(home.path(name), source, Options{Grants: r.config.Grants})
		for _, d := range faults {
			if slices.ContainsFunc(n.requested, func(a capabilityRequest) bool { return a.line == d.Line }) {
				return nil, Faults{d}
			}
		}
		return n, nil
	}
	if _, err := os.Stat(file); err == nil {
		return nil, fmt.Errorf("%s: %w: only notes in %s are granted anything", encodeName(file, false), ErrNoNote, encodeName(r.config.Home, false))
	}
	return nil, fmt.Errorf("%s: %w", encodeName(file, false), ErrNoNote)
}

// leadsTo reports whether a note of the origin is the file at that path without links.
func (o origin) leadsTo(name, path string) bool {
	if name != filepath.Base(path) {
		info, err := os.Lstat(o.path(name))
		if err != nil || info.Mode().IsRegular() {
			return false
		}
	}
	real, err := lisp.RealPath(o.path(name))
	return err == nil && real == path
}
