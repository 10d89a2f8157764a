package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"org-agent/kernel/protocol"
)

// FileQuery says what to look for in [Files].
type FileQuery struct {
	// Text is as of [SearchIndex.Find]: every word must be there; "words in quotes" stand
	// next to one another, a word* is the beginning of one. It may be empty when Tags,
	// Under or days are given.
	Text string
	// Any: one of the words is enough; the more and the rarer, the better.
	Any bool
	// Tags must all be there.
	Tags []string
	// From and To are the first and the last day; zero is no bound. What has no day is not
	// found when one is given.
	From, To time.Time
	// Under are directories or files, of which one must hold the document; nil is anywhere.
	Under []string
	// Scopes are those that may be brought up; "" is among them where the person is alone.
	Scopes []string
	// AnyScope is for the person's own eyes: whatever it is for.
	AnyScope bool
	// Limit is how many are found at most: 20 if 0, 200 at most.
	Limit int
}

// FileHit is a part that was found.
type FileHit struct {
	Document Document
	Part     Part // without Text
	// Score is the better the higher; it compares hits of one search only.
	Score float64
}

// Search returns the parts that the query asks for, best first; of equals the latest, then
// by path and line. Words that stand in very many parts do not count for which is best, and
// where all of them do, the latest are. A query without anything to look for is
// CodeInvalidParams.
func (f *Files) Search(ctx context.Context, q FileQuery) ([]FileHit, error) {
	hits, _, err := f.SearchCounted(ctx, q)
	return hits, err
}

// SearchCounted is Search that tells in how many parts, of all scopes and at most a few thousand,
// each word or phrase of the query's text stands, as [FileQuery.Matched] numbers them.
func (f *Files) SearchCounted(ctx context.Context, q FileQuery) (hits []FileHit, counts []int, err error) {
	terms, err := q.terms()
	if err != nil {
		return nil, nil, err
	}
	counts, err = f.counts(ctx, terms)
	if err != nil {
		return nil, nil, fmt.Errorf("search the index: %w", err)
	}
	var rare []string
	for i, term := range terms {
		if counts[i] < commonParts {
			rare = append(rare, term)
		}
	}
	statement, args := q.statement(terms, rare)
	hits, err = collect(ctx, f.readers, scanFileHit, statement, args...)
	if err != nil {
		return nil, nil, fmt.Errorf("search the index: %w", err)
	}
	return hits, counts, nil
}

// commonParts is in how many parts a word stands that says little: ranking by it would mean
// to look at all of them.
const commonParts = 3000

// counts are in how many parts each of the terms stands, if not in too many.
func (f *Files) counts(ctx context.Context, terms []string) ([]int, error) {
	if len(terms) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(terms)
	if err != nil {
		return nil, err
	}
	return collect(ctx, f.readers, func(row scanner) (count int, err error) { return count, row.Scan(&count) }, `SELECT
		(SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH term.value LIMIT 0 + ?))
		FROM json_each(?) AS term ORDER BY term.key`, commonParts, string(list))
}

// Parts is how many parts there are.
func (f *Files) Parts(ctx context.Context) (all int, err error) {
	if err = f.readers.QueryRowContext(ctx, "SELECT count(*) FROM part").Scan(&all); err != nil {
		err = fmt.Errorf("count what is indexed: %w", err)
	}
	return all, err
}

// statement is the query of a search, with what it takes. What is ranked are the rare terms;
// the others are only asked for.
func (q FileQuery) statement(terms, rare []string) (string, []any) {
	var where []string
	var args []any
	add := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	with := " AND "
	if q.Any {
		with = " OR "
	}
	rank, from := "0", "part"
	if len(rare) > 0 {
		rank, from = "bm25(words, 4, 1, 4)", "words CROSS JOIN part ON part.row = words.rowid"
		add("words MATCH ?", strings.Join(rare, with))
	}
	if len(terms) > len(rare) && (len(rare) == 0 || !q.Any) {
		add("part.row IN (SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 0 + ?)", strings.Join(terms, with), commonParts)
	}
	q.conditions(add)
	return fmt.Sprintf(`SELECT %s AS score`+hitColumns+`
		FROM %s CROSS JOIN document ON document.row = part.document
		WHERE %s ORDER BY score, part.day DESC, document.path, part.line LIMIT 0 + ?`, rank, from, strings.Join(where, " AND ")), append(args, q.limit())
}

