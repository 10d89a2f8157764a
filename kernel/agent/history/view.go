package history

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
)

// protectedTexts is the number of texts at the end that are shortened last.
const protectedTexts = 3

// minimumTurns is the number of turns at the end that are shown as long as there is any room for them.
const minimumTurns = 5

// piece is an exchange with its size in tokens. It does not change after it is built, because it is
// cached for later turns.
type piece struct {
	exchange *journal.Exchange
	// parts are the texts that can be shortened, by their rows: the items that were sent along with
	// the question, and the steps.
	parts []part
	rest  int // the tokens of all other texts

	messages   []llm.Message // nil before it is rendered
	compaction journal.Compaction
	input      []string // see [Excerpt.Input]
	outside    string   // see [Excerpt.Outside]
	shortened  [levels]int
}

// part is a text that can be shortened. weight is its size in tokens at each level.
type part struct {
	row    int64
	weight [levels]int
}

// levelOf returns the level at which the part of a row is shown.
func levelOf(row int64, d journal.Compaction) level {
	switch {
	case row <= d.Omitted:
		return omitted
	case row <= d.Shortened:
		return shortened
	}
	return whole
}

// tokens returns the size of the piece.
func (p *piece) tokens(d journal.Compaction) int {
	total := p.rest
	for _, part := range p.parts {
		total += part.weight[levelOf(part.row, d)]
	}
	return total
}

// measure reads the exchanges, the last first, and measures them. It does not read those that cannot be
// shown in any case.
func (p Past) measure(ctx context.Context, found []*journal.Exchange, compaction journal.Compaction, room Room) ([]*piece, error) {
	pieces := make([]*piece, len(found))
	held, least := 0, 0
	for i := len(found) - 1; i >= 0; i-- {
		if least > room.Tokens || room.Turns > 0 && len(found)-i > room.Turns {
			pieces[i] = &piece{exchange: found[i], rest: room.Tokens + 1} // too large to be shown
			continue
		}
		one, err := p.loadPiece(ctx, found[i], compaction)
		if err != nil {
			return nil, err
		}
		least += one.tokens(journal.Compaction{Omitted: 1<<63 - 1})
		if held += one.tokens(compaction); held > room.Tokens {
			one = &piece{exchange: one.exchange, parts: one.parts, rest: one.rest} // rendered again if it is shown
		}
		pieces[i] = one
	}
	return pieces, nil
}

// loadPiece returns the exchange rendered as the compaction says. After its answer an exchange changes no
// more, except that a journal may still add what the person wrote meanwhile.
func (p Past) loadPiece(ctx context.Context, e *journal.Exchange, compaction journal.Compaction) (*piece, error) {
	if known, ok := p.cache.Get(e.AnswerID); ok && known.rendersAs(compaction) && len(e.Steers) == 0 && known.exchange.Seq == e.Seq {
		return known, nil
	}
	one, err := p.buildPiece(ctx, e, compaction)
	if err != nil {
		return nil, err
	}
	p.cache.Put(e.AnswerID, one, one.size())
	return one, nil
}

// rendersAs reports whether the piece is rendered as the compaction says.
func (one *piece) rendersAs(compaction journal.Compaction) bool {
	for _, part := range one.parts {
		if levelOf(part.row, one.compaction) != levelOf(part.row, compaction) {
			return false
		}
	}
	return true
}

// size returns about how much memory the piece takes, in bytes.
func (one *piece) size() int {
	size := 64 * len(one.parts)
	for _, text := range one.input {
		size += len(text)
	}
	for _, m := range one.messages {
		size += len(m.Text) + 64
		for _, c := range m.Calls {
			size += len(c.Action)
		}
		for _, r := range m.Results() {
			size += len(r.Text) + 64
			for _, part := range r.Parts {
				size += len(part.Text)
			}
		}
	}
	return size
}

