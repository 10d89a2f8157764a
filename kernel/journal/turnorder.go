package journal

import (
	"cmp"
	"context"
	"slices"
)

// turnRef points to a turn and to the answer of it that counts. position is the row of the
// question that its own question replaced, or its own row if it replaced none. steered is true if a
// person sent something to the turn while it ran.
type turnRef struct {
	seq, position int64
	answer, skill string
	steered       bool
}

// turnOrder is the answered turns of a session, the latest first, as of the journal row until.
// The caller wanted the turns from the row asked on. The list begins at the row from, which is
// later than asked if there are very many turns.
type turnOrder struct {
	until, asked, from int64
	turns              []turnRef
}

const (
	// turnOrderTurns is how many turns of a session are read, unless more are needed.
	turnOrderTurns = 2 * historyLimit
	// turnOrdersKept is the size of the cache of turn orders, in bytes.
	turnOrdersKept = 8 << 20
	turnRefSize    = 140
)

// turnRefQuery reads no text. Of several answers to a question the one that a person prefers
// counts, otherwise the last whole one.
const turnRefQuery = `SELECT t.seq, CASE t.instead WHEN '' THEN t.seq ELSE coalesce((SELECT o.seq FROM turn AS o WHERE o.event = t.instead), t.seq) END,
	coalesce(nullif(t.preferred, ''), t.answer) AS shown, t.skill, EXISTS (SELECT 1 FROM steer AS s WHERE s.turn = t.id)
	FROM turn AS t `

// untilQuery returns the journal's last row, and whether a session took or gave up the name ?1
// after the row ?2.
const untilQuery = `SELECT coalesce(max(seq), 0), EXISTS (SELECT 1 FROM rename WHERE seq > ?2 AND (former = ?1 OR name = ?1)) FROM journal`

// turnOrderQuery returns the answered turns of a session, the latest first.
const turnOrderQuery = turnRefQuery + `WHERE t.session = ?1 AND t.seq >= ?2 AND shown <> '' ORDER BY t.seq DESC LIMIT ?3`

// changedQuery returns the turns of a session that a row after ?3 changed. Rows that only record
// the way to an answer change nothing here. The turns are looked up one by one, because few turns
// of a session change.
const changedQuery = turnRefQuery + `WHERE t.id IN (SELECT turn FROM journal WHERE session = ?1 AND seq > ?3 AND +kind IN ('event', 'turn', 'preference', 'steer'))
	AND +t.session = ?1 AND +t.seq >= ?2`

// turnRefs lists the turns of a session from the row before (exclusive) back to the row from
// (inclusive), the latest first, without the turns that a later one replaced. whole is false if
// the limit cut the list.
func (s *TranscriptStore) turnRefs(ctx context.Context, session string, before, from int64, limit int) (refs []turnRef, whole bool, err error) {
	b, err := s.turnOrder(ctx, session, from)
	for most := turnOrderTurns; err == nil; most *= 2 {
		var enough bool
		if refs, whole, enough = b.walk(before, from, limit); enough {
			return refs, whole, nil
		}
		b, err = s.readTurnOrder(ctx, session, from, most)
	}
	return nil, false, err
}

// walk lists the turns as [TranscriptStore.turnRefs] does. enough is false if the turn order does not go
// back far enough to tell.
func (b turnOrder) walk(before, from int64, limit int) (refs []turnRef, whole, enough bool) {
	refs = make([]turnRef, 0, min(len(b.turns), limit))
	for _, v := range b.turns {
		if v.seq >= before || v.seq < from {
			continue
		}
		before = v.position
		if len(refs) == limit {
			return refs, false, true
		}
		refs = append(refs, v)
	}
	return refs, true, b.from <= from
}

// turnOrder returns the turn order of a session, from a row on or from a later one. A cached order
// is brought up to date: only the turns that changed since are read again, whichever process
// changed them.
func (s *TranscriptStore) turnOrder(ctx context.Context, session string, from int64) (turnOrder, error) {
	known, found := s.turnOrders.Get(session)
	var renamed bool
	until := known.until
	if found {
		if err := s.readers.QueryRowContext(ctx, untilQuery, session, known.until).Scan(&until, &renamed); err != nil {
			return known, err
		}
	}
	if !found || renamed || from < known.asked {
		return s.readTurnOrder(ctx, session, from, turnOrderTurns)
	}
	changed, err := collect(ctx, s.readers, scanTurnRef, changedQuery, session, max(from, known.from), known.until)
	if err != nil {
		return known, err
	}
	return s.keepTurnOrder(session, turnOrder{until, from, max(from, known.from), known.with(changed)}), nil
}

// readTurnOrder reads the turn order of a session from the file, at most that many turns.
func (s *TranscriptStore) readTurnOrder(ctx context.Context, session string, from int64, most int) (turnOrder, error) {
	b := turnOrder{asked: from, from: from}
	var renamed bool
	err := s.readers.QueryRowContext(ctx, untilQuery, session, 0).Scan(&b.until, &renamed)
	if err == nil {
		b.turns, err = collect(ctx, s.readers, scanTurnRef, turnOrderQuery, session, from, most)
	}
	if err != nil {
		return b, err
	}
	if len(b.turns) == most {
		b.from = b.turns[most-1].seq
	}
	return s.keepTurnOrder(session, b), nil
}

// keepTurnOrder caches the turn order without the turns before its row from.
func (s *TranscriptStore) keepTurnOrder(session string, b turnOrder) turnOrder {
	b.turns = slices.DeleteFunc(b.turns, func(v turnRef) bool { return v.seq < b.from })
	s.turnOrders.Put(session, b, turnRefSize*len(b.turns))
	return b
}

// with merges the changed turns into the list, the latest first. A turn that has no answer any
// more is dropped.
func (b turnOrder) with(changed []turnRef) []turnRef {
	all := append(make([]turnRef, 0, len(changed)+len(b.turns)), changed...)
	for _, v := range b.turns {
		if !slices.ContainsFunc(changed, func(now turnRef) bool { return now.seq == v.seq }) {
			all = append(all, v)
		}
	}
	all = slices.DeleteFunc(all, func(v turnRef) bool { return v.answer == "" })
	slices.SortFunc(all, func(a, b turnRef) int { return cmp.Compare(b.seq, a.seq) })
	return all
}

func scanTurnRef(row scanner) (v turnRef, err error) {
	return v, row.Scan(&v.seq, &v.position, &v.answer, &v.skill, &v.steered)
}
