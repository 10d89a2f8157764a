package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"org-agent/kernel/agent"
	"org-agent/kernel/lisp"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
)

// promptCommands is how many commands of prompt skills clients are told of. All can be
// asked for.
const promptCommands = 1000

// noteLimit is the most bytes of a note that a client may have checked.
const noteLimit = 64 << 20

// program tells the program that runs from others, also from one of the same version that was
// built anew; "" if that cannot be told.
func program(version string) string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %s %d %d", version, path, info.Size(), info.ModTime().UnixNano())
}

// recorded is a turn of this kernel's journal, for tests that replay it.
func (d *daemon) recorded(ctx context.Context, turn string) (skill.Recording, error) {
	return agent.Recall(ctx, d.journal, turn)
}

// skillsChanged tells every client what became of the notes. A note may have taken the
// name of a prompt skill, or given it free.
func (d *daemon) skillsChanged(statuses []skill.Status) {
	d.prompts.Refresh()
	d.warnOfHooks(statuses)
	d.editors.notify(protocol.MethodSkillChanged, d.skillList(statuses))
}

// noteText is the note that a client asks about.
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

// options are those of a note that a client has checked: it acts on nothing.
func (d *daemon) options() skill.Options {
	return skill.Options{Recorded: d.recorded, Grants: d.grants, Persona: Persona(d.home)}
}

func (d *daemon) checkSkill(ctx context.Context, _ *rpc.Client, p *protocol.SkillParams) (protocol.SkillCheckResult, error) {
	source, err := noteText(*p)
	if err != nil {
		return protocol.SkillCheckResult{}, err
	}
	if filepath.Base(p.File) == skillmd.FileName {
		directory := filepath.Base(filepath.Dir(p.File))
		return protocol.SkillCheckResult{Diagnostics: skillDiagnostics(skillmd.Check(p.File, directory, string(source)))}, nil
	}
	return protocol.SkillCheckResult{Diagnostics: skillDiagnostics(skill.Check(ctx, p.File, source, d.options()))}, nil
}

func (d *daemon) testSkill(ctx context.Context, _ *rpc.Client, p *protocol.SkillParams) (protocol.SkillTestResult, error) {
	source, err := noteText(*p)
	if err != nil {
		return protocol.SkillTestResult{}, err
	}
	proofs, hash, err := skill.Prove(ctx, p.File, source, d.options())
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

// evaluateInSkill evaluates code in a note's environment. What fails is a result: the
// client shows it where the code stands.
func (d *daemon) evaluateInSkill(ctx context.Context, _ *rpc.Client, p *protocol.SkillEvaluateParams) (protocol.SkillEvaluateResult, error) {
	source, err := noteText(protocol.SkillParams{File: p.File, Text: p.Text})
	if err != nil {
		return protocol.SkillEvaluateResult{}, err
	}
	var output strings.Builder
	options := d.options()
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
	err = note.Environment().Eval(skill.Dry(ctx), p.Code, p.File, max(p.Line, 1), func(printed string) {
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

// faultText is the error without its place.
func faultText(fault *lisp.Error) string {
	placeless := *fault
	placeless.Line = 0
	return placeless.Error()
}

func skillSymbols(ctx context.Context, _ *rpc.Client, _ *protocol.Empty) (protocol.SkillSymbolsResult, error) {
	var result protocol.SkillSymbolsResult
	entries, err := skill.Entries(ctx)
	for _, e := range entries {
		result.Symbols = append(result.Symbols, protocol.SkillSymbol{
			Name: e.Name, Kind: protocol.Keyword(strings.ReplaceAll(string(e.Kind), " ", "-")), List: e.LambdaList, Doc: e.Doc,
		})
	}
	return result, err
}

func skillDiagnostics(all []skill.Diagnostic) []protocol.SkillDiagnostic {
	var told []protocol.SkillDiagnostic
	for _, d := range all {
		told = append(told, protocol.SkillDiagnostic(d))
	}
	return told
}

func skillHooks(all []*skill.Hook) (told []protocol.SkillHook) {
	for _, h := range all {
		told = append(told, protocol.SkillHook{Name: h.Name, On: h.On(), Line: h.Line})
	}
	return told
}

func (d *daemon) skillList(statuses []skill.Status) protocol.SkillListResult {
	result := protocol.SkillListResult{Diagnostics: skillDiagnostics(d.grants.Diagnostics())}
	for _, c := range d.skills.Current().Commands() {
		result.Commands = append(result.Commands, protocol.SkillCommand{
			Name: c.Name, Description: c.Description, Skill: c.Skill, Wants: c.Wants})
	}
	for i, k := range d.prompts.Current().Commands() {
		if i == promptCommands {
			break
		}
		if _, taken := d.skills.Current().Command(k.Name); !taken {
			result.Commands = append(result.Commands, protocol.SkillCommand{Name: k.Name, Description: k.Summary(), Skill: k.Name})
		}
	}
	for _, s := range statuses {
		result.Skills = append(result.Skills, protocol.SkillStatus{
			File: s.File, Title: s.Title, Description: s.Description, Skill: s.Skill, State: protocol.Keyword(s.State),
			Shipped: s.Shipped, LastGood: s.LastGood, Hash: s.Hash, Version: s.Version, Priority: s.Priority,
			Tests: s.Tests, Capabilities: s.Capabilities, Granted: s.Granted, Since: s.Since, Withheld: s.Withheld,
			Hooks: skillHooks(s.Hooks), Diagnostics: skillDiagnostics(s.Diagnostics),
		})
	}
	prompts, left := d.promptList()
	result.Skills, result.Left = append(result.Skills, prompts...), left
	return result
}
