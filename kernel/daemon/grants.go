package daemon

import (
	"context"
	"errors"
	"path/filepath"

	"org-agent/kernel/config"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/skill"
)

// Grants are what the person of a home let notes reach. What decides about the agent may
// not be written by a note whatever was granted, and what kernels keep may not be read.
func Grants(paths config.Paths, settings config.Settings, env func(string) string) *skill.Grants {
	user := env("HOME")
	if real, err := filepath.EvalSymlinks(user); err == nil {
		user = real
	}
	return skill.NewGrants(skill.GrantsConfig{
		File: paths.Policy, Home: paths.Home, User: user, Secrets: settings.KeyVariables(),
		Protected: func(path string) bool { return policy.Protected(paths.Home, path) },
		Closed:    paths.Keeps,
	})
}

// Rules are what the person of a home lets the agent do.
func Rules(paths config.Paths) *policy.RuleFile {
	return &policy.RuleFile{Path: paths.Policy, Home: paths.Home}
}

// grantSkill shows what a note asks for, and grants what was shown before, or takes it
// back. Only a person's client gets here: notes and models have no way to the wire.
func (d *daemon) grantSkill(ctx context.Context, _ *rpc.Client, p *protocol.SkillGrantParams) (protocol.SkillGrantResult, error) {
	var request skill.GrantRequest
	var err error
	switch {
	case p.Revoke:
		request, err = d.skills.Revoke(ctx, p.File)
	case p.Blocks != "":
		request, err = d.skills.Grant(ctx, p.File, p.Blocks, p.Capabilities)
	default:
		request, err = d.skills.Requests(p.File)
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
		result.Capabilities = append(result.Capabilities, protocol.SkillCapability{Asked: c.Asked, Name: c.Name, Meaning: c.Meaning, Refused: c.Refused})
	}
	return result, nil
}
