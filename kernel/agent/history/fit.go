package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
)

// Fitting makes room in the requests of one turn that takes many steps. What a request shows in part, a
// later one never shows whole: requests begin with the same bytes, but for the few in which something is
// shortened, and then by so much that the next ones need not be. The zero value shows everything.
type Fitting struct {
	shortened, omitted int // the results of so many first steps are shown in part, and not at all
	left               int // so many first steps are not shown
}

// Fit returns the messages of the turn's steps, and makes the part of the earlier turns smaller if both do not
// fit the room. It first shortens and leaves out results, those of earlier turns before those of the turn, of
// which the last three stay. Then it leaves out the first turns, then further results of the turn, and at last
// the turn's first steps. A call and its result stay together, and what the person wrote meanwhile stays.
//
// past.Changed is set if less is shown of the earlier turns than before. The error is that of the journal.
func (f *Fitting) Fit(ctx context.Context, p Past, past *Excerpt, steps []journal.ToolStep, room int) ([]llm.Message, error) {
	last, goal := len(steps), room*4/5
	messages := f.messages(steps)
	own := Total(p.Dialect, messages)
	if past.Tokens+own <= room {
		return messages, nil
	}
	again := func(to *int, count int) {
		if count > *to {
			*to = count
			messages = f.messages(steps)
			own = Total(p.Dialect, messages)
		}
	}
	for _, attempt := range []struct {
		enough int
		make   func() error
	}{
		{goal, func() error { return p.shrink(ctx, past, goal-own, false) }},
		{goal, func() error { again(&f.shortened, last-protectedTexts); return nil }},
		{goal, func() error { again(&f.omitted, last-protectedTexts); return nil }},
		{room, func() error { return p.shrink(ctx, past, room-own, true) }},
		{room, func() error { again(&f.omitted, last-1); return nil }},
		{room, func() error { again(&f.shortened, last); return nil }},
	} {
		if past.Tokens+own <= attempt.enough {
			return messages, nil
		}
		if err := attempt.make(); err != nil {
			return nil, err
		}
	}
	if past.Tokens+own > room {
		again(&f.left, f.firstShown(p.Dialect, steps, goal-past.Tokens))
	}
	return messages, nil
}

// firstShown returns how many of the first steps are left out so that the others fit the room, as far as all but
// the last can be.
func (f *Fitting) firstShown(dialect llm.Dialect, steps []journal.ToolStep, room int) int {
	total := Total(dialect, leftOut(len(steps)))
	for i := len(steps) - 1; i >= 0; i-- {
		if total += Total(dialect, stepMessages(steps[i], runningID(i), f.levelOf(i))); total > room {
			return min(i+1, len(steps)-1)
		}
	}
	return 0
}

// levelOf returns the level at which the result of a step is shown.
func (f *Fitting) levelOf(index int) level {
	switch {
	case index < f.omitted:
		return omitted
	case index < f.shortened:
		return shortened
	}
	return whole
}

// messages returns the messages of the steps as they are shown now.
func (f *Fitting) messages(steps []journal.ToolStep) (all []llm.Message) {
	if f.left > 0 {
		all = leftOut(f.left)
	}
	for i, step := range steps {
		if i >= f.left || step.Steer != "" {
			all = append(all, stepMessages(step, runningID(i), f.levelOf(i))...)
		}
	}
	return all
}

// leftOut says that the first steps of a turn are not shown, and how to get their results.
func leftOut(steps int) []llm.Message {
	return []llm.Message{{Role: llm.RoleKernel, Text: fmt.Sprintf("[The first %d steps of this turn are left out here; %s has their results as %q to %q, and their calls as %q and so on]",
		steps, ResultTool, runningID(0), runningID(steps-1), callID(runningID(0)))}}
}

// shrink shows less of the earlier turns, so that they fit the room: less of their results and, if turns is
// set, fewer turns. Who wrote what a model was shown before counts further on.
func (p Past) shrink(ctx context.Context, shown *Excerpt, tokens int, turns bool) error {
	view := view{dialect: p.Dialect, room: Room{Tokens: max(tokens, 0)}, compaction: shown.Compaction, pieces: slices.Clone(shown.pieces), whole: true}
	before := view.total()
	if before > view.room.Tokens {
		view.shorten(before)
	}
	if total := view.total(); turns && total > view.room.Tokens {
		view.leaveOutTurns(total)
		view.summaryDue = true
	}
	if !view.changed {
		return nil
	}
	if !shown.Changed {
		view.compaction.Before = before
	}
	was := *shown
	if err := p.render(ctx, &view, shown); err != nil {
		return err
	}
	shown.Input = was.Input
	shown.Outside = cmp.Or(was.Outside, shown.Outside)
	shown.HasAttachments, shown.NotesOutside = was.HasAttachments || shown.HasAttachments, was.NotesOutside || shown.NotesOutside
	shown.Changed, shown.SummaryDue = was.Changed || shown.Changed, was.SummaryDue || shown.SummaryDue
	return nil
}
