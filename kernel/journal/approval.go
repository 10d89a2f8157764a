package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
)

// Approval is an action that waits, or waited, for a person.
type Approval struct {
	protocol.Approval
	Decision protocol.Decision // "" while it waits, and when its turn ended before a decision
	Comment  string            // the person's reason
	Edited   string            // the action to run instead
	Client   string            // the kind of client it was decided with
	Closed   time.Time         // zero while it waits
}

// decisionData is the data of a decision's row.
type decisionData struct {
	Decision protocol.Decision `json:"decision,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Edited   string            `json:"edited,omitempty"`
	Client   string            `json:"client,omitempty"`
}

// Ask records an approval that waits from now on. A known id is CodeConflict,
// a turn that does not exist or has ended CodeNotFound. Asked is set if empty.
func (j *Journal) Ask(ctx context.Context, approval protocol.Approval) error {
	if !protocol.ValidID(approval.ID) || approval.Hash == "" {
		return protocol.Errorf(protocol.CodeInvalidParams, "an approval needs an id and a hash, not %q and %q", approval.ID, approval.Hash)
	}
	return j.transact(ctx, "ask for an approval", func(ctx context.Context, tx *writer) error {
		var taken, running bool
		err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM approval WHERE id = ?), EXISTS (SELECT 1 FROM turn WHERE id = ? AND session = ? AND finished = 0)",
			approval.ID, approval.Turn, approval.Session).Scan(&taken, &running)
		switch {
		case err != nil:
			return fmt.Errorf("look for the approval %s: %w", approval.ID, err)
		case taken:
			return protocol.Errorf(protocol.CodeConflict, "the approval %s exists", approval.ID)
		case !running:
			return protocol.Errorf(protocol.CodeNotFound, "there is no running turn %q in the session %q", approval.Turn, approval.Session)
		}
		at := now()
		if approval.Asked == "" {
			approval.Asked = at.Format(time.RFC3339)
		}
		row, err := record(ctx, tx, Entry{Time: at, Kind: KindApproval, Session: approval.Session, Turn: approval.Turn, ID: approval.ID}, approval)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO approval (seq, id, session, turn, hash) VALUES (?, ?, ?, ?, ?)",
			row.Seq, approval.ID, approval.Session, approval.Turn, approval.Hash)
		return err
	})
}

const (
	approvalColumns    = "SELECT p.decision, p.comment, p.edited, p.client, p.closed, p.session, j.data FROM approval AS p "
	approvalQuery      = approvalColumns + "JOIN journal AS j ON j.seq = p.seq "
	pendingQuery       = approvalColumns + "INDEXED BY approval_pending JOIN journal AS j ON j.seq = p.seq WHERE p.closed = 0 ORDER BY p.seq"
	pendingOfTurnQuery = approvalQuery + "WHERE p.closed = 0 AND p.turn = ? ORDER BY p.seq"
)

// allowedQuery finds the widest decision first.
const allowedQuery = `SELECT decision FROM approval WHERE hash = ? AND edited = ''
	AND (decision = 'allow-always' OR decision = 'allow-session' AND session = ? OR decision = 'allow-turn' AND turn = ?)
	ORDER BY decision = 'allow-always' DESC, decision = 'allow-session' DESC LIMIT 1`

func scanApproval(row scanner) (Approval, error) {
	var approval Approval
	var closed int64
	var session string // by its present name
	var data []byte
	if err := row.Scan(&approval.Decision, &approval.Comment, &approval.Edited, &approval.Client, &closed, &session, &data); err != nil {
		return Approval{}, err
	}
	approval.Closed = instant(closed)
	if err := json.Unmarshal(data, &approval.Approval); err != nil {
		return Approval{}, fmt.Errorf("read an approval: %w", err)
	}
	approval.Session = session
	return approval, nil
}

// protocolApprovals returns the approvals as clients are shown them.
func protocolApprovals(approvals []Approval) []protocol.Approval {
	var list []protocol.Approval
	for _, approval := range approvals {
		list = append(list, approval.Approval)
	}
	return list
}

// Approval returns the approval id, open or closed, or CodeNotFound.
func (j *Journal) Approval(ctx context.Context, id string) (Approval, error) {
	approval, err := scanApproval(j.readers.QueryRowContext(ctx, approvalQuery+"WHERE p.id = ?", id))
	return approval, j.failure(ctx, "read an approval", notFound(err, "approval", id))
}

// Pending returns the approvals that wait, oldest first.
func (j *Journal) Pending(ctx context.Context) ([]protocol.Approval, error) {
	approvals, err := collect(ctx, j.readers, scanApproval, pendingQuery)
	return protocolApprovals(approvals), j.failure(ctx, "list the approvals", err)
}

// Decide closes an approval with a person's decision, made with that kind of client. Only
// one decision is taken: CodeConflict when the approval is closed, CodeNotFound when there is
// none. An edited action can only be allowed once, or denied:
// CodeInvalidParams else.
func (j *Journal) Decide(ctx context.Context, decided protocol.ApprovalDecideParams, client string) (protocol.Approval, error) {
	id := decided.ID
	switch decided.Decision {
	case protocol.AllowOnce, protocol.Deny:
	case protocol.AllowTurn, protocol.AllowSession, protocol.AllowAlways:
		if decided.Edited != "" {
			return protocol.Approval{}, protocol.Errorf(protocol.CodeInvalidParams, "an edited action can only be allowed once")
		}
	default:
		return protocol.Approval{}, protocol.Errorf(protocol.CodeInvalidParams,
			"%q is not a decision: use allow-once, allow-turn, allow-session, allow-always or deny", decided.Decision)
	}
	var approval Approval
	err := j.transact(ctx, "decide an approval", func(ctx context.Context, tx *writer) (err error) {
		approval, err = scanApproval(tx.QueryRowContext(ctx, approvalQuery+"WHERE p.id = ?", id))
		switch {
		case err != nil:
			return notFound(err, "approval", id)
		case approval.Decision != "":
			return protocol.Errorf(protocol.CodeConflict, "the approval %s is decided already: %s", id, approval.Decision)
		case !approval.Closed.IsZero():
			return protocol.Errorf(protocol.CodeConflict, "the approval %s is closed: its turn has ended", id)
		}
		return closeApproval(ctx, tx, approval, decisionData{decided.Decision, decided.Reason, decided.Edited, client})
	})
	if err != nil {
		return protocol.Approval{}, err
	}
	return approval.Approval, nil
}

func closeApproval(ctx context.Context, tx *writer, approval Approval, data decisionData) error {
	row, err := record(ctx, tx, Entry{Kind: KindDecision, Session: approval.Session, Turn: approval.Turn, ID: approval.ID}, data)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE approval SET decision = ?, comment = ?, edited = ?, client = ?, closed = ? WHERE id = ?",
		string(data.Decision), data.Reason, data.Edited, data.Client, micros(row.Time), approval.ID)
	return err
}

// CloseApprovals closes what waits for a turn that ends, without a decision,
// and returns it, oldest first.
func (j *Journal) CloseApprovals(ctx context.Context, turn string) ([]protocol.Approval, error) {
	open, err := collect(ctx, j.readers, scanApproval, pendingOfTurnQuery, turn)
	if err != nil || len(open) == 0 { // as in most turns: nothing is to be written
		return nil, j.failure(ctx, "close the approvals of a turn", err)
	}
	err = j.transact(ctx, "close the approvals of a turn", func(ctx context.Context, tx *writer) (err error) {
		open, err = closeApprovals(ctx, tx, turn)
		return err
	})
	if err != nil {
		return nil, err
	}
	return protocolApprovals(open), nil
}

func closeApprovals(ctx context.Context, tx *writer, turn string) ([]Approval, error) {
	open, err := collect(ctx, tx, scanApproval, pendingOfTurnQuery, turn)
	if err != nil {
		return nil, err
	}
	for _, approval := range open {
		if err := closeApproval(ctx, tx, approval, decisionData{}); err != nil {
			return nil, err
		}
	}
	return open, nil
}

// Allowed reports whether a person has allowed an action with this hash for
// this turn, for this session or always, and returns the widest such decision.
// One that was allowed once does not count.
func (j *Journal) Allowed(ctx context.Context, hash, turn, session string) (protocol.Decision, bool, error) {
	var decision protocol.Decision
	err := j.readers.QueryRowContext(ctx, allowedQuery, hash, session, turn).Scan(&decision)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return decision, decision != "", j.failure(ctx, "look for an approval", err)
}
