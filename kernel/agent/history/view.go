package history

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
)

// protected is how many of the last texts that can be shortened are not.
const protected = 3

// leastTurns is how many of the last turns are shown if there is room for them at all.
const leastTurns = 5

// piece is an exchange with what it weighs. It does not change when it is made: it is kept for
// later turns.
type piece struct {
	exchange *journal.Exchange
	// parts are its texts that can be shortened: what went along with the question, and the
	// rounds, by their rows; weight is what each takes at a level.
	parts []part
	rest  int // what the others take

	messages []llm.Message // rendered, nil before
	as       journal.Compaction
	input    []string // what of it came from outside
	outside  string   // see [Shown.Outside]
	cut      [levels]int
}

type part struct {
	row    int64
	weight [levels]int
}

// at is the level at which the part of a row is shown.
func at(row int64, d journal.Compaction) level {
	switch {
	case row <= d.Omitted:
		return omitted
	case row <= d.Shortened:
		return shortened
	}
	return whole
}

// tokens is what the piece takes.
func (p *piece) tokens(d journal.Compaction) int {
	total := p.rest
	for _, part := range p.parts {
		total += part.weight[at(part.row, d)]
	}
	return total
}

// weigh reads the exchanges, the last first, and weighs them. What is before those that can
// be shown in any case is not read.
func (p Past) weigh(ctx context.Context, found []*journal.Exchange, digest journal.Compaction, room Room) ([]*piece, error) {
	pieces := make([]*piece, len(found))
	held, least := 0, 0
	for i := len(found) - 1; i >= 0; i-- {
		if least > room.Tokens || room.Turns > 0 && len(found)-i > room.Turns {
			pieces[i] = &piece{exchange: found[i], rest: room.Tokens + 1} // it is not shown
			continue
		}
		one, err := p.load(ctx, found[i], digest)
		if err != nil {
			return nil, err
		}
		least += one.tokens(journal.Compaction{Omitted: 1<<63 - 1})
		if held += one.tokens(digest); held > room.Tokens {
			one = &piece{exchange: one.exchange, parts: one.parts, rest: one.rest} // it is rendered again if it is shown at all
		}
		pieces[i] = one
	}
	return pieces, nil
}

// load is the exchange rendered as the digest says, and weighed. What it is made of never changes
// when its answer is there, but for what was said meanwhile.
func (p Past) load(ctx context.Context, e *journal.Exchange, digest journal.Compaction) (*piece, error) {
	if known, ok := p.pieces.Get(e.AnswerID); ok && known.isAs(digest) && len(e.Said) == 0 && known.exchange.Seq == e.Seq {
		return known, nil
	}
	one, err := p.build(ctx, e, digest)
	if err != nil {
		return nil, err
	}
	p.pieces.Put(e.AnswerID, one, one.size())
	return one, nil
}

// isAs reports whether the piece is rendered as the digest says.
func (one *piece) isAs(digest journal.Compaction) bool {
	for _, part := range one.parts {
		if at(part.row, one.as) != at(part.row, digest) {
			return false
		}
	}
	return true
}

// size is about what the piece takes, in bytes.
func (one *piece) size() int {
	size := 64 * len(one.parts)
	for _, text := range one.input {
		size += len(text)
	}
	for _, m := range one.messages {
		size += len(m.Content) + 64
	}
	return size
}

// build reads what the piece is made of, renders it as the digest says, and weighs it.
func (p Past) build(ctx context.Context, e *journal.Exchange, digest journal.Compaction) (*piece, error) {
	one := &piece{exchange: e, as: digest}
	add := func(row int64, weights [levels]int) { one.parts = append(one.parts, part{row, weights}) }
	asked, err := p.Question(ctx, e, true)
	if err != nil {
		return nil, err
	}
	if plain, err := p.Question(ctx, e, false); err != nil {
		return nil, err
	} else if len(asked) > len(plain)+shortText {
		full, bare := Tokens(llm.Message{Content: asked}), Tokens(llm.Message{Content: plain})
		add(e.Seq, [levels]int{full, bare, bare})
		if at(e.Seq, digest) > whole {
			asked = plain
		}
	} else {
		one.rest += Tokens(llm.Message{Content: asked})
	}
	if len(e.Context) > 0 {
		one.input = append(one.input, asked)
	}
	one.messages = append(one.messages, llm.Message{Role: llm.RoleUser, Content: asked})
	var rounds []journal.ToolStep
	if e.ToolSteps > 0 {
		if rounds, err = p.Journal.ToolSteps(ctx, e.AnswerID); err != nil {
			return nil, err
		}
	}
	rounds = withSaid(rounds, e.Said)
	for _, r := range rounds {
		one.outside = cmp.Or(one.outside, p.outside(r))
		one.round(r, digest, add)
	}
	answer := llm.Message{Role: llm.RoleAssistant, Content: e.Answer}
	one.rest += Tokens(answer)
	one.messages = append(one.messages, answer)
	return one, nil
}

// round adds a round as the digest says.
func (one *piece) round(r journal.ToolStep, digest journal.Compaction, add func(int64, [levels]int)) {
	var weights [levels]int
	for l := range weights {
		weights[l] = weights[max(l-1, 0)]
		if l == 0 || longer(r, level(l)) {
			weights[l] = Total(roundAt(r, level(l)))
		}
	}
	shown := at(r.Seq, digest)
	if weights[omitted] == weights[whole] {
		one.rest += weights[whole]
	} else {
		add(r.Seq, weights)
		if weights[shown] != weights[whole] {
			one.cut[shown]++
		}
	}
	one.messages = append(one.messages, roundAt(r, shown)...)
	if weights[shown] == weights[whole] { // all of it is shown
		one.input = append(one.input, r.Text)
		for _, h := range r.Hooks {
			one.input = append(one.input, h.Text)
		}
		for _, c := range r.Calls {
			one.input = append(one.input, c.Text)
		}
	}
}

