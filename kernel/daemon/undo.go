package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/journal"
	"org-agent/kernel/plist"
	"org-agent/kernel/presentation"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// changesBytes is how many bytes of texts one answer has, before its last change.
const changesBytes = 1 << 20

// turnChanges tells what a turn changed in texts, from the journal: what takes a change back
// is in its act and its receipt. Whether it still stands, the text itself says.
func (d *daemon) turnChanges(ctx context.Context, _ *rpc.Client, p *protocol.TurnChangesParams) (protocol.TurnChangesResult, error) {
	named, err := d.journal.Resolve(ctx, p.ID)
	if err != nil {
		return protocol.TurnChangesResult{}, err
	}
	turn, err := d.journal.Turn(ctx, named.Turn)
	if err != nil {
		return protocol.TurnChangesResult{}, err
	}
	acts, err := d.journal.ActsOf(ctx, turn.ID)
	if err != nil {
		return protocol.TurnChangesResult{}, err
	}
	done, err := d.whatWasDone(ctx, turn.ID)
	if err != nil {
		return protocol.TurnChangesResult{}, err
	}
	result := protocol.TurnChangesResult{Turn: turn.ID, Event: turn.Event, Session: turn.Session, State: turn.State}
	number, size := 0, 0
	for _, a := range acts {
		deed, known := done[a.ID]
		if a.Kind != journal.ActAction || deed.failed {
			continue
		}
		changes, stays, err := d.changesOf(a, deed, known)
		if err != nil {
			return protocol.TurnChangesResult{}, fmt.Errorf("read the act %s: %w", a.ID, err)
		}
		result.Stays = append(result.Stays, stays...)
		for _, change := range changes {
			switch {
			case result.Next > 0:
			case size > changesBytes:
				result.Next = number
			default:
				if number++; number > p.From {
					result.Changes = append(result.Changes, change)
					size += len(change.Old) + len(change.New)
				}
			}
		}
	}
	return result, nil
}

// deed is what became of an act.
type deed struct {
	receipt journal.Receipt
	made    bool
	failed  bool // it is known that nothing was done
	undone  time.Time
}

// undoneAt is when it was taken back, "" if it was not.
func (d deed) undoneAt() string {
	if d.undone.IsZero() {
		return ""
	}
	return d.undone.UTC().Format(time.RFC3339)
}

// whatWasDone reads what became of a turn's acts.
func (d *daemon) whatWasDone(ctx context.Context, turn string) (map[string]deed, error) {
	done := map[string]deed{}
	query := journal.Query{Turn: turn, Kinds: []journal.Kind{journal.KindReceipt, journal.KindUndo}}
	for {
		rows, err := d.journal.Entries(ctx, query)
		if err != nil || len(rows) == 0 {
			return done, err
		}
		for _, row := range rows {
			of := done[row.ID]
			var receipt journal.Receipt
			if row.Kind == journal.KindUndo {
				of.undone = row.Time
			} else if err := json.Unmarshal(row.Data, &receipt); err != nil {
				return nil, fmt.Errorf("read a receipt: %w", err)
			} else if receipt.Failure == "" {
				of.receipt, of.made, of.failed = receipt, true, false
			} else if !of.made {
				of.failed = !receipt.Unknown
			}
			done[row.ID] = of
			query.After = row.Seq
		}
	}
}

// changesOf is an act as changes of texts; what cannot be taken back stays, in lines. An act
// that changed nothing has neither.
func (d *daemon) changesOf(a journal.Act, done deed, known bool) ([]protocol.Change, []string, error) {
	read, err := plist.Read(a.Action)
	if err != nil {
		return nil, nil, err
	}
	action, _ := read.(sexp.List)
	payload, _ := plist.Get(action, "payload")
	fields, _ := payload.(sexp.List)
	target, _ := plist.KeywordValue(action, "target")
	name, _ := plist.KeywordValue(fields, "action")
	text := func(key string) string { s, _ := plist.Text(fields, key); return s }
	change := protocol.Change{
		Act: a.ID, Action: protocol.Keyword(name), Entry: text("id"), File: text("file"), Old: text("old"), New: text("new"),
		Unsure: !known || !done.made,
	}
	if change.Entry == "" {
		change.Entry, _ = plist.Text(action, "id")
	}
	switch {
	case target == "emacs" && name == "edit":
	case target == "emacs" && name == "set-properties":
		change.Properties = settings(fields)
	case d.onlyShows(string(target), string(name), fields):
		return nil, nil, nil
	case len(done.receipt.Files) > 0:
		changes, stays := filesChanged(change, done)
		return changes, stays, nil
	default:
		return nil, []string{presentation.Of(action, presentation.World{Home: d.paths.Home}).Summary}, nil
	}
	if done.receipt.File != "" {
		change.File = done.receipt.File
	}
	change.Before, change.After, change.Former = done.receipt.Before, done.receipt.After, done.receipt.Former
	change.Undone = done.undoneAt()
	return []protocol.Change{change}, nil, nil
}

// filesChanged are the changes that tools made in files for one act.
func filesChanged(act protocol.Change, done deed) (changes []protocol.Change, stays []string) {
	for _, f := range done.receipt.Files {
		if f.Opaque {
			stays = append(stays, "The change of "+f.File+", which is no text or too long to be kept")
			continue
		}
		changes = append(changes, protocol.Change{
			Act: act.Act, Action: "edit", File: f.File, Old: f.Old, New: f.New, Before: f.Before, After: f.After,
			Created: f.Created, Undone: done.undoneAt(),
		})
	}
	return changes, stays
}

// onlyShows reports whether an action leaves nothing behind.
func (d *daemon) onlyShows(target, name string, fields sexp.List) bool {
	switch {
	case target == "" || target == "emacs" && (name == "message" || name == "open"):
		return true
	case target != "tool":
		return false
	case name == "batch": // of tools that only read
		return true
	}
	tool, isText := plist.Text(fields, "tool")
	if !isText {
		word, _ := plist.KeywordValue(fields, "tool")
		tool = string(word)
	}
	_, effect, _ := d.tools.Find(tool)
	return effect == protocol.ToolReads || effect == protocol.ToolAsks
}

// settings are the pairs of :properties, which the policy wrote.
func settings(fields sexp.List) []protocol.Setting {
	value, _ := plist.Get(fields, "properties")
	pairs, _ := value.(sexp.List)
	var list []protocol.Setting
	for _, item := range pairs {
		pair, _ := item.(sexp.List)
		if len(pair) != 2 {
			continue
		}
		name, _ := pair[0].(plist.String)
		value, _ := pair[1].(plist.String)
		list = append(list, protocol.Setting{Name: string(name), Value: string(value)})
	}
	return list
}

// turnUndone records which acts of a turn a person took back.
func (d *daemon) turnUndone(ctx context.Context, _ *rpc.Client, p *protocol.TurnUndoneParams) (protocol.Empty, error) {
	turn, err := d.journal.Turn(ctx, p.Turn)
	if err != nil {
		return protocol.Empty{}, err
	}
	for _, id := range p.Acts {
		a, err := d.journal.Act(ctx, id)
		if err != nil {
			return protocol.Empty{}, err
		}
		if a.Turn != turn.ID {
			return protocol.Empty{}, protocol.Errorf(protocol.CodeInvalidParams, "the act %s is not of the turn %s", id, turn.ID)
		}
		if _, err := d.journal.Append(ctx, journal.Entry{Kind: journal.KindUndo, Session: turn.Session, Turn: turn.ID, ID: id}); err != nil {
			return protocol.Empty{}, err
		}
	}
	return protocol.Empty{}, nil
}
