package journal_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// said fills a journal with a conversation: questions and answers in turn.
func said(t testing.TB, j *journal.Journal, session string, texts ...string) {
	t.Helper()
	for i := 0; i < len(texts); i += 2 {
		id := fmt.Sprint(strings.ReplaceAll(session, " ", "-"), "-", i/2)
		turn := accepted(t, j, id, session, texts[i])
		if i+1 < len(texts) {
			answered(t, j, turn, "a-"+id, texts[i+1])
		}
	}
}

// found are the ids that a query finds, the best first.
func found(t testing.TB, j *journal.Journal, query, session string) string {
	t.Helper()
	all, err := j.Search.Find(t.Context(), journal.Search{Query: query, Session: session})
	must(t, err)
	var list []string
	for _, h := range all.Hits {
		list = append(list, h.ID)
	}
	return strings.Join(list, " ")
}

func TestSearch(t *testing.T) {
	j := fresh(t)
	said(t, j, "main",
		"Which notes mention Samarkand?", "Two of them: Silk road, and the road to Samarkand.",
		"And caf\u00e9 noir?", "The cafe\u0301 is closed. org-agent-fork is a command.",
		"\u6771\u4eac\u3067\u5bff\u53f8\u3092\u98df\u3079\u305f\u3044", "Try \ud55c\uad6d\uc5b4 in Tsukiji")
	said(t, j, "other one", "road works", "none")
	for _, c := range []struct{ query, session, want string }{
		{"samarkand", "", "main-0 a-main-0"},
		{"SAMARKAND notes", "", "main-0"},
		{"road samarkand", "", "a-main-0"},
		{`"road to"`, "", "a-main-0"},
		{`"to road"`, "", ""},
		{"samar*", "", "main-0 a-main-0"},
		{"samar", "", ""},
		{"cafe", "", "main-1 a-main-1"},
		{"caf\u00e9", "", "main-1 a-main-1"},
		{"org-agent-fork", "", "a-main-1"},
		{"\u5bff\u53f8", "", "main-2"},
		{"\u98df", "", "main-2"},
		{"\u53f8\u5bff", "", ""},
		{"\ud55c\uad6d", "", "a-main-2"},
		{"road", "other one", "other-one-0"},
		{"road", "main", "a-main-0"},
		{`"unclosed road`, "", ""},
		{`unclosed "road to`, "", ""},
		{`road AND OR NOT (`, "", ""},
		{`road ) " -- ; {words} : ^`, "", ""},
		{"closed. ***", "", "a-main-1"},
		{"road\x00to", "", "a-main-0"},
	} {
		if got := found(t, j, c.query, c.session); got != c.want {
			t.Errorf("%q in %q finds %q, want %q", c.query, c.session, got, c.want)
		}
	}
	for _, empty := range []string{"", " ", `""`, "*", "?!", "\u0301"} {
		_, err := j.Search.Find(t.Context(), journal.Search{Query: empty})
		wantCode(t, err, protocol.CodeInvalidParams)
	}
	_, err := j.Search.Find(t.Context(), journal.Search{Query: "road", Session: "missing"})
	wantCode(t, err, protocol.CodeNotFound)
}

// TestSnippets: a snippet is one line around the matches, and says where they are.
func TestSnippets(t *testing.T) {
	j := fresh(t)
	long := strings.Repeat("before \u00e4 ", 100) + "the\n\n needle\tand the  hay\u017ctack" + strings.Repeat(" behind", 100)
	said(t, j, "main", long, strings.Repeat("needle ", 3), "needle", "n\u00e9edle")
	all, err := j.Search.Find(t.Context(), journal.Search{Query: "needle hay*"})
	must(t, err)
	hits := all.Hits
	if len(hits) != 1 || all.More {
		t.Fatalf("%d hits, more %v", len(hits), all.More)
	}
	line := []rune(hits[0].Snippet)
	var matched []string
	for _, p := range hits[0].Places {
		matched = append(matched, string(line[p.Start:p.End]))
	}
	if fmt.Sprint(matched) != "[needle hay\u017ctack]" || strings.ContainsAny(hits[0].Snippet, "\n\t") || len(line) > 200 {
		t.Errorf("%q in %q", matched, hits[0].Snippet)
	}
	if words := strings.Fields(hits[0].Snippet); words[0] != "\u2026before" && words[0] != "\u2026\u00e4" || !strings.HasSuffix(hits[0].Snippet, "\u2026") {
		t.Errorf("cut without saying so, or within a word: %q", hits[0].Snippet)
	}
	// More often is better; of equals the later comes first.
	if got := found(t, j, "needle", ""); got != "a-main-0 a-main-1 main-1 main-0" {
		t.Errorf("the order is %s", got)
	}
	all, err = j.Search.Find(t.Context(), journal.Search{Query: "needle", Limit: 2})
	must(t, err)
	hits = all.Hits
	if len(hits) != 2 || !all.More || hits[0].Answer != true || hits[0].Event != "main-0" || hits[0].Turn != "turn-main-0" || hits[0].Session != "main" {
		t.Errorf("%+v, more %v", hits, all.More)
	}
}

// TestOldJournalIsIndexed: what was said before there was an index is found.
func TestOldJournalIsIndexed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := journal.Open(t.Context(), path)
	must(t, err)
	said(t, j, "main", "first question", "first answer", "second question")
	must(t, j.Acts.PutAct(t.Context(), journal.Act{ID: "n", Session: "main", Turn: "turn-main-1", Kind: journal.ActNotice, Plain: "no question answered"}))
	must(t, j.Close())
	backToFirstSchema(t, path)

	j = reopen(t, path)
	if got := found(t, j, "question", ""); got != "main-1 main-0" {
		t.Errorf("found %s", got)
	}
	if got := found(t, j, "answer", "main"); got != "a-main-0" {
		t.Errorf("found %s", got)
	}
}

// backToFirstSchema makes a journal one of schema 1.
func backToFirstSchema(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", journal.DataSource(path))
	must(t, err)
	for _, statement := range []string{
		"DROP TABLE spawn", "DROP TABLE digest", "DROP TABLE correction", "DROP TABLE completion", backToFormerAsks, backToFormerTasks, "DROP TABLE question", "ALTER TABLE approval DROP COLUMN client", "DROP INDEX approval_turn",
		"DROP TABLE search", "DROP TABLE indexing", "DROP TABLE rename", "DROP INDEX session_parent",
		"ALTER TABLE session DROP COLUMN first", "ALTER TABLE session DROP COLUMN parent", "ALTER TABLE turn DROP COLUMN origin",
		"DROP TABLE usage", "DROP TABLE steer", "ALTER TABLE session DROP COLUMN model", "ALTER TABLE turn DROP COLUMN wanted",
		"ALTER TABLE turn DROP COLUMN answer", "ALTER TABLE turn DROP COLUMN preferred", "ALTER TABLE turn DROP COLUMN instead",
		"ALTER TABLE turn DROP COLUMN stamp", "ALTER TABLE turn DROP COLUMN settings", "ALTER TABLE turn DROP COLUMN parent", "ALTER TABLE session DROP COLUMN preset",
		"PRAGMA user_version = 1",
	} {
		_, err := db.Exec(statement)
		must(t, err)
	}
	must(t, db.Close())
}
