package skill

import (
	"context"
	"errors"
	"slices"
	"strings"

	"org-agent/kernel/org"
)

// criteriaTitle is the heading of the criteria of a note.
const criteriaTitle = "Success Criteria"

// Result is the result of the test of a criterion.
type Result string

// The results.
const (
	Pass Result = "PASS"
	Fail Result = "FAIL"
	// Unproven means that no test names the criterion.
	Unproven Result = "NONE"
)

// Proof is the result for one criterion, or for a test that proves no criterion.
type Proof struct {
	// Criterion is the heading's title, or the test's name.
	Criterion string `json:"criterion"`
	Result    Result `json:"result"`
	// Line is the line in the note of the heading, or of the test's block.
	Line int `json:"line"`
	// Heading is true for a heading under "Success Criteria".
	Heading bool         `json:"heading,omitempty"`
	Faults  []Diagnostic `json:"faults,omitempty"`
}

// Prove loads a note, runs its tests and returns a proof for each criterion, in the order
// of the headings, and then for each test that proves none of them. A test proves the
// criterion that its block has for #+name: or :criterion. The hash is that of the note's
// blocks. The error is a [Faults] if the note does not load or its tests use names that do not exist, or
// the context's.
func Prove(ctx context.Context, path string, source []byte, options Options) (proofs []Proof, hash string, err error) {
	n, err := LoadNote(ctx, path, source, options)
	if err != nil {
		return nil, "", err
	}
	results, err := n.Test(ctx)
	if err != nil && FaultsOf(err) == nil {
		return nil, n.Hash, err
	}
	proofs = criteriaOf(org.Parse(string(source)))
	headings := len(proofs)
	for _, r := range results {
		at := slices.IndexFunc(proofs[:headings], func(p Proof) bool { return r.Criterion != "" && p.Criterion == r.Criterion })
		if at < 0 {
			at = len(proofs)
			proofs = append(proofs, Proof{Criterion: r.Name, Line: r.Line})
		}
		p := &proofs[at]
		p.Faults = append(p.Faults, r.Faults...)
		if p.Result = Pass; len(p.Faults) > 0 {
			p.Result = Fail
		}
	}
	return proofs, n.Hash, err
}

// criteriaOf returns the headings that are criteria: those below "Success Criteria" that
// have a TODO keyword or nothing below them.
func criteriaOf(doc *org.Document) []Proof {
	var found []Proof
	for i, h := range doc.Headings {
		leaf := i+1 == len(doc.Headings) || doc.Headings[i+1].Level <= h.Level
		if h.Hidden() || h.Todo == "" && !leaf || !underCriteria(h.Parent) {
			continue
		}
		found = append(found, Proof{Criterion: h.Title, Line: h.Line, Result: Unproven, Heading: true})
	}
	return found
}

func underCriteria(h *org.Heading) bool {
	for ; h != nil; h = h.Parent {
		if strings.EqualFold(h.Title, criteriaTitle) {
			return true
		}
	}
	return false
}

// FaultsOf returns the diagnostics of an error of [LoadNote] or [Prove], or nil if it has none.
func FaultsOf(err error) []Diagnostic {
	var faults Faults
	if errors.As(err, &faults) {
		return faults
	}
	return nil
}
