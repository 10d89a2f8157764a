package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// summaryRun makes one summary.
type summaryRun struct {
	compactor *Compactor
	session   string
	model     string // as requests name it, "" for the standard model
	by        journal.CompactionBy
	base      journal.Compaction // the compaction that counts now
	latest    int64
	room      int     // of the model, in estimated tokens
	factor    float64 // the tokens that the model counts for an estimated one
	summary   Summary
	refused   int  // notes of the model that could not be used
	unnoted   bool // turns of which the model made no notes that could be used
}

// compact summarises all turns but the last ones.
func (c *Compactor) compact(ctx context.Context, session string, by journal.CompactionBy) (result protocol.SessionCompacted, err error) {
	r := &summaryRun{compactor: c, session: session, by: by}
	exchanges, err := r.readBase(ctx)
	if err != nil {
		return result, err
	}
	before, until, err := r.selectTurns(ctx, exchanges)
	if err != nil {
		return result, err
	}
	if until == 0 {
		return result, fmt.Errorf("%w: the last %s of this conversation are shown as they are", ErrNothing, turnsText(len(exchanges)))
	}
	c.notify(ctx, protocol.SessionCompacted{Session: session, State: protocol.CompactingRunning, Text: "the beginning of the conversation is being summarised"})
	for from, pass := 0, 0; from < until && pass < passLimit; pass++ {
		next, err := r.summariseSome(ctx, exchanges[from:until])
		if err != nil && from > 0 {
			c.Logger.Warn("a summary ends early", "session", session, "err", c.Hide(err.Error()))
			break // the committed parts stay
		}
		if err != nil {
			return result, err
		}
		from += next
	}
	after, err := c.Past.Show(ctx, session, "", Room{Tokens: r.room})
	if err != nil {
		return result, err
	}
	result = protocol.SessionCompacted{Session: session, State: protocol.CompactingDone, Turns: r.base.SummarisedTurns, Notes: r.summary.String(),
		Before: before, After: after.Tokens, Room: r.room}
	result.Text = fmt.Sprintf("the first %s are shown to the model as notes: about %d tokens, and %d before", turnsText(r.base.SummarisedTurns), result.After, result.Before)
	if r.refused > 0 {
		result.Text += fmt.Sprintf("; %d notes named what was not said and are left out", r.refused)
	}
	if r.unnoted {
		result.Text += "; of some turns the model made none that could be used, and their questions stand there"
	}
	return result, nil
}

// readBase finds the compaction that counts and returns the turns that are not summarised.
func (r *summaryRun) readBase(ctx context.Context) ([]*journal.Exchange, error) {
	var err error
	if r.model, err = r.compactor.Past.Journal.Models.SessionModel(ctx, r.session); err != nil {
		return nil, err
	}
	window := r.compactor.Window(ctx, r.model, true)
	if window.NoModel {
		return nil, errors.New("the built-in guide is no language model and cannot summarise")
	}
	if r.factor, err = r.compactor.Past.Journal.Usage.Correction(ctx, cmp.Or(r.model, r.compactor.Model())); err != nil {
		return nil, err
	}
	const system = 3 // a quarter of the room is for the system prompt
	r.room = int(float64(window.Room())/r.factor) * system / (system + 1)
	exchanges, shown, _, err := r.compactor.Past.readTurns(ctx, r.session, "", func(d journal.Compaction) int64 { return d.Summarised })
	if err != nil {
		return nil, err
	}
	r.base, r.latest = shown.Compaction, shown.latest
	r.summary, err = readSummary(r.base.Summary)
	return exchanges, err
}

// selectTurns returns how many of the turns to summarise, and the tokens of all that is shown now.
func (r *summaryRun) selectTurns(ctx context.Context, exchanges []*journal.Exchange) (before, until int, err error) {
	shown, err := r.compactor.Past.Show(ctx, r.session, "", Room{Tokens: r.room})
	if err != nil {
		return 0, 0, err
	}
	low := Room{Tokens: r.room}.low() * 3 / 4 // the notes need some room
	if r.by == journal.CompactionByPerson {
		low = min(low, shown.Tokens/4)
	}
	kept := 0
	for until = len(exchanges); until > 0; until-- {
		one, err := r.compactor.Past.loadPiece(ctx, exchanges[until-1], r.base)
		if err != nil {
			return 0, 0, err
		}
		kept += one.tokens(r.base)
		turns := len(exchanges) - until + 1
		if kept > low && (turns > minimumTurns || kept > r.room/2) {
			break
		}
	}
	return shown.Tokens, until, nil
}

