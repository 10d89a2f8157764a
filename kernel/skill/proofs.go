package skill

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"

	"org-agent/kernel/atomicfile"
)

// proofs records the texts of notes that passed their tests with this program. Those notes are live
// as soon as a kernel starts, and their tests run when it is ready. The goroutine that holds
// Registry.loading owns the proofs. An unreadable file proves nothing.
type proofs struct {
	path, program string
	passed        map[string]int // the number of passed tests by proofKey
}

// proofsFile is the content of the file. The proofs of another Program do not count.
type proofsFile struct {
	Program string         `json:"program"`
	Passed  map[string]int `json:"passed"`
}

// read reads the file.
func (p *proofs) read() error {
	if p.path == "" || p.program == "" {
		return nil
	}
	data, err := os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var file proofsFile
	if err == nil {
		err = json.Unmarshal(data, &file)
	}
	if err != nil {
		return fmt.Errorf("read which notes passed their tests: %w", err)
	}
	if file.Program == p.program {
		p.passed = file.Passed
	}
	return nil
}

// write writes the file, unless it has the same proofs already.
func (p *proofs) write(passed map[string]int) error {
	if p.path == "" || p.program == "" || maps.Equal(passed, p.passed) {
		return nil
	}
	data, err := json.Marshal(proofsFile{p.program, passed})
	if err == nil {
		err = atomicfile.Write(p.path, data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep which notes passed their tests: %w", err)
	}
	p.passed = passed
	return nil
}

// proofKey returns the key of a text and its file in the proofs.
func proofKey(sum [sha256.Size]byte, path string) string {
	return hex.EncodeToString(sum[:]) + " " + path
}

// provable reports whether the result of the tests depends only on the note's text. It does not for
// a note that requests capabilities, because grants change.
func (n *Note) provable() bool { return len(n.Capabilities) == 0 }

// keepProofs stores which of the notes passed. A note that is live by an earlier proof keeps that
// proof until its tests have run.
func (r *Registry) keepProofs() {
	passed := map[string]int{}
	for _, s := range r.slots {
		if n := s.newest; n != nil && len(s.faults) == 0 && n.proven > 0 && n.provable() {
			passed[proofKey(s.sum, s.origin.path(s.name))] = n.proven
		}
	}
	if err := r.proofs.write(passed); err != nil {
		r.config.Logger.Warn("all tests of notes run at the next start", "err", err)
	}
}

// Prove runs the tests of the notes that the first Load made live by an earlier proof. A note that
// no longer passes stops being live. Prove returns when all tests have run or the context ends.
func (r *Registry) Prove(ctx context.Context) {
	r.loading.Lock()
	defer r.loading.Unlock()
	failed := false
	for _, s := range r.slots {
		if !s.unproven {
			continue
		}
		path := s.origin.path(s.name)
		n, faults := loadAndTest(ctx, path, []byte(s.newest.text), r.options(s)) // the live version answers meanwhile
		if ctx.Err() != nil {
			return
		}
		if s.unproven = false; len(faults) == 0 {
			continue
		}
		s.newest, s.candidate, s.live, s.faults = n, nil, nil, limited(faults)
		failed = true
	}
	if failed {
		r.publish()
	}
	r.keepProofs()
}
