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

// FileQuery selects parts of [Files].
type FileQuery struct {
	// Text is a query as in [Search]: every word must occur, "words in quotes" must be adjacent,
	// and word* is the beginning of a word. It may be empty if Tags, Under or days are given.
	Text string
	// Any: one of the words is enough. More and rarer words give a higher score.
	Any bool
	// Tags must all be set.
	Tags []string
	// From and To are the first and the last day; zero is no bound. With a bound, parts without a
	// day are not found.
	From, To time.Time
	// Under are directories or files. The document must be in one of them. nil is no bound.
	Under []string
	// Scopes are the scopes whose parts may be shown. "" is one of them if the person is alone.
	Scopes []string
	// AnyScope finds parts of every scope, for the person's own eyes.
	AnyScope bool
	// Limit is the largest number of hits: 20 if 0, and at most 200.
	Limit int
}

// FileHit is a part that was found.
type FileHit struct {
	Document Document
	Part     Part // without Text
	// Score is higher for a better hit. Scores of different searches cannot be compared.
	Score float64
}

// Search returns the parts that the query selects, best first. Among equals the latest comes first,
// then the order is by path and line. Words that occur in very many parts do not count for the
// score. If all words do, the latest parts are returned. CodeInvalidParams for a query that selects
// nothing.
func (f *Files) Search(ctx context.Context, q FileQuery) ([]FileHit, error) {
	hits, _, err := f.SearchCounted(ctx, q)
	return hits, err
}

// SearchCounted is Search that also returns in how many parts, of all scopes and at most a few
// thousand, each word or phrase of the query's text occurs. The counts are in the order of the
// numbers of [FileQuery.Matched].
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

// commonParts is the number of parts from which on a word is too frequent for the score, because
// its score would need a look at each of them.
const commonParts = 3000

// counts returns in how many parts each of the terms occurs, up to commonParts.
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

// Parts returns the number of parts.
func (f *Files) Parts(ctx context.Context) (all int, err error) {
	if err = f.readers.QueryRowContext(ctx, "SELECT count(*) FROM part").Scan(&all); err != nil {
		err = fmt.Errorf("count what is indexed: %w", err)
	}
	return all, err
}

// statement returns the query of a search and its arguments. Rare terms are scored, the others only
// have to occur.
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

// hitColumns are the columns that scanFileHit reads after the score.
const hitColumns = `, part.id, part.title, part.tags, part.scope, part.day, part.own, part.line, part.begins, part.ends, part.sum,
		document.path, document.size, document.changed, document.hash, document.beside`

// limit returns the largest number of hits.
func (q FileQuery) limit() int {
	if q.Limit <= 0 {
		return searchDefault
	}
	return min(q.Limit, searchLimit)
}

// conditions adds the conditions of the query other than words.
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
	q.scopeConditions(add)
}

// scopeConditions adds the conditions on the path and on the scope.
func (q FileQuery) scopeConditions(add func(condition string, values ...any)) {
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
	err = row.Scan(&h.Score, &h.Part.ID, &h.Part.Title, &tags, &h.Part.Scope, &on, &h.Part.Own, &h.Part.Line, &h.Part.Start, &h.Part.End, &h.Part.Sum, &h.Document.Path, &h.Document.Size, &changed, &h.Document.Hash, &h.Document.DependencyState)
	if tags != "" {
		h.Part.Tags = strings.Split(tags, ":")
	}
	h.Score, h.Document.Changed = -h.Score, time.Unix(0, changed)
	if on > 0 {
		h.Part.Day = time.Date(on/10000, time.Month(on/100%100), on%100, 0, 0, 0, 0, time.Local)
	}
	return h, err
}

// phrases returns the words and phrases of the query's text, each once.
func (q FileQuery) phrases() (phrases []phrase, terms []string, err error) {
	all, err := parseSearch(q.Text)
	for _, p := range all {
		if term := p.term(); !slices.Contains(terms, term) {
			phrases, terms = append(phrases, p), append(terms, term)
		}
	}
	return phrases, terms, err
}

// terms returns the words and phrases of the query, each as an expression for the index.
func (q FileQuery) terms() ([]string, error) {
	_, terms, err := q.phrases()
	if err != nil && (strings.TrimSpace(q.Text) != "" || len(q.Tags) == 0 && len(q.Under) == 0 && q.From.IsZero() && q.To.IsZero()) {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "nothing to look for: give words (letters or digits), tags, files or days")
	}
	return terms, nil
}

// term returns the phrase as an expression for the index of files.
func (p phrase) term() string {
	term := `{title text} : "` + strings.Join(p.words, " ") + `"`
	if p.prefix {
		term += " *"
	}
	return term
}

// Matched returns the numbers of the words or phrases of the query's text that occur in a text.
// Numbers begin at 0, and a repeated word has the number of its first occurrence.
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

// Snippet returns a line of the text in which most words of the query occur, and their places in
// it, in code points.
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