// summariseSome summarises as many of the first turns as fit one request, and commits the summary. It
// returns their number.
func (r *summaryRun) summariseSome(ctx context.Context, exchanges []*journal.Exchange) (int, error) {
	transcript, turns, err := r.transcript(ctx, exchanges)
	if err != nil {
		return 0, err
	}
	fresh, model, err := r.notes(ctx, transcript, exchanges[turns-1].Turn)
	if err != nil {
		return 0, err
	}
	if fresh.Empty() {
		r.unnoted = true
		if fresh, err = r.questions(ctx, exchanges[:turns]); err != nil {
			return 0, err
		}
	}
	if fresh.Own, err = r.ownOnly(ctx, exchanges[:turns]); err != nil {
		return 0, err
	}
	summary := r.summary.Merge(fresh)
	if summary.Tokens() > r.room/6 {
		refused := r.refused
		if short, _, err := r.notes(ctx, condenseRequest(summary), exchanges[turns-1].Turn); err == nil && !short.Empty() && r.refused == refused && short.Tokens() < summary.Tokens() {
			short.Closed, short.Own, short.Left = nil, summary.Own, summary.Left
			summary = short
		}
		summary.Cut(r.room / 6)
	}
	if err := r.commit(ctx, summary, exchanges[turns-1].Seq, turns, model); err != nil {
		return 0, err
	}
	r.summary = summary
	return turns, nil
}

// ownOnly reports whether only the person and the agent wrote the turns.
func (r *summaryRun) ownOnly(ctx context.Context, exchanges []*journal.Exchange) (bool, error) {
	for _, e := range exchanges {
		if len(e.Context) > 0 {
			return false, nil
		}
		steps, err := r.compactor.Past.Journal.Transcripts.ToolSteps(ctx, e.AnswerID)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(steps, func(step journal.ToolStep) bool { return r.compactor.Past.outside(step) != "" }) {
			return false, nil
		}
	}
	return true, nil
}

// summaryTries is how often a model is asked for notes of the same turns.
const summaryTries = 3

// notes asks the model for notes of a text, and asks again with what is wrong with them. In the end it returns
// the notes that can be used, which may be none. The usage counts for the turn.
func (r *summaryRun) notes(ctx context.Context, transcript, turn string) (best Summary, model string, err error) {
	messages := []llm.Message{{Role: llm.RoleUser, Text: transcript}}
	refused := 0
	for try := range summaryTries {
		reply, err := r.ask(ctx, messages, turn)
		if err != nil && (try == 0 || ctx.Err() != nil) {
			return Summary{}, "", err
		}
		if err != nil {
			break // what it wrote before is used
		}
		model = reply.Model
		written := withoutThoughts(r.compactor.Hide(reply.Text))
		notes := parseSummary(written)
		good, faults := notes.check(transcript)
		if good.count() >= best.count() {
			best, refused = good, notes.count()-good.count()
		}
		if len(faults) == 0 {
			return good, model, nil
		}
		r.compactor.Logger.Warn("notes of a model cannot be used", "session", r.session, "try", try+1, "faults", len(faults))
		messages = messages[:1:1]
		if written = strings.TrimSpace(written); written != "" {
			messages = append(messages, llm.Message{Role: llm.RoleAssistant, Text: abbreviate(written, passageLimit)})
		}
		messages = append(messages, llm.Message{Role: llm.RoleUser, Text: "Your notes cannot be used:\n- " + strings.Join(faults, "\n- ") + "\nName only what stands in what you were given, as it stands there. Now write the notes."})
	}
	r.refused += refused
	return best, model, nil
}

