package composer

import (
	"context"
	"errors"
	"fmt"

	"github.com/chewxy/sexp"

	"org-agent/kernel/skill"
)

// errDryRun is the error of a note's ask-neuro in a dry run.
var errDryRun = errors.New("this is a dry run; nothing is sent")

// dryRun keeps the composition of a skill's first ask, and answers each ask with an error. A later
// request would depend on the reply, so there is none.
type dryRun struct {
	turn        *Turn
	composition *Composition
	err         error // of composing
}

// Ask implements [skill.Asker].
func (d *dryRun) Ask(ctx context.Context, ask skill.Ask) (string, error) {
	if d.composition != nil {
		return "", errDryRun
	}
	c, err := d.turn.Compose(ctx, ask)
	if d.err = err; err != nil {
		return "", err
	}
	d.composition = &c
	return "", errDryRun
}

// First returns the composition of the first request that the skill would send for the event. It is nil
// if the skill asks no model; then the outcome says what the skill does.
func (t *Turn) First(ctx context.Context, k *skill.Skill, event sexp.List) (*Composition, skill.Outcome, error) {
	dry := &dryRun{turn: t}
	out, err := k.DryRun(ctx, event, dry)
	if err == nil && out.Kind == skill.Prompt {
		_, err = dry.Ask(ctx, skill.Ask{Text: out.Text})
	}
	switch {
	case dry.composition != nil:
		return dry.composition, out, nil // the note's error follows from the dry run
	case dry.err != nil:
		return nil, out, dry.err
	case err != nil:
		return nil, out, fmt.Errorf("the skill %s failed: %v", k.Name, err)
	}
	return nil, out, nil
}
