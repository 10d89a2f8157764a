package journal_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// backToFormerUsage makes the table of usage that of the schemas before 19.
const backToFormerUsage = "ALTER TABLE usage DROP COLUMN cached; ALTER TABLE usage DROP COLUMN first; ALTER TABLE usage DROP COLUMN streamed; ALTER TABLE usage DROP COLUMN writing"

// backToFormerTasks takes the tables of tasks, of the inbox and of chats away, which are new in schemas 20 to 22.
const backToFormerTasks = "DROP TABLE channel_state; DROP TABLE outgoing; DROP TABLE chat_message; DROP TABLE chat; DROP TABLE inbox; DROP TABLE queued_event; DROP TABLE lease; DROP TABLE armed"

// backToFourthSchema makes a journal one of schema 4, with an index as that had.
func backToFourthSchema(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", journal.DataSource(path))
	must(t, err)
	for _, statement := range []string{
		"ALTER TABLE turn DROP COLUMN stamp", "ALTER TABLE turn DROP COLUMN settings", "ALTER TABLE turn DROP COLUMN parent", "ALTER TABLE session DROP COLUMN preset",
		backToFormerAsks, backToFormerUsage, backToFormerTasks, "DROP TABLE spawn", "DROP TABLE digest", "DROP TABLE correction", "DROP TABLE completion", "DROP TABLE search", "DROP TABLE indexing",
		`CREATE VIRTUAL TABLE search USING fts5(words, place,
			content = '', prefix = '1 2 3', tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* Co'")`,
		"INSERT INTO search (rowid, words, place) SELECT seq, id || ' former ' || seq, 's1' FROM journal WHERE kind IN ('event', 'act')",
		"PRAGMA user_version = 4",
	} {
		_, err := db.Exec(statement)
		must(t, err)
	}
	must(t, db.Close())
}

// talk is what a test says, and what it knows of it.
type talk struct {
	t        *testing.T
	j        *journal.Journal
	from     *rand.Rand
	sessions []string
	said     map[string]spoken
	count    int
}

type spoken struct {
	session, text string
	copied        bool
}

var talkWords = strings.Fields("road roads roadside samarkand silk tea the to a b c")

func (k *talk) text() string {
	words := make([]string, 1+k.from.IntN(40))
	for i := range words {
		words[i] = talkWords[k.from.IntN(len(talkWords))]
	}
	return strings.Join(words, " ")
}

// say is a question with an answer in some session.
func (k *talk) say() {
	k.count++
	id, session := fmt.Sprint("q", k.count), k.sessions[k.from.IntN(len(k.sessions))]
	question, answer := k.text(), k.text()
	answered(k.t, k.j, accepted(k.t, k.j, id, session, question), "a"+id, answer)
	k.said[id], k.said["a"+id] = spoken{session, question, false}, spoken{session, answer, false}
}

// rename gives a session another name.
func (k *talk) rename() {
	k.count++
	i, name := k.from.IntN(len(k.sessions)), fmt.Sprint("named ", k.count)
	former := k.sessions[i]
	_, err := k.j.Sessions.Rename(k.t.Context(), former, name)
	must(k.t, err)
	k.sessions[i] = name
	for id, s := range k.said {
		if s.session == former {
			s.session = name
			k.said[id] = s
		}
	}
}

// fork copies a question into a new session.
func (k *talk) fork() {
	var questions []string
	for id, s := range k.said {
		if id[0] == 'q' && !s.copied && len(id) < 8 {
			questions = append(questions, id)
		}
	}
	slices.Sort(questions)
	k.count++
	event, session := questions[k.from.IntN(len(questions))], fmt.Sprint("fork ", k.count)
	c := copyOf(k.t, k.j, event)
	c.ID, c.Event, c.Question.ID = fmt.Sprint("t-copy", k.count), fmt.Sprint("copy", k.count), fmt.Sprint("copy", k.count)
	must(k.t, k.j.Sessions.Fork(k.t.Context(), journal.Fork{Session: session, Parent: k.said[event].session, At: event, Copies: []journal.Copy{{Turn: c, Origin: "turn-" + event}}}))
	k.said[c.Event] = spoken{session, k.said[event].text, true}
	k.sessions = append(k.sessions, session)
}

