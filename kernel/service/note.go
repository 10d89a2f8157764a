package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/lisp"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
)

// noteLimit is the maximum size of a note that a client may check, in bytes.
const noteLimit = 64 << 20

// noteText returns the note in a client's request.
func noteText(p protocol.SkillParams) ([]byte, error) {
	if p.Text != nil {
		return []byte(*p.Text), nil
	}
	info, err := os.Stat(p.File)
	switch {
	case err != nil:
		return nil, protocol.Errorf(protocol.CodeNotFound, "read the note: %v", err)
	case !info.Mode().IsRegular() || info.Size() > noteLimit:
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "%s is no note: it is no regular file, or larger than %d MiB", p.File, noteLimit>>20)
	}
	source, err := os.ReadFile(p.File)
	if err != nil {
		return nil, fmt.Errorf("read the note: %w", err)
	}
	return source, nil
}

// options returns the options for a note that a client checks. Such a note has no effects.
func (s Skills) options() skill.Options {
	return skill.Options{Recorded: s.Recorded, Grants: s.Grants, Persona: s.Persona, Specs: s.Specs, Tools: s.Tools, CheckEvent: s.CheckEvent}
}

func (s Skills) check(ctx context.Context, p protocol.SkillParams) (protocol.SkillCheckResult, error) {
	source, err := noteText(p)
	if err != nil {
		return protocol.SkillCheckResult{}, err
	}
	if filepath.Base(p.File) == skillmd.FileName {
		directory := filepath.Base(filepath.Dir(p.File))
		return protocol.SkillCheckResult{Diagnostics: skillDiagnostics(skillmd.Check(p.File, directory, string(source)))}, nil
	}
	found := skill.Check(ctx, p.File, source, s.options())
	return protocol.SkillCheckResult{Diagnostics: skillDiagnostics(append(found, s.known(p.File, source, found)...))}, nil
}

// known returns what was found when the file was loaded, beyond found. Above all that is which tests
// failed. It returns nothing if the file has another text than source.
func (s Skills) known(file string, source []byte, found []skill.Diagnostic) (more []skill.Diagnostic) {
	for _, d := range s.Notes.Current().Found(file, source) {
		if !slices.Contains(found, d) {
			more = append(more, d)
		}
	}
	return more
}

func (s Skills) test(ctx context.Context, p protocol.SkillParams) (protocol.SkillTestResult, error) {
	source, err := noteText(p)
	if err != nil {
		return protocol.SkillTestResult{}, err
	}
	proofs, hash, err := skill.Prove(ctx, p.File, source, s.options())
	result := protocol.SkillTestResult{Hash: hash}
	if faults := skill.FaultsOf(err); faults != nil {
		result.Diagnostics, err = skillDiagnostics(faults), nil
	}
	for _, proof := range proofs {
		result.Proofs = append(result.Proofs, protocol.SkillProof{
			Criterion: proof.Criterion, Result: protocol.ProofResult(strings.ToLower(string(proof.Result))),
			Line: proof.Line, Heading: proof.Heading, Diagnostics: skillDiagnostics(proof.Faults),
		})
	}
	return result, err
}

// evaluate evaluates code in a note's environment. An error in the code is a result, which the
// client shows at the code.
func (s Skills) evaluate(ctx context.Context, p protocol.SkillEvaluateParams) (protocol.SkillEvaluateResult, error) {
	source, err := noteText(protocol.SkillParams{File: p.File, Text: p.Text})
	if err != nil {
		return protocol.SkillEvaluateResult{}, err
	}
	var output strings.Builder
	options := s.options()
	options.Log = func(_, text string) { output.WriteString(text + "\n") }
	note, err := skill.LoadNote(ctx, p.File, source, options)
	if faults := skill.FaultsOf(err); faults != nil {
		return protocol.SkillEvaluateResult{Diagnostics: skillDiagnostics(faults)}, nil
	}
	if err != nil {
		return protocol.SkillEvaluateResult{}, err
	}
	output.Reset()
	var result protocol.SkillEvaluateResult
	err = skill.DryRun(note.Environment()).Eval(ctx, p.Code, p.File, max(p.Line, 1), func(printed string) {
		result.Values = append(result.Values, printed)
	})
	result.Output = output.String()
	var fault *lisp.Error
	if errors.As(err, &fault) && ctx.Err() == nil {
		result.Diagnostics, err = []protocol.SkillDiagnostic{{
			File: p.File, Line: max(fault.Line, 1), Column: max(fault.Column, 1), Message: faultText(fault),
		}}, nil
	}
	return result, err
}

// faultText returns the error without its place.
func faultText(fault *lisp.Error) string {
	placeless := *fault
	placeless.Line = 0
	return placeless.Error()
}

// grant shows what a note requests, grants what was shown before, or revokes it. Only a person's
// client can call it: notes and models cannot reach the wire.
func (s Skills) grant(ctx context.Context, p protocol.SkillGrantParams) (protocol.SkillGrantResult, error) {
	var request skill.GrantRequest
	var err error
	switch {
	case p.Revoke:
		request, err = s.Notes.Revoke(ctx, p.File)
	case p.Blocks != "":
		request, err = s.Notes.Grant(ctx, p.File, p.Blocks, p.Capabilities)
	default:
		request, err = s.Notes.Requests(p.File)
	}
	switch {
	case errors.Is(err, skill.ErrNoNote):
		return protocol.SkillGrantResult{}, protocol.Errorf(protocol.CodeNotFound, "%w", err)
	case errors.Is(err, skill.ErrOtherBlocks):
		return protocol.SkillGrantResult{}, protocol.Errorf(protocol.CodeConflict, "%w", err)
	case err != nil:
		return protocol.SkillGrantResult{}, protocol.Errorf(protocol.CodeInvalidParams, "%w", err)
	}
	result := protocol.SkillGrantResult{
		Note: skill.ShownName(request.Note), Blocks: request.Blocks, Granted: request.Granted, Since: request.Since, Withheld: request.Withheld,
	}
	for _, c := range request.Capabilities {
		result.Capabilities = append(result.Capabilities, protocol.SkillCapability{Requested: c.Word, Name: c.Name, Meaning: c.Meaning, Refused: c.Refused})
	}
	return result, nil
}
