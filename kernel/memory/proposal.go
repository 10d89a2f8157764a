package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/journal"
)

// Proposal is a proposed change of the memory. It is made only after a person accepts it.
type Proposal struct {
	ID        string    `json:"-"`
	Operation Operation `json:"operation"`
	Record    string    `json:"record,omitempty"` // the ID of the record to change or forget
	Title     string    `json:"title"`
	Text      string    `json:"text,omitempty"`
	Tags      []string  `json:"tags,omitempty"`
	Scope     string    `json:"scope,omitempty"`
	Lasting   bool      `json:"lasting,omitempty"`
	Path      string    `json:"path,omitempty"`   // of the record
	Before    string    `json:"before,omitempty"` // the record as it was then
	Session   string    `json:"-"`
	Turn      string    `json:"-"` // the turn in which it was made
	Event     string    `json:"event,omitempty"`
	Time      time.Time `json:"-"`
}

// decision is a person's decision about a proposal.
type decision struct {
	Accepted string `json:"accepted,omitempty"` // the change that was made; "" if it was dropped
}

// ErrDecided is the error for a decision about a proposal that does not wait any more, or never
// did.
var ErrDecided = errors.New("nothing is proposed under that id: it was accepted or dropped, or never there")

// maximumProposals is the maximum number of waiting proposals. Further ones are refused.
const maximumProposals = 100

// ErrEnough is the error for a proposal when too many wait.
var ErrEnough = fmt.Errorf("%d proposals wait already: accept or drop some", maximumProposals)

// record returns the record that accepting would store.
func (p Proposal) record() Record {
	return Record{ID: p.Record, Title: p.Title, Text: p.Text, Tags: p.Tags, Scope: p.Scope, Source: p.Session + "#" + p.Event}
}

// Propose makes a proposal wait for a person, and reports whether it does. It does not if an equal
// one waits already, or if the memory has the same record.
func (s *Store) Propose(ctx context.Context, p Proposal) (bool, error) {
	switch p.Operation {
	case Saved:
		r, err := s.Clean(p.record())
		if err != nil {
			return false, err
		}
		if known, _, err := s.Equal(r); err != nil || known.ID != "" {
			return false, err
		}
		p.Title, p.Text, p.Tags = r.Title, r.Text, r.Tags
	case Updated, Forgotten:
		was, path, err := s.Record(p.Record)
		switch {
		case err != nil:
			return false, err
		case !was.Own:
			return false, ErrNotOwn
		}
		if p.Operation == Forgotten {
			p.Title, p.Text, p.Tags = was.Title, was.Text, was.Tags
		} else if p, err = s.complete(p, was); err != nil {
			return false, err
		}
		p.Path, p.Before, p.Scope = path, was.String(), was.Scope
	default:
		return false, fmt.Errorf("there is no operation %q", p.Operation)
	}
	waiting, err := s.Proposals(ctx)
	if err != nil {
		return false, err
	}
	if len(waiting) >= maximumProposals {
		return false, ErrEnough
	}
	for _, w := range waiting {
		if w.Operation == p.Operation && w.Record == p.Record && (p.Record != "" || w.Title == p.Title && w.Text == p.Text && w.Scope == p.Scope) {
			return false, nil
		}
	}
	data, err := json.Marshal(p)
	if err != nil {
		return false, fmt.Errorf("write a proposal: %w", err)
	}
	_, err = s.Journal.Append(ctx, journal.Entry{Kind: journal.KindMemoryProposal, Session: p.Session, Turn: p.Turn, ID: s.NewID(), Data: data})
	return err == nil, err
}

// complete returns the proposal with the fields it leaves out taken from the record.
func (s *Store) complete(p Proposal, was Record) (Proposal, error) {
	r, err := s.Clean(was.Changed(p.Title, p.Text, p.Tags))
	if err == nil && r.Title == was.Title && r.Text == strings.TrimSpace(was.Text) && slices.Equal(r.Tags, was.Tags) {
		err = errors.New("it changes nothing")
	}
	p.Title, p.Text, p.Tags = r.Title, r.Text, r.Tags
	return p, err
}

// Proposals returns the proposals that wait for a person, the oldest first.
func (s *Store) Proposals(ctx context.Context) ([]Proposal, error) {
	entries, err := s.Journal.Entries(ctx, journal.Query{Kinds: []journal.Kind{journal.KindMemoryProposal, journal.KindMemoryDecision}, Latest: true, Limit: 1000})
	if err != nil {
		return nil, err
	}
	var waiting []Proposal
	for _, e := range entries {
		if e.Kind == journal.KindMemoryDecision {
			waiting = slices.DeleteFunc(waiting, func(p Proposal) bool { return p.ID == e.ID })
			continue
		}
		p := Proposal{ID: e.ID, Session: e.Session, Turn: e.Turn, Time: e.Time}
		if err := json.Unmarshal(e.Data, &p); err != nil {
			return nil, fmt.Errorf("read the proposal %s: %w", e.ID, err)
		}
		waiting = append(waiting, p)
	}
	return waiting, nil
}

// proposal returns a proposal that waits.
func (s *Store) proposal(ctx context.Context, id string) (Proposal, error) {
	waiting, err := s.Proposals(ctx)
	if err != nil {
		return Proposal{}, err
	}
	for _, p := range waiting {
		if p.ID == id && id != "" {
			return p, nil
		}
	}
	return Proposal{}, ErrDecided
}

// Accept makes the proposed change. If edited is not nil, its title, text and tags replace those of
// the proposal. A change that cannot be made any more stays proposed.
func (s *Store) Accept(ctx context.Context, id string, edited *Record) (Change, error) {
	s.deciding.Lock()
	defer s.deciding.Unlock()
	p, err := s.proposal(ctx, id)
	if err != nil {
		return Change{}, err
	}
	r := p.record()
	if edited != nil {
		r.Title, r.Text, r.Tags = edited.Title, edited.Text, edited.Tags
	}
	var c Change
	switch p.Operation {
	case Saved:
		var known Record
		var path string
		if known, path, err = s.Equal(r); err == nil && known.ID == "" {
			_, c, err = s.Save(ctx, p.Turn, r, p.Lasting)
		} else { // the change was made before, and the program died then
			c = Change{ID: known.ID, Operation: Saved, Path: path, Record: known.ID, After: known.String()}
		}
	case Updated:
		var was Record
		if was, _, err = s.Record(p.Record); err == nil {
			if edited == nil && was.String() != p.Before {
				return c, errors.New("it was changed since this was proposed: edit the proposal, or drop it")
			}
			r.Scope, r.Source = was.Scope, was.Source
			c, err = s.Update(ctx, p.Turn, r)
		}
	case Forgotten:
		if c, err = s.Forget(ctx, p.Turn, p.Record); errors.Is(err, ErrNotFound) {
			err = nil // it was dropped already
		}
	}
	if err != nil {
		return c, err
	}
	return c, s.decide(ctx, p, decision{Accepted: c.ID})
}

// Drop deletes a proposal.
func (s *Store) Drop(ctx context.Context, id string) (Proposal, error) {
	s.deciding.Lock()
	defer s.deciding.Unlock()
	p, err := s.proposal(ctx, id)
	if err != nil {
		return p, err
	}
	return p, s.decide(ctx, p, decision{})
}

func (s *Store) decide(ctx context.Context, p Proposal, d decision) error {
	data, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("write a decision: %w", err)
	}
	_, err = s.Journal.Append(ctx, journal.Entry{Kind: journal.KindMemoryDecision, Session: p.Session, Turn: p.Turn, ID: p.ID, Data: data})
	return err
}
