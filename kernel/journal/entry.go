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

// Kind is the kind of a row. It determines the shape of the data. The journal itself writes the
// kinds event, context, turn, act, receipt, approval, decision, question, answer, rename, fork,
// usage, preference, session-model, session-preset, steer, spawn, spawn-change, lease, lease-change, inbox, consent,
// queued-event and digest, together
// with the state that they change. The callers of [RecordStore.Append] and
// [RecordStore.AppendDeferred] write the other kinds and decide their shape.
type Kind string

const (
	KindEvent          Kind = "event"           // the report of a sensor or client: read it with [Entry.Event]
	KindChoice         Kind = "choice"          // the skill that answers, and why: a [Choice]
	KindContext        Kind = "context"         // {"items"}: the context items of an event, with content; ID is the event's
	KindModelRequest   Kind = "model-request"   // a request to a model
	KindModelReply     Kind = "model-reply"     // the reply of a model, whole
	KindProposal       Kind = "proposal"        // the action read from a reply, and the steps that read it
	KindVerdict        Kind = "verdict"         // the decision of the skill and the policy about a proposal
	KindAct            Kind = "act"             // an [Act], before it is performed
	KindReceipt        Kind = "receipt"         // a [Receipt]; ID is the act's, or that of the event whose question was saved
	KindApproval       Kind = "approval"        // a [protocol.Ask] for an approval, as it began to wait
	KindDecision       Kind = "decision"        // {"decision","reason","edited","client"}; no decision: its turn ended
	KindQuestion       Kind = "question"        // a [protocol.Ask] with a question, as it began to wait
	KindAnswer         Kind = "answer"          // a [protocol.AskOutcome]: the answer to a question; read it with [ReadOutcome]
	KindRename         Kind = "rename"          // a [Renaming]; Session is the new name
	KindFork           Kind = "fork"            // {"parent","at","turns"}; Session is the fork, ID the heading at which it was forked
	KindTurn           Kind = "turn"            // {"state","attempt","skill","model","notice","input","output","cost","wanted","settings"}: the new state of the turn
	KindUsage          Kind = "usage"           // a [ReplyUsage]: the usage of one reply of a model
	KindPreference     Kind = "preference"      // ID is the answer that a person prefers; {"not"} withdraws the preference
	KindSessionModel   Kind = "session-model"   // {"model"}: the model that answers in the session from then on
	KindPreset         Kind = "session-preset"  // {"preset"}: the preset of the session from then on
	KindSteer          Kind = "steer"           // {"text","payload"}: a message that a person sent to the running turn, and the payload of its event
	KindShownQuestion  Kind = "asked"           // {"text"}: the question as the model received it; ID is the id of the answer that was expected
	KindToolStep       Kind = "round"           // a [ToolStep] before the answer ID
	KindCompaction     Kind = "digest"          // a [Compaction]: how models receive the beginning of the session from then on
	KindUndo           Kind = "undo"            // a person undid the changes of the act ID
	KindMemory         Kind = "memory"          // a change of the memory: {"operation","path","record","before","after","undoes"}
	KindRecall         Kind = "recall"          // {"items"}: the memories that a turn received
	KindFormation      Kind = "formation"       // {"turn",…}: the last turn of a conversation from which memories were extracted
	KindMemoryProposal Kind = "memory-proposal" // a change of the memory that waits for a person's decision
	KindMemoryDecision Kind = "memory-decision" // {"accepted"}: a person's decision about a proposal; ID is the proposal's
	KindSubagent       Kind = "spawn"           // a [Subagent]; ID is that of the event with its task
	KindSubagentChange Kind = "spawn-change"    // {"cancelled"}; or {"reported"}: the subagents whose end the event ID reports
	KindLease          Kind = "lease"           // a [Lease], as a task began for a planned time; ID is that of its event
	KindLeaseChange    Kind = "lease-change"    // {"state","note","settled"}: what became of the task; ID is the event's
	KindInbox          Kind = "inbox"           // {"kind","title"}: what is kept for the owner; ID is the item's
	KindQueuedEvent    Kind = "queued-event"    // {"sensor","text","fields"}: an event that waits for a heartbeat; ID is the event's
	KindConsent        Kind = "consent"         // a [Consent]: a task outside of tasks.org was armed, or is not any more; ID is the task's
	KindChatMessage    Kind = "chat-message"    // {"channel","chat","id","sender","name"}: a message in a chat; ID is the question that it became, or the act
	KindOutgoing       Kind = "outgoing"        // {"id","channel","chat"}: a message that is to be sent; ID is the act's
	KindOutgoingChange Kind = "outgoing-change" // {"id","state","sent","failure"}: what became of it
	KindTaskTag        Kind = "task-tag"        // ID is a tag by which headings of the person's files are tasks, from then on
	KindAudit          Kind = "audit"           // {"option","version","pid"}: the kernel was started with an option that removes a safeguard
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

// Audit records that a kernel was started with an option that removes a safeguard.
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

// Append writes one row and returns it with its Seq. A missing Time is the present, missing Data is
// {}. Data that is not JSON is refused with CodeInvalidParams, data longer than [dataLimit] with
// CodeTooLarge.
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

// check returns an error for an invalid row from a caller.
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

// insert writes a row whose data is valid.
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

// encode returns the value as JSON for people: < > & are not escaped.
func encode(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Query selects the rows that match every field that is set.
type Query struct {
	Session string // also under its former names
	Turn    string
	ID      string
	Kinds   []Kind // any of these
	After   int64  // only rows with a greater Seq
	Limit   int    // the largest number of rows; 1,000 if 0
	Latest  bool   // the last of these rows instead of the first
}

const (
	entriesDefault = 1000
	entriesBytes   = 16 << 20 // of data, in one answer
)

// RecordStore holds the rows of the journal itself, of every kind, numbered in the order in which
// they were committed. The other stores have tables in addition to the rows, and write both in one
// transaction.
type RecordStore struct{ *database }

// Entries returns the rows that a query selects, oldest first, with whole requests to models, and with what is
// in the archive; in place of what that does not have, the data is a [Stub]. After
// at least one row it stops early when the data exceeds 16 MiB. To read all rows, call it again
// with After set to the last Seq until it returns none.
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
			_ = rows.Close() // the first error is returned
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

// wholeRequests reads what is in the archive and assembles requests to models, as many as fit into one result.
func (s *RecordStore) wholeRequests(ctx context.Context, entries []Entry) ([]Entry, error) {
	r := requests{from: s.readers, archive: s.archive, rows: map[int64]requestRow{}}
	size := 0
	for i := range entries {
		entry, err := entries[i], error(nil)
		switch entry.Kind {
		case KindModelRequest, KindModelReply, KindProposal:
			if entry.Data, err = s.archive.restored(ctx, entry.Seq, entry.Data); err != nil {
				return nil, err
			}
			entries[i] = entry
		}
		if entry.Kind == KindModelRequest {
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

// statement returns the query as SQL. Each kind is selected by itself through its index, already in
// order and cut to the limit, so that a rare kind is found without reading the frequent ones. names
// are the names that the session had.
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
