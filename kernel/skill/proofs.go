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

// proofs say which texts of notes passed their tests, with which program: those notes are live
// when a kernel starts, and their tests run when it is ready. They belong to the holder of
// loading. What cannot be read proves nothing.
type proofs struct {
	path, program string
	passed        map[string]int // how many tests did, by what the note is and where
}

// proofsFile is the file: other programs run other tests, and prove nothing to this one.
type proofsFile struct {
	Program string         `json:"program"`
	Passed  map[string]int `json:"passed"`
}

// read takes what the file says.
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

// write keeps what passed, unless that is what is kept.
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

// proofKey is what a text and its file are proven by.
func proofKey(sum [sha256.Size]byte, path string) string {
	return hex.EncodeToString(sum[:]) + " " + path
}

// provable reports whether what became of the tests is the same as long as the text is: what a
// note may reach changes without it.
func (n *Note) provable() bool { return len(n.Capabilities) == 0 }

// keepProofs keeps which of the notes passed. Of those that were taken at their word the word
// stands until their tests have run.
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

// Prove runs the tests of the notes that the first Load made live without, because they passed
// before. A note that does not pass any more is not live then, as if it had been found so. It
// returns when that is done, or the context ends.
func (r *Registry) Prove(ctx context.Context) {
	r.loading.Lock()
	defer r.loading.Unlock()
	failed := false
	for _, s := range r.slots {
		if !s.unproven {
			continue
		}
		path := s.origin.path(s.name)
		n, faults := loadAndTest(ctx, path, []byte(s.newest.text), r.options(s)) // beside the one that answers meanwhile
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
