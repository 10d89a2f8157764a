package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"org-agent/kernel/protocol"
)

// Past is the history of all conversations. With the zero value no tool that searches it is
// offered.
type Past struct {
	Sessions func(context.Context) (protocol.SessionListResult, error)
	Search   func(context.Context, protocol.SessionSearchParams) (protocol.SessionSearchResult, error)
	// Now is the person's clock, for days and dates. nil: the machine's clock.
	Now func() time.Time
}

func (p Past) there() bool { return p.Sessions != nil && p.Search != nil }

func (p Past) now() time.Time {
	if p.Now == nil {
		return time.Now()
	}
	return p.Now()
}

// at returns a time of the wire in the person's zone.
func (p Past) at(wire string) string {
	t, err := time.Parse(time.RFC3339, wire)
	if err != nil {
		return wire
	}
	return t.In(p.now().Location()).Format("2006-01-02 15:04")
}

// pastDays is how many days are searched by default. The answer says so.
const pastDays = 7

// The limits of one answer.
const (
	pastHits     = 10
	pastHitsMost = 50
)

// errForeign refuses to search other conversations where others take part.
var errForeign = errors.New("others listen here, so only what was said in this conversation can be looked at")

// within returns the only session that may be searched in the conversation, or "" for all. Where
// others take part it is the conversation itself.
func (c Conversation) within(session string) (string, error) {
	if c.Alone {
		return session, nil
	}
	if session != "" && session != c.Session {
		return "", errForeign
	}
	return c.Session, nil
}

// sinceOf reads the beginning of the time that is searched, and describes it for the answer.
func sinceOf(since string, now time.Time) (from time.Time, words string, err error) {
	switch since {
	case "":
		from = now.AddDate(0, 0, -pastDays)
		year, month, day := from.Date()
		from = time.Date(year, month, day, 0, 0, 0, 0, now.Location())
		return from, fmt.Sprintf(":since %q, which is %d days if nothing is given", from.Format(time.DateOnly), pastDays), nil
	case "all":
		return time.Time{}, `:since "all"`, nil
	}
	from, err = time.ParseInLocation(time.DateOnly, since, now.Location())
	if err != nil {
		return from, "", fmt.Errorf("%q is not a day as 2026-11-22, nor \"all\"", since)
	}
	return from, fmt.Sprintf(":since %q", since), nil
}

// boundsOf removes since:DAY and until:DAY from a query, so that the answer can say which time was
// searched.
func boundsOf(query string) (rest, since, until string) {
	var words []string
	for _, word := range strings.Fields(query) {
		name, value, _ := strings.Cut(word, ":")
		value = value[:min(len(value), len(time.DateOnly))] // the day of a moment
		_, err := time.Parse(time.DateOnly, value)
		switch {
		case name == "since" && err == nil:
			since = value
		case name == "until" && err == nil:
			until = value
		default:
			words = append(words, word)
		}
	}
	return strings.Join(words, " "), since, until
}

// bounded returns how many are shown if that many are wanted.
func bounded(limit int) int {
	if limit <= 0 {
		return pastHits
	}
	return min(limit, pastHitsMost)
}