// hitColumns are what scanFileHit reads behind the score.
const hitColumns = `, part.id, part.title, part.tags, part.scope, part.day, part.own, part.line, part.begins, part.ends, part.sum,
		document.path, document.size, document.changed, document.hash, document.beside`

// limit is how many are found at most.
func (q FileQuery) limit() int {
	if q.Limit <= 0 {
		return searchDefault
	}
	return min(q.Limit, searchLimit)
}

// conditions adds what is asked for beside words.
func (q FileQuery) conditions(add func(condition string, values ...any)) {
	for _, tag := range q.Tags {
		add("part.row IN (SELECT rowid FROM words WHERE words MATCH ?)", `{tags} : "`+tagWord(tag)+`"`)
	}
	if !q.From.IsZero() {
		add("part.day >= ?", day(q.From))
	}
	if !q.To.IsZero() {
		add("part.day BETWEEN 1 AND ?", day(q.To))
	}
	q.place(add)
}

// place adds where something must stand to be found, and for whom.
func (q FileQuery) place(add func(condition string, values ...any)) {
	if !q.AnyScope {
		scopes := []any{nil} // NULL is in no list
		for _, scope := range q.Scopes {
			scopes = append(scopes, scope)
		}
		add("part.scope IN (?"+strings.Repeat(", ?", len(scopes)-1)+")", scopes...)
	}
	if q.Under == nil {
		return
	}
	var conditions []string
	var values []any
	for _, path := range q.Under {
		directory := strings.TrimSuffix(path, "/") + "/"
		conditions = append(conditions, "document.path = ? OR substr(document.path, 1, ?) = ?")
		values = append(values, path, utf8.RuneCountInString(directory), directory)
	}
	add("("+strings.Join(append(conditions, "FALSE"), " OR ")+")", values...)
}

func scanFileHit(row scanner) (h FileHit, err error) {
	var on int
	var changed int64
	var tags string
	err = row.Scan(&h.Score, &h.Part.ID, &h.Part.Title, &tags, &h.Part.Scope, &on, &h.Part.Own, &h.Part.Line, &h.Part.Start, &h.Part.End, &h.Part.Sum, &h.Document.Path, &h.Document.Size, &changed, &h.Document.Hash, &h.Document.Beside)
	if tags != "" {
		h.Part.Tags = strings.Split(tags, ":")
	}
	h.Score, h.Document.Changed = -h.Score, time.Unix(0, changed)
	if on > 0 {
		h.Part.Day = time.Date(on/10000, time.Month(on/100%100), on%100, 0, 0, 0, 0, time.Local)
	}
	return h, err
}

// phrases are the words and phrases of the query's text, each once.
func (q FileQuery) phrases() (phrases []phrase, terms []string, err error) {
	all, err := parseSearch(q.Text)
	for _, p := range all {
		if term := p.term(); !slices.Contains(terms, term) {
			phrases, terms = append(phrases, p), append(terms, term)
		}
	}
	return phrases, terms, err
}

// terms are the words and phrases of the query, each as an expression for the index.
func (q FileQuery) terms() ([]string, error) {
	_, terms, err := q.phrases()
	if err != nil && (strings.TrimSpace(q.Text) != "" || len(q.Tags) == 0 && len(q.Under) == 0 && q.From.IsZero() && q.To.IsZero()) {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "nothing to look for: give words (letters or digits), tags, files or days")
	}
	return terms, nil
}

// term is a phrase as an expression for the index of files.
func (p phrase) term() string {
	term := `{title text} : "` + strings.Join(p.words, " ") + `"`
	if p.prefix {
		term += " *"
	}
	return term
}

// Matched returns which words or phrases of the query's text stand in a text, by their numbers:
// from 0, without those that are there already.
func (q FileQuery) Matched(text string) []int {
	phrases, _, err := q.phrases()
	if err != nil {
		return nil
	}
	matches, _ := matchesIn(text, phrases)
	var numbers []int
	for _, m := range matches {
		if !slices.Contains(numbers, m.phrase) {
			numbers = append(numbers, m.phrase)
		}
	}
	return numbers
}

// Snippet is a line of the text where most of what the query looks for stands, and where in
// it that is, in code points.
func (q FileQuery) Snippet(text string) (string, []Place) {
	phrases, err := parseSearch(q.Text)
	if err != nil {
		phrases = nil
	}
	if matches, _ := matchesIn(text, phrases); len(matches) > 0 {
		return snippet(text, matches)
	}
	return snippet(text, []match{{}})
}
