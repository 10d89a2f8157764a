package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/protocol"
)

// Kind says what a row records, and so the shape of its data. The journal
// writes the kinds event, context, turn, act, receipt, approval, decision, question, answer, rename, fork, usage,
// preference, session-model, session-preset, steer, spawn, spawn-change and digest itself, together with the state they change; the others are
// written by [RecordStore.Append] and [RecordStore.AppendDeferred]
// in the shape of whoever writes them.
type Kind string

const (
	KindEvent          Kind = "event"           // what a sensor or client reported: read it with [Entry.Event]
	KindChoice         Kind = "choice"          // the skill that answers, and why: a [Choice]
	KindContext        Kind = "context"         // {"items"}: what went along with an event, whole; ID is the event's
	KindModelRequest   Kind = "model-request"   // what a model was asked
	KindModelReply     Kind = "model-reply"     // what it answered, whole
	KindProposal       Kind = "proposal"        // the action read from a reply, and the steps that read it
	KindVerdict        Kind = "verdict"         // what the skill and the policy said to a proposal
	KindAct            Kind = "act"             // an [Act], before it is performed
	KindReceipt        Kind = "receipt"         // a [Receipt]; ID is the act's, or the event's whose question was saved
	KindApproval       Kind = "approval"        // a [protocol.Ask], when it was asked for
	KindDecision       Kind = "decision"        // {"decision","reason","edited","client"}; no decision: its turn ended
	KindQuestion       Kind = "question"        // a [protocol.Ask], when it was asked
	KindAnswer         Kind = "answer"          // a [protocol.AskOutcome]: how a question was closed; read it with [ReadOutcome]
	KindRename         Kind = "rename"          // a [Renaming]; Session is the new name
	KindFork           Kind = "fork"            // {"parent","at","turns"}; Session is the new one, ID that of the heading it was forked at
	KindTurn           Kind = "turn"            // {"state","attempt","skill","model","notice","input","output","cost","wanted","settings"}: the turn from then on
	KindUsage          Kind = "usage"           // a [Spent]: what one reply of a model took
	KindPreference     Kind = "preference"      // ID is the answer that a person chose; {"not"} takes the choice back
	KindSessionModel   Kind = "session-model"   // {"model"}: what answers in the session from then on
	KindPreset         Kind = "session-preset"  // {"preset"}: what holds in the session from then on
	KindSteer          Kind = "steer"           // {"text"}: what a person said to the turn while it ran
	KindAsked          Kind = "asked"           // {"text"}: the question as the model was shown it; ID is the id of the answer that was to come
	KindToolStep       Kind = "round"           // a [ToolStep] on the way to the answer ID
	KindCompaction     Kind = "digest"          // a [Compaction]: how models are shown the beginning of the session from then on
	KindUndo           Kind = "undo"            // a person took back what the act ID had changed
	KindMemory         Kind = "memory"          // a change of what is kept: {"operation","path","record","before","after","undoes"}
	KindRecall         Kind = "recall"          // {"items"}: what a turn was reminded of, of what is kept
	KindFormation      Kind = "formation"       // {"turn",…}: up to which turn a conversation was looked at for what to keep of it
	KindMemoryProposal Kind = "memory-proposal" // a change of what is kept that waits for a person
	KindMemoryDecision Kind = "memory-decision" // {"accepted"}: what a person decided about it; ID is the proposal's
	KindSubagent       Kind = "spawn"           // a [Subagent]: work that a turn handed on; ID is its task's
	KindSubagentChange Kind = "spawn-change"    // {"cancelled"}; or {"reported"}: the spawns whose end the event ID tells of
	KindAudit          Kind = "audit"           // {"option","version","pid"}: the kernel was started with an option that takes a safeguard away
	KindNotice         Kind = "notice"          // a line for a person
	KindLog            Kind = "log"             // a line for the log
)