// questions returns notes that no model made: what was asked in the turns, and the files that calls name.
func (r *summaryRun) questions(ctx context.Context, exchanges []*journal.Exchange) (s Summary, err error) {
	s.Other = []string{"The notes that the model made of some turns could not be used. For them stands how their questions began, and which files calls named."}
	for _, e := range exchanges {
		asked, err := r.compactor.Past.Question(ctx, e, false)
		if err != nil {
			return s, err
		}
		s.Other = append(s.Other, fmt.Sprintf("%q was asked", text.Clip(text.Line(asked), quotedNote)))
		steps, err := r.compactor.Past.Journal.Transcripts.ToolSteps(ctx, e.AnswerID)
		if err != nil {
			return s, err
		}
		for _, step := range steps {
			for _, w := range wordsOf(step.Action) {
				if w.isFile() && !slices.Contains(s.Files, w.text) && len(s.Files) < notesLimit {
					s.Files = append(s.Files, w.text)
				}
			}
		}
	}
	return s, nil
}

// ask asks the model for notes once.
func (r *summaryRun) ask(ctx context.Context, messages []llm.Message, turn string) (llm.Reply, error) {
	model := cmp.Or(r.compactor.SummaryModel(), r.model)
	request := llm.Request{Model: model, Sections: llm.System(instructions), Messages: messages, FirstOnly: true}.Map(r.compactor.Hide)
	r.record(ctx, journal.KindModelRequest, RowOf(request))
	estimate := Tokens(r.compactor.Past.Dialect, llm.Message{Text: request.System()}) + Total(r.compactor.Past.Dialect, request.Messages)
	reply, err := llm.Collect(r.compactor.Provider.Stream(ctx, request))
	r.record(ctx, journal.KindModelReply, map[string]any{"text": r.compactor.Hide(reply.Text), "finish": reply.Finish, "model": reply.Model})
	if usage := reply.Usage; usage != nil {
		if usage.LooksCut(int(float64(estimate) * r.factor)) {
			estimate = 0 // the count says nothing of it
		}
		spent := journal.ReplyUsage{Turn: turn, Model: reply.Model, Input: usage.Input, Output: usage.Output, Cached: usage.Cached,
			Reason: usage.Reasoning, Cost: usage.Cost, Estimate: estimate, RequestedModel: cmp.Or(model, r.compactor.Model())}
		if err := r.compactor.Past.Journal.Usage.PutReplyUsage(context.WithoutCancel(ctx), spent); err != nil {
			r.compactor.Logger.Error("usage not recorded", "err", err)
		}
	}
	if err != nil {
		return reply, fmt.Errorf("the model did not answer: %w", err)
	}
	return reply, nil
}

// record writes a request or a reply into the journal. It logs its errors.
func (r *summaryRun) record(ctx context.Context, kind journal.Kind, data any) {
	raw, err := json.Marshal(data)
	if err == nil {
		_, err = r.compactor.Past.Journal.Rows.Append(context.WithoutCancel(ctx), journal.Entry{Kind: kind, Session: r.session, Data: raw})
	}
	if err != nil {
		r.compactor.Logger.Error("journal row not recorded", "kind", kind, "err", err)
	}
}

// commit records the summary. Results that were shortened or left out meanwhile stay so. If
// another summary was recorded meanwhile, that one counts and this one is an error.
func (r *summaryRun) commit(ctx context.Context, summary Summary, through int64, turns int, model string) error {
	raw, err := json.Marshal(summary)
	if err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	const tries = 3
	for try := 0; ; try++ {
		next := r.base
		next.Base, next.By, next.Model, next.Before, next.After = r.latest, r.by, model, 0, 0
		next.Summary, next.Summarised, next.SummarisedTurns = raw, through, r.base.SummarisedTurns+turns
		if next.Through <= through {
			next.Through, next.Turns = through, next.SummarisedTurns
		}
		kept, err := r.compactor.Past.Journal.Transcripts.PutCompaction(ctx, r.session, next, r.latest)
		if err == nil {
			r.base, r.latest = kept, kept.Seq
			return nil
		}
		if protocol.ErrorCode(err) != protocol.CodeConflict || try == tries {
			return err
		}
		compactions, failed := r.compactor.Past.Journal.Transcripts.Compactions(ctx, r.session)
		if failed != nil {
			return failed
		}
		if len(compactions) == 0 || compactions[0].Summarised != r.base.Summarised || compactions[0].By == journal.CompactionByUndo {
			return err
		}
		r.base, r.latest = compactions[0], compactions[0].Seq
	}
}