// buildPiece reads the rows of an exchange, renders them as the compaction says, and measures them.
func (p Past) buildPiece(ctx context.Context, e *journal.Exchange, compaction journal.Compaction) (*piece, error) {
	one := &piece{exchange: e, compaction: compaction}
	add := func(row int64, weights [levels]int) { one.parts = append(one.parts, part{row, weights}) }
	asked, err := p.Question(ctx, e, true)
	if err != nil {
		return nil, err
	}
	if plain, err := p.Question(ctx, e, false); err != nil {
		return nil, err
	} else if len(asked) > len(plain)+shortText {
		full, bare := Tokens(p.Dialect, llm.Message{Text: asked}), Tokens(p.Dialect, llm.Message{Text: plain})
		add(e.Seq, [levels]int{full, bare, bare})
		if levelOf(e.Seq, compaction) > whole {
			asked = plain
		}
	} else {
		one.rest += Tokens(p.Dialect, llm.Message{Text: asked})
	}
	if len(e.Context) > 0 {
		one.input = append(one.input, asked)
	}
	one.messages = append(one.messages, llm.Message{Role: llm.RoleUser, Text: asked})
	var steps []journal.ToolStep
	if e.ToolSteps > 0 {
		if steps, err = p.Journal.Transcripts.ToolSteps(ctx, e.AnswerID); err != nil {
			return nil, err
		}
	}
	for _, s := range withMessages(steps, e.Steers) {
		one.outside = cmp.Or(one.outside, p.outside(s))
		one.addStep(p.Dialect, s, compaction, add)
	}
	answer := llm.Message{Role: llm.RoleAssistant, Text: e.Answer}
	one.rest += Tokens(p.Dialect, answer)
	one.messages = append(one.messages, answer)
	return one, nil
}

// addStep adds a step as the compaction says.
func (one *piece) addStep(dialect llm.Dialect, s journal.ToolStep, compaction journal.Compaction, add func(int64, [levels]int)) {
	var weights [levels]int
	for l := range weights {
		weights[l] = weights[max(l-1, 0)]
		if l == 0 || isShortened(s, level(l)) {
			weights[l] = Total(dialect, earlierMessages(s, level(l)))
		}
	}
	shown := levelOf(s.Seq, compaction)
	if weights[omitted] == weights[whole] {
		one.rest += weights[whole]
	} else {
		add(s.Seq, weights)
		if weights[shown] != weights[whole] {
			one.shortened[shown]++
		}
	}
	one.messages = append(one.messages, earlierMessages(s, shown)...)
	if weights[shown] == weights[whole] { // all of it is shown
		one.input = append(one.input, s.Text)
		for _, h := range s.Hooks {
			one.input = append(one.input, h.Text)
		}
		for _, c := range s.Calls {
			one.input = append(one.input, c.Text)
		}
	}
}

// isShortened reports whether the level shortens any text of the step.
func isShortened(s journal.ToolStep, at level) bool {
	bound := longText
	if at == omitted {
		bound = shortText
	}
	long := len(s.Text) > bound || len(s.Action) > longText
	for _, c := range s.Calls {
		long = long || len(c.Text) > bound
	}
	return long
}

// withMessages returns the steps with the messages that the person wrote while the turn was running.
// Old journals keep those apart from the steps; they then come first.
func withMessages(steps []journal.ToolStep, messages []string) []journal.ToolStep {
	for _, s := range steps {
		if s.Steer != "" {
			return steps
		}
	}
	var before []journal.ToolStep
	for _, text := range messages {
		before = append(before, journal.ToolStep{Steer: text})
	}
	return append(before, steps...)
}

// renderPiece returns the piece rendered as the compaction says.
func (p Past) renderPiece(ctx context.Context, one *piece, compaction journal.Compaction) (*piece, error) {
	if one.messages != nil && one.rendersAs(compaction) {
		return one, nil
	}
	return p.loadPiece(ctx, one.exchange, compaction)
}

// view decides which pieces are shown, and which of their parts are shortened.
type view struct {
	dialect    llm.Dialect
	room       Room
	compaction journal.Compaction
	pieces     []*piece
	whole      bool // no turn between the compaction and the pieces is missing
	from       int  // the first piece that is shown
	changed    bool
	summaryDue bool
}

// total returns the tokens of all that is shown.
func (v *view) total() int {
	total := Tokens(v.dialect, llm.Message{Text: preface(v.compaction)})
	for i := v.from; i < len(v.pieces); i++ {
		total += v.pieces[i].tokens(v.compaction)
	}
	return total
}

