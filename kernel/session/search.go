package session

import (
	"context"
	"strings"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Search finds messages and answers by their text.
func (h *Sessions) Search(ctx context.Context, p protocol.SessionSearchParams) (protocol.SessionSearchResult, error) {
	p = takeBounds(p)
	search := journal.Search{Query: p.Query, Session: p.Session, Before: p.Before, Limit: p.Limit}
	var err error
	if search.Since, err = searchTime("since", p.Since); err != nil {
		return protocol.SessionSearchResult{}, err
	}
	if search.Until, err = searchTime("until", p.Until); err != nil {
		return protocol.SessionSearchResult{}, err
	}
	found, err := h.config.Journal.Search.Find(ctx, search)
	result := protocol.SessionSearchResult{More: found.More, Before: found.Before}
	if found.Before > 0 {
		result.Reached = found.Reached.Format(time.RFC3339)
	}
	for _, hit := range found.Hits {
		result.Hits = append(result.Hits, searchHit(hit))
	}
	return result, err
}

// takeBounds moves since:DAY and until:DAY from the query to the bounds. A since:WORD that is no day
// stays in the query.
func takeBounds(p protocol.SessionSearchParams) protocol.SessionSearchParams {
	var words []string
	for _, word := range strings.Fields(p.Query) {
		name, value, _ := strings.Cut(word, ":")
		_, err := searchTime(name, value)
		switch {
		case name == "since" && value != "" && err == nil:
			p.Since = value
		case name == "until" && value != "" && err == nil:
			p.Until = value
		default:
			words = append(words, word)
		}
	}
	p.Query = strings.Join(words, " ")
	return p
}

// searchTime parses a bound: a time, or a day, which begins at midnight in the local time zone.
func searchTime(name, value string) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, value, time.Local); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.RFC3339, value)
	if err != nil {
		return t, protocol.Errorf(protocol.CodeInvalidParams, "%q is no time for %s: write 2026-11-22 or 2026-11-22T10:00:00Z", value, name)
	}
	return t, nil
}

func searchHit(hit journal.Hit) protocol.SearchHit {
	found := protocol.SearchHit{
		Session: hit.Session, Turn: hit.Turn, Event: hit.Event, ID: hit.ID, Role: protocol.RoleUser,
		Time: hit.Time.Format(time.RFC3339), Snippet: hit.Snippet,
	}
	if hit.Answer {
		found.Role = protocol.RoleAgent
	}
	for _, p := range hit.Places {
		found.Matches = append(found.Matches, protocol.SearchMatch(p))
	}
	return found
}
