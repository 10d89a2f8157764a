package journal

import (
	"cmp"
	"context"
	"slices"
)

// vertebra is a turn with the answer that counts, the row of the question in whose place its own stands,
// which is its own if there is none, and whether a person said something to it while it ran.
type vertebra struct {
	seq, place    int64
	answer, skill string
	steered       bool
}

// backbone is the turns of a session that have an answer, the latest first, as they were when
// the journal had the row until: those from the row asked on, or only from a later one if there
// are very many.
type backbone struct {
	until, asked, from int64
	turns              []vertebra
}

const (
	// backboneTurns is how many turns of a session are read, unless more are needed.
	backboneTurns = 2 * historyLimit
	// backbonesKept is how many bytes of backbones are kept.
	backbonesKept = 8 << 20
	vertebraSize  = 140
)

// vertebraQuery reads no text: of several answers to a question the one that a person prefers
// counts, or else the last that is whole.
const vertebraQuery = `SELECT t.seq, CASE t.instead WHEN '' THEN t.seq ELSE coalesce((SELECT o.seq FROM turn AS o WHERE o.event = t.instead), t.seq) END,
	coalesce(nullif(t.preferred, ''), t.answer) AS shown, t.skill, EXISTS (SELECT 1 FROM steer AS s WHERE s.turn = t.id)
	FROM turn AS t `

// untilQuery is the journal's last row, and whether sessions got or lost the name behind another one.
const untilQuery = `SELECT coalesce(max(seq), 0), EXISTS (SELECT 1 FROM rename WHERE seq > ?2 AND (former = ?1 OR name = ?1)) FROM journal`

// backboneQuery are the turns of the session with an answer, the latest first.
const backboneQuery = vertebraQuery + `WHERE t.session = ?1 AND t.seq >= ?2 AND shown <> '' ORDER BY t.seq DESC LIMIT ?3`

// changedQuery are the turns of the session that anything was written of behind a row which
// tells more than how they come to their answer. They are looked up one by one: there are few,
// and many others in the session.
const changedQuery = vertebraQuery + `WHERE t.id IN (SELECT turn FROM journal WHERE session = ?1 AND seq > ?3 AND +kind IN ('event', 'turn', 'preference', 'steer'))
	AND +t.session = ?1 AND +t.seq >= ?2`

// spine goes from the latest turn before a row to the one that it may not pass, and leaves out
// those that a later one took the place of.
func (j *Journal) spine(ctx context.Context, session string, before, from int64, limit int) (spine []vertebra, whole bool, err error) {
	b, err := j.backbone(ctx, session, from)
	for most := backboneTurns; err == nil; most *= 2 {
		var enough bool
		if spine, whole, enough = b.walk(before, from, limit); enough {
			return spine, whole, nil
		}
		b, err = j.readBackbone(ctx, session, from, most)
	}
	return nil, false, err
}

// walk is the spine as far as the backbone goes, if that is far enough; it is whole unless there
// are more than the limit.
func (b backbone) walk(before, from int64, limit int) (spine []vertebra, whole, enough bool) {
	spine = make([]vertebra, 0, min(len(b.turns), limit))
	for _, v := range b.turns {
		if v.seq >= before || v.seq < from {
			continue
		}
		before = v.place
		if len(spine) == limit {
			return spine, false, true
		}
		spine = append(spine, v)
	}
	return spine, true, b.from <= from
}

// backbone is that of the session, from a row on or from a later one. Of what is kept of it only
// those turns are read again of which anything was written since, by whichever process.
func (j *Journal) backbone(ctx context.Context, session string, from int64) (backbone, error) {
	known, found := j.backbones.Get(session)
	var renamed bool
	until := known.until
	if found {
		if err := j.readers.QueryRowContext(ctx, untilQuery, session, known.until).Scan(&until, &renamed); err != nil {
			return known, err
		}
	}
	if !found || renamed || from < known.asked {
		return j.readBackbone(ctx, session, from, backboneTurns)
	}
	changed, err := collect(ctx, j.readers, scanVertebra, changedQuery, session, max(from, known.from), known.until)
	if err != nil {
		return known, err
	}
	return j.keepBackbone(session, backbone{until, from, max(from, known.from), known.with(changed)}), nil
}

// readBackbone reads it, at most so many turns.
func (j *Journal) readBackbone(ctx context.Context, session string, from int64, most int) (backbone, error) {
	b := backbone{asked: from, from: from}
	var renamed bool
	err := j.readers.QueryRowContext(ctx, untilQuery, session, 0).Scan(&b.until, &renamed)
	if err == nil {
		b.turns, err = collect(ctx, j.readers, scanVertebra, backboneQuery, session, from, most)
	}
	if err != nil {
		return b, err
	}
	if len(b.turns) == most {
		b.from = b.turns[most-1].seq
	}
	return j.keepBackbone(session, b), nil
}

// keepBackbone keeps what is in the backbone from its row on.
func (j *Journal) keepBackbone(session string, b backbone) backbone {
	b.turns = slices.DeleteFunc(b.turns, func(v vertebra) bool { return v.seq < b.from })
	j.backbones.Put(session, b, vertebraSize*len(b.turns))
	return b
}

// with is the turns, those that have changed as they are now, the latest first. Those that have no
// answer are none of them.
func (b backbone) with(changed []vertebra) []vertebra {
	all := append(make([]vertebra, 0, len(changed)+len(b.turns)), changed...)
	for _, v := range b.turns {
		if !slices.ContainsFunc(changed, func(now vertebra) bool { return now.seq == v.seq }) {
			all = append(all, v)
		}
	}
	all = slices.DeleteFunc(all, func(v vertebra) bool { return v.answer == "" })
	slices.SortFunc(all, func(a, b vertebra) int { return cmp.Compare(b.seq, a.seq) })
	return all
}

func scanVertebra(row scanner) (v vertebra, err error) {
	return v, row.Scan(&v.seq, &v.place, &v.answer, &v.skill, &v.steered)
}