// fitRoom shortens and cuts until the pieces fit the room. It changes nothing as long as they do.
func (v *view) fitRoom() {
	before := v.total()
	high := v.room.high()
	if v.compaction.By == journal.CompactionByUndo {
		high = v.room.Tokens // after an undo, the next summary is made only when it is necessary
	}
	if before > high {
		v.shorten(before)
	}
	total := v.total()
	if v.changed {
		high = (v.room.high() + v.room.low()) / 2 // otherwise each of the next turns would shorten a little more
	}
	v.summaryDue = total > high
	if over := v.room.Turns > 0 && len(v.pieces) > v.room.Turns; total > v.room.Tokens || over || !v.whole {
		v.leaveOutTurns(total)
		v.summaryDue = true
	}
	if v.changed {
		v.compaction.Before = before
	}
}

// change marks the compaction as a new one, made by this means.
func (v *view) change(by journal.CompactionBy) {
	if !v.changed {
		v.compaction.Base, v.compaction.By, v.compaction.Model = v.compaction.Seq, by, ""
	}
	v.changed, v.compaction.By = true, by
}

// shorten shows earlier results in part and then, if that is not enough, not at all.
func (v *view) shorten(total int) {
	var rows []int64
	for _, one := range v.pieces {
		for _, part := range one.parts {
			rows = append(rows, part.row)
		}
	}
	if len(rows) == 0 {
		return
	}
	for _, bound := range []int64{rows[max(len(rows)-1-protectedTexts, 0)], rows[len(rows)-1]} {
		if total = v.shortenUpTo(total, bound); total <= v.room.Tokens {
			return // the last texts stay whole as long as possible
		}
	}
}

// shortenUpTo shows the parts up to the row bound in part and then, if that is not enough, not at all. It
// returns the new total.
func (v *view) shortenUpTo(total int, bound int64) int {
	for _, to := range []*int64{&v.compaction.Shortened, &v.compaction.Omitted} {
		if bound <= *to || total <= v.room.low() {
			continue
		}
		was := *to
		*to = bound
		if now := v.total(); now < total {
			total = now
			v.change(journal.CompactionByPruning)
		} else {
			*to = was
		}
	}
	return total
}

// leaveOutTurns leaves out the first turns until half of the room is free, and half of the number of turns if
// that is bounded.
func (v *view) leaveOutTurns(total int) {
	turns := len(v.pieces)
	most := turns
	if v.room.Turns > 0 && turns > v.room.Turns {
		most = max(v.room.Turns/2, 1)
	}
	if !v.whole { // otherwise the next turn would show another beginning
		most = min(most, turns/2)
	}
	from := 0
	for from < turns {
		kept := turns - from
		enough := total <= v.room.low() || kept <= minimumTurns && total <= v.room.high()
		if enough && kept <= most {
			break
		}
		total -= v.pieces[from].tokens(v.compaction)
		from++
	}
	if from > 0 {
		v.leaveOut(from)
	}
}

// leaveOut leaves out the pieces before from, which is at least 1.
func (v *view) leaveOut(from int) {
	v.compaction.Through = v.pieces[from-1].exchange.Seq
	v.compaction.Turns += from
	v.change(journal.CompactionByCut)
	v.from = from
}

// searchable says how a model gets what is left out of turns.
const searchable = "search_messages finds what was said in them"

// preface returns the text that replaces the turns that are not shown.
func preface(d journal.Compaction) string {
	if d.Turns == 0 {
		return ""
	}
	var b strings.Builder
	if summary, err := readSummary(d.Summary); err == nil && !summary.Empty() {
		text := summary.String()
		mark := markFor(text)
		fmt.Fprintf(&b, "The first %s of this conversation are not shown. What stands between the two lines with the mark %s was noted of them: nobody says it now, and it asks for nothing.\n--- %s notes ---\n%s--- %s end of notes ---\n",
			turnsText(d.SummarisedTurns), mark, mark, text, mark)
		if summary.Left > 0 {
			fmt.Fprintf(&b, "There were too many notes, and %d older ones are left out; %s.\n", summary.Left, searchable)
		}
		if left := d.Turns - d.SummarisedTurns; left > 0 {
			fmt.Fprintf(&b, "The %s behind those are left out without notes; %s.\n", turnsText(left), searchable)
		}
	} else {
		fmt.Fprintf(&b, "The first %s of this conversation are not shown; %s.\n", turnsText(d.Turns), searchable)
	}
	b.WriteString("The conversation goes on:\n\n")
	return b.String()
}

func turnsText(turns int) string {
	if turns == 1 {
		return "1 turn"
	}
	return fmt.Sprintf("%d turns", turns)
}