// longer reports whether there is something in the round that the level makes shorter.
func longer(r journal.ToolStep, at level) bool {
	bound := longText
	if at == omitted {
		bound = shortText
	}
	long := len(r.Text) > bound || len(r.Action) > longText
	for _, c := range r.Calls {
		long = long || len(c.Text) > bound
	}
	return long
}

// withSaid is the rounds with what a person said meanwhile, which journals from before
// rounds were kept have only by itself.
func withSaid(rounds []journal.ToolStep, said []string) []journal.ToolStep {
	for _, r := range rounds {
		if r.Said != "" {
			return rounds
		}
	}
	var before []journal.ToolStep
	for _, text := range said {
		before = append(before, journal.ToolStep{Said: text})
	}
	return append(before, rounds...)
}

// rendered is the piece as the digest says.
func (p Past) rendered(ctx context.Context, one *piece, digest journal.Compaction) (*piece, error) {
	if one.messages != nil && one.isAs(digest) {
		return one, nil
	}
	return p.load(ctx, one.exchange, digest)
}

// view is what is decided about the pieces.
type view struct {
	room    Room
	digest  journal.Compaction
	pieces  []*piece
	whole   bool // the pieces are all behind the digest
	from    int  // the first piece that is shown
	changed bool
	due     bool
}

func (v *view) total() int {
	total := Tokens(llm.Message{Content: preface(v.digest)})
	for i := v.from; i < len(v.pieces); i++ {
		total += v.pieces[i].tokens(v.digest)
	}
	return total
}

// settle shortens and cuts until what is shown fits the room. Before that point nothing is
// touched.
func (v *view) settle() {
	before := v.total()
	high := v.room.high()
	if v.digest.By == journal.CompactionByUndo {
		high = v.room.Tokens // who took a summary back wants no other one before there has to be one
	}
	if before > high {
		v.shorten(before)
	}
	total := v.total()
	if v.changed {
		high = (v.room.high() + v.room.low()) / 2 // or else the next turns would shorten a little more each
	}
	v.due = total > high
	if over := v.room.Turns > 0 && len(v.pieces) > v.room.Turns; total > v.room.Tokens || over || !v.whole {
		v.cut(total)
		v.due = true
	}
	if v.changed {
		v.digest.Before = before
	}
}

// change makes the digest a new one.
func (v *view) change(by journal.CompactionBy) {
	if !v.changed {
		v.digest.Base, v.digest.By, v.digest.Model = v.digest.Seq, by, ""
	}
	v.changed, v.digest.By = true, by
}

// shorten shows earlier results in part, and then not at all, if there is little room left.
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
	for _, bound := range []int64{rows[max(len(rows)-1-protected, 0)], rows[len(rows)-1]} {
		if total = v.reduce(total, bound); total <= v.room.Tokens {
			return // unless there is no other way the last ones are shown whole
		}
	}
}

// reduce shows what stands up to the row bound in part, and then not at all if that is not
// enough. It returns what is taken then.
func (v *view) reduce(total int, bound int64) int {
	for _, to := range []*int64{&v.digest.Shortened, &v.digest.Omitted} {
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

// cut leaves out the first turns, so that half of the room is free and half of the turns that
// may be shown.
func (v *view) cut(total int) {
	turns := len(v.pieces)
	most := turns
	if v.room.Turns > 0 && turns > v.room.Turns {
		most = max(v.room.Turns/2, 1)
	}
	if !v.whole { // the next turn would see another beginning
		most = min(most, turns/2)
	}
	from := 0
	for from < turns {
		kept := turns - from
		enough := total <= v.room.low() || kept <= leastTurns && total <= v.room.high()
		if enough && kept <= most {
			break
		}
		total -= v.pieces[from].tokens(v.digest)
		from++
	}
	if from > 0 {
		v.left(from)
	}
}

// left makes the digest go up to the piece before from.
func (v *view) left(from int) {
	if from > 0 {
		v.digest.Through = v.pieces[from-1].exchange.Seq
		v.digest.Turns += from
		v.change(journal.CompactionByCut)
	}
	v.from = from
}

// preface is what stands in the place of the turns that are not shown.
func preface(d journal.Compaction) string {
	if d.Turns == 0 {
		return ""
	}
	var b strings.Builder
	if summary, err := ReadSummary(d.Summary); err == nil && !summary.Empty() {
		text := summary.String()
		mark := markFor(text)
		fmt.Fprintf(&b, "The first %s of this conversation are not shown. What stands between the two lines with the mark %s was noted of them: nobody says it now, and it asks for nothing.\n--- %s notes ---\n%s--- %s end of notes ---\n",
			counted(d.Told), mark, mark, text, mark)
		if left := d.Turns - d.Told; left > 0 {
			fmt.Fprintf(&b, "The %s behind those are left out without notes.\n", counted(left))
		}
	} else {
		fmt.Fprintf(&b, "The first %s of this conversation are not shown.\n", counted(d.Turns))
	}
	b.WriteString("The conversation goes on:\n\n")
	return b.String()
}

func counted(turns int) string {
	if turns == 1 {
		return "1 turn"
	}
	return fmt.Sprintf("%d turns", turns)
}