// Entry is one row of the journal. Data is JSON.
type Entry struct {
	Seq     int64           `json:"seq"`
	Time    time.Time       `json:"time"` // to the microsecond, UTC
	Kind    Kind            `json:"kind"`
	Session string          `json:"session,omitempty"`
	Turn    string          `json:"turn,omitempty"`
	ID      string          `json:"id,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// dataLimit is the largest data of one row, in bytes.
const dataLimit = 64 << 20

// Audit records that a kernel was started with an option that takes a safeguard away.
func (s *RecordStore) Audit(ctx context.Context, option, version string) error {
	row, err := json.Marshal(struct {
		Option  string `json:"option"`
		Version string `json:"version"`
		PID     int    `json:"pid"`
	}{option, version, os.Getpid()})
	if err == nil {
		_, err = s.Append(ctx, Entry{Kind: KindAudit, Data: row})
	}
	return err
}

// Append writes one row and returns it with its Seq, and with the present as
// its Time if it had none. Missing data is {}; data that is not JSON is
// refused with CodeInvalidParams, longer than [dataLimit] with CodeTooLarge.
func (s *RecordStore) Append(ctx context.Context, entry Entry) (Entry, error) {
	if err := entry.check(); err != nil {
		return Entry{}, err
	}
	err := s.transact(ctx, "append to the journal", func(ctx context.Context, tx *writer) (err error) {
		entry, err = insert(ctx, tx, entry)
		return err
	})
	if err != nil {
		return Entry{}, err
	}
	return entry, nil
}

// check says what is wrong with a row that somebody else made.
func (e Entry) check() error {
	switch {
	case e.Kind == "":
		return protocol.Errorf(protocol.CodeInvalidParams, "a row of the journal needs a kind")
	case len(e.Data) > dataLimit:
		return protocol.Errorf(protocol.CodeTooLarge, "a row of %d bytes is more than the %d the journal takes", len(e.Data), dataLimit)
	case len(e.Data) > 0 && !json.Valid(e.Data):
		return protocol.Errorf(protocol.CodeInvalidParams, "the data of a %s row is not JSON", e.Kind)
	}
	return nil
}

// insert writes a row whose data is known to be right.
func insert(ctx context.Context, tx *writer, entry Entry) (Entry, error) {
	if entry.Time.IsZero() {
		entry.Time = time.Now()
	}
	entry.Time = instant(micros(entry.Time))
	if len(entry.Data) == 0 {
		entry.Data = json.RawMessage("{}")
	}
	result, err := tx.ExecContext(ctx,
		"INSERT INTO journal (time, kind, session, turn, id, data) VALUES (?, ?, ?, ?, ?, ?)",
		micros(entry.Time), string(entry.Kind), entry.Session, entry.Turn, entry.ID, string(entry.Data))
	if err != nil {
		return Entry{}, fmt.Errorf("write a %s row: %w", entry.Kind, err)
	}
	entry.Seq, err = result.LastInsertId()
	return entry, err
}

// record writes a row with data as JSON.
func record(ctx context.Context, tx *writer, entry Entry, data any) (Entry, error) {
	var err error
	if entry.Data, err = encode(data); err != nil {
		return Entry{}, protocol.Errorf(protocol.CodeInvalidParams, "write a %s row: %w", entry.Kind, err)
	}
	if len(entry.Data) > dataLimit {
		return Entry{}, protocol.Errorf(protocol.CodeTooLarge, "a %s row of %d bytes is more than the %d the journal takes", entry.Kind, len(entry.Data), dataLimit)
	}
	return insert(ctx, tx, entry)
}

// encode is JSON as a person reads it best: < > & stay themselves.
func encode(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Query selects rows: those that match every field that is set.
type Query struct {
	Session string // also under the names it had before
	Turn    string
	ID      string
	Kinds   []Kind // any of these
	After   int64  // only rows with a greater Seq
	Limit   int    // at most so many; 1,000 if 0
	Latest  bool   // the last of them instead of the first
}

const (
	entriesDefault = 1000
	entriesBytes   = 16 << 20 // of data, in one answer
)

// RecordStore keeps the rows of the journal itself, of every kind, numbered in the order in which
// they were committed. The other stores keep tables beside the rows that they write, and write both
// in one transaction.
type RecordStore struct{ *database }

// Entries returns the rows a query selects, oldest first, requests to models whole. An answer ends
// early, after at least one row, when its data passes 16 MiB; ask again with
// After set to the last Seq until nothing comes.
func (s *RecordStore) Entries(ctx context.Context, query Query) ([]Entry, error) {
	var names []span
	if query.Session != "" {
		var err error
		if names, err = spans(ctx, s.readers, query.Session); err != nil {
			return nil, s.failure(ctx, "read the journal", err)
		}
	}
	statement, args := query.statement(names)
	rows, err := s.readers.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, s.failure(ctx, "read the journal", err)
	}
	var entries []Entry
	for size := 0; size <= entriesBytes && rows.Next(); {
		entry, err := scanEntry(rows)
		if err != nil {
			_ = rows.Close() // the first error is the one to tell
			return nil, s.failure(ctx, "read the journal", err)
		}
		entries = append(entries, entry)
		size += len(entry.Data)
	}
	err = rows.Err()
	if closing := rows.Close(); err == nil {
		err = closing
	}
	if err == nil {
		entries, err = s.wholeRequests(ctx, entries)
	}
	if err != nil {
		return nil, s.failure(ctx, "read the journal", err)
	}
	if query.Latest {
		slices.Reverse(entries)
	}
	return entries, nil
}

// wholeRequests puts requests to models together, as many as fit one answer.
func (s *RecordStore) wholeRequests(ctx context.Context, entries []Entry) ([]Entry, error) {
	r := requests{from: s.readers, rows: map[int64]requestRow{}}
	size := 0
	for i, entry := range entries {
		if entry.Kind == KindModelRequest {
			var err error
			if entries[i], err = r.whole(ctx, entry); err != nil {
				return nil, err
			}
		}
		if size += len(entries[i].Data); size > entriesBytes {
			return entries[:i+1], nil
		}
	}
	return entries, nil
}

const entryColumns = "seq, time, kind, session, turn, id, data"

func scanEntry(row scanner) (Entry, error) {
	var entry Entry
	var at int64
	err := row.Scan(&entry.Seq, &at, &entry.Kind, &entry.Session, &entry.Turn, &entry.ID, (*[]byte)(&entry.Data))
	entry.Time = instant(at)
	return entry, err
}

// statement is the query in SQL. Each kind is selected by itself through its
// index, already in order and cut to the limit, so that a rare kind is found
// without walking over the common ones. Names are those the session had.
func (q Query) statement(names []span) (string, []any) {
	order, limit := "seq", q.Limit
	if q.Latest {
		order = "seq DESC"
	}
	if limit <= 0 {
		limit = entriesDefault
	}
	where, args := []string{"seq > ?"}, []any{q.After}
	for _, column := range []struct{ name, value string }{{"turn", q.Turn}, {"id", q.ID}} {
		if column.value != "" {
			where, args = append(where, column.name+" = ?"), append(args, column.value)
		}
	}
	if len(names) > 0 {
		var had []string
		for _, n := range names {
			had = append(had, "session = ? AND seq > ? AND seq <= ?")
			args = append(args, n.name, n.from, n.until)
		}
		where = append(where, "("+strings.Join(had, " OR ")+")")
	}
	condition := strings.Join(where, " AND ")
	if len(q.Kinds) == 0 {
		return fmt.Sprintf("SELECT %s FROM journal WHERE %s ORDER BY %s LIMIT ?", entryColumns, condition, order), append(args, limit)
	}
	var parts []string
	var all []any
	for _, kind := range slices.Compact(slices.Sorted(slices.Values(q.Kinds))) {
		parts = append(parts, fmt.Sprintf("SELECT * FROM (SELECT %s FROM journal WHERE %s AND kind = ? ORDER BY %s LIMIT ?)", entryColumns, condition, order))
		all = append(append(all, args...), string(kind), limit)
	}
	return fmt.Sprintf("%s ORDER BY %s LIMIT ?", strings.Join(parts, " UNION ALL "), order), append(all, limit)
}