// scan is what a search for these phrases must find: each is words in a row, or with a star
// the beginning of one.
func (k *talk) scan(phrases []string, session string) (ids []string) {
	for id, s := range k.said {
		has := session == "" && !s.copied || session == s.session
		for _, p := range phrases {
			text, part := " "+s.text+" ", " "+p+" "
			if beginning, ok := strings.CutSuffix(p, "*"); ok {
				part = " " + beginning
			}
			has = has && strings.Contains(text, part)
		}
		if has {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// compare looks for some words in every way, and fails if what is found is not what was said.
func (k *talk) compare(state string) {
	k.t.Helper()
	for _, phrases := range [][]string{
		{"samarkand"}, {"road"}, {"roads*"}, {"silk tea"}, {"the road to"}, {"a b", "tea"}, {"never"}, {"former"}, {"silk", "samarkand", "c"},
	} {
		var query []string
		for _, p := range phrases {
			if strings.Contains(p, " ") {
				p = `"` + p + `"`
			}
			query = append(query, p)
		}
		for _, session := range []string{"", k.sessions[k.from.IntN(len(k.sessions))]} {
			budget := []time.Duration{0, 300 * time.Microsecond, time.Hour}[k.from.IntN(3)]
			got, _ := pages(k.t, k.j, journal.Search{Query: strings.Join(query, " "), Session: session}, budget)
			slices.Sort(got)
			if want := k.scan(phrases, session); !slices.Equal(got, want) {
				k.t.Fatalf("%s: %q in %q, in pages of %v, finds %d: %v\nwant %d: %v", state, query, session, budget, len(got), got, len(want), want)
			}
		}
	}
}

// oldTalk is a journal of schema 4 with a talk in it.
func oldTalk(t *testing.T, turns int) (*talk, string) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := journal.Open(t.Context(), path)
	must(t, err)
	k := &talk{t: t, j: j, from: rand.New(rand.NewPCG(1, uint64(turns))), sessions: []string{"main", "other one"}, said: map[string]spoken{}}
	for n := range turns {
		k.say()
		if n == turns/2 {
			k.fork()
			k.rename()
		}
	}
	must(t, j.Close())
	backToFourthSchema(t, path)
	k.j = reopen(t, path)
	return k, path
}

// indexForEver indexes, and says so after each piece. After the fourth it waits, so that a parent that
// is slow to kill it finds something left.
func indexForEver(path string) int {
	ctx := context.Background()
	j, err := journal.Open(ctx, path)
	if err != nil {
		return complain(err)
	}
	pieces := 0
	for _, step := range []func(context.Context) (bool, error){j.Search.IndexPiece, j.Search.RemoveFormer} {
		for more := true; more; {
			if more, err = step(ctx); err != nil {
				return complain(err)
			}
			fmt.Println("a piece")
			if pieces++; pieces == 4 {
				time.Sleep(time.Minute)
			}
		}
	}
	return complain(errors.New("it was not killed"))
}

// TestIndexingEnds: it ends with its context, says so, and goes on; two that do it at once
// do it once.
func TestIndexingEnds(t *testing.T) {
	k, path := oldTalk(t, 300)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := k.j.Search.Index(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled, it says %v", err)
	}
	other := reopen(t, path)
	failed := make(chan error, 1)
	go func() { failed <- other.Search.Index(t.Context()) }()
	must(t, k.j.Search.Index(t.Context()))
	must(t, <-failed)
	k.compare("by two")
	checkWhole(t, k.j)
	var twice int
	must(t, k.j.QueryRow(t.Context(), "SELECT count(*) FROM search WHERE search MATCH 'samarkand'").Scan(&twice))
	if want := len(k.scan([]string{"samarkand"}, "")); twice < want || twice > want+1 { // a copy may have it, too
		t.Errorf("the index has %d rows with a word of %d texts", twice, want)
	}
}

// TestNothingToIndex: a new journal, and one whose index is whole, have nothing to be done.
func TestNothingToIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := journal.Open(t.Context(), path)
	must(t, err)
	said(t, j, "main", "a question", "an answer")
	for range 2 {
		if u, err := j.Search.Unindexed(t.Context()); err != nil || u.Percent() != 0 || formerTables(t, j) > 0 {
			t.Errorf("%+v is to be indexed, %v", u, err)
		}
		must(t, j.Search.Index(t.Context()))
		must(t, j.Close())
		db, err := sql.Open("sqlite", journal.DataSource(path))
		must(t, err)
		_, err = db.Exec(backToFormerAsks + "; " + backToFormerUsage + "; " + backToFormerTasks + "; ALTER TABLE turn DROP COLUMN stamp; ALTER TABLE turn DROP COLUMN settings; ALTER TABLE turn DROP COLUMN parent; ALTER TABLE session DROP COLUMN preset; DROP TABLE spawn; DROP TABLE digest; DROP TABLE correction; DROP TABLE completion; DROP TABLE indexing; PRAGMA user_version = 5") // the index is as schema 5 made it
		must(t, err)
		must(t, db.Close())
		j = reopen(t, path)
	}
	if got := found(t, j, "question", ""); got != "main-0" {
		t.Errorf("found %s", got)
	}
	if _, err := j.Search.Unindexed(t.Context()); protocol.ErrorCode(err) == protocol.CodeStorage {
		t.Error(err)
	}
}

// pages goes on until all was looked at, and returns the ids that were found.
func pages(t *testing.T, j *journal.Journal, s journal.Search, budget time.Duration) (ids []string, count int) {
	t.Helper()
	s.Limit = journal.SearchLimit
	for {
		found, err := j.Search.SearchWithin(t.Context(), s, budget)
		must(t, err)
		for _, h := range found.Hits {
			ids = append(ids, h.ID)
		}
		count++
		if found.Before == 0 {
			if !found.Reached.IsZero() {
				t.Errorf("all was looked at, but only down to %v", found.Reached)
			}
			return ids, count
		}
		if s.Before > 0 && found.Before >= s.Before || found.Reached.IsZero() {
			t.Fatalf("goes on at %d (%v) after %d", found.Before, found.Reached, s.Before)
		}
		s.Before = found.Before
	}
}

// copyOf is the turn of a question as a fork has it.
func copyOf(t *testing.T, j *journal.Journal, event string) journal.Turn {
	t.Helper()
	turn, err := j.Turns.TurnOfEvent(t.Context(), event)
	must(t, err)
	turn.ID, turn.Event, turn.Question.ID = turn.ID+"-copy", turn.Event+"-copy", turn.Event+"-copy"
	return turn
}

// formerTables is how many tables are left of the former index.
func formerTables(t *testing.T, j *journal.Journal) (left int) {
	t.Helper()
	must(t, j.QueryRow(t.Context(), "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'former%'").Scan(&left))
	return left
}
