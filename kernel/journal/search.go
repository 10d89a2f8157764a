package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"org-agent/kernel/protocol"
)

// Hit is a question or an answer that a search found.
type Hit struct {
	Session string
	Turn    string
	Event   string // the question's :ID:
	ID      string // the question's or the answer's :ID:
	Answer  bool
	Time    time.Time
	Snippet string // a line of its text
	Places  []Place
}

// Place is a match in a snippet, in code points.
type Place struct{ Start, End int }

const (
	searchLimit     = 300 // the texts that are scored at most
	searchDefault   = 20
	searchPhrases   = 32
	searchQuery     = 1000    // bytes
	candidates      = 300     // texts with the words that are scored, at most
	candidateBytes  = 4 << 20 // of their rows
	snippetBefore   = 40      // code points
	snippetLength   = 160
	snippetEllipsis = "…"
)

// Search is a query and its bounds.
type Search struct {
	// Query has the words, all of which must occur. "Words in quotes" must be adjacent, and word*
	// is the beginning of a word. Case and accents do not count.
	Query   string
	Session string    // only this session; "" for all, without the copies in forks
	Since   time.Time // only texts of this time or later
	Until   time.Time // only texts before this time
	Before  int64     // continues an earlier search: its [SearchResult].Before
	Limit   int       // hits at most: 20 if 0, 300 at most
}

// SearchResult is the result of a search.
type SearchResult struct {
	Hits    []Hit     // best first
	More    bool      // the searched rows have more hits
	Before  int64     // where to continue with older texts; 0 if all were searched
	Reached time.Time // the time of the oldest searched text; zero if all were searched
}

// SearchIndex finds questions and answers by their words. A text can be found once the change that
// wrote it is committed. While the index of an older kernel is rebuilt, a search reads the texts
// that are not in the new one yet, and takes longer.
type SearchIndex struct{ *database }

// Find searches questions and answers, the latest first, and returns the best of the latest 300
// that contain the words. It stops after a few hundredths of a second. In a very large journal the
// older texts may not have been searched; then Before is set. CodeInvalidParams for a query without
// a word. CodeNotFound for an unknown session. The search ends when ctx ends.
func (s *SearchIndex) Find(ctx context.Context, query Search) (SearchResult, error) {
	return s.search(ctx, query, searchBudget)
}

// search takes hardly longer than the budget, but searches at least one window.
func (s *SearchIndex) search(ctx context.Context, query Search, budget time.Duration) (SearchResult, error) {
	phrases, err := parseSearch(query.Query)
	if err != nil {
		return SearchResult{}, err
	}
	found, err := s.find(ctx, query, phrases, budget)
	return found, s.failure(ctx, "search", err)
}

func (s *SearchIndex) find(ctx context.Context, query Search, phrases []phrase, budget time.Duration) (found SearchResult, err error) {
	word, fork, err := s.sessionWordOf(ctx, query.Session)
	if err != nil {
		return found, notFound(err, "session", query.Session)
	}
	span, err := s.searchSpan(ctx, query, fork)
	if err != nil {
		return found, err
	}
	scan, rows, err := s.matchingRows(ctx, query, phrases, word, span, budget)
	if err != nil {
		return found, err
	}
	ranked, last, err := s.candidates(ctx, rows, phrases)
	if err != nil {
		return found, err
	}
	ranked = slices.DeleteFunc(ranked, func(c candidate) bool { return !query.during(c.hit.Time) })
	if last > 0 { // there was too much text to read all of it
		scan.from = last
	}
	if limit := query.limit(); len(ranked) > limit {
		ranked, found.More = ranked[:limit], true
	}
	for _, c := range ranked {
		c.hit.Snippet, c.hit.Places = snippet(c.text, c.matches)
		found.Hits = append(found.Hits, c.hit)
	}
	if scan.from > span.from {
		found.Before = scan.from
		found.Reached, err = s.timeOf(ctx, scan.from)
	}
	return found, err
}

// matchingRows returns the latest rows in the span that contain the phrases, as far as the budget
// allows: first those of the index, then those that are not in it yet.
func (s *SearchIndex) matchingRows(ctx context.Context, query Search, phrases []phrase, word string, span rowSpan, budget time.Duration) (indexScan, []int64, error) {
	began := time.Now()
	rest, err := unindexed(ctx, s.readers)
	if err != nil {
		return indexScan{}, nil, err
	}
	known := rowSpan{min(max(span.from, rest.Rows+1), span.until), span.until}
	scan := indexScan{words: wordsExpression(phrases), session: word, span: known, budget: budget}
	rows, err := scan.run(ctx, s.readers)
	if err != nil || scan.from > known.from || scan.from == span.from {
		return scan, rows, err
	}
	// Texts that were not read at all get a little time, so that every search makes progress.
	if left := budget - time.Since(began); left > 0 || known.from == known.until {
		unread := reading{phrases: phrases, session: query.Session, from: scan.from, span: span, until: began.Add(budget)}
		rows, err = unread.through(ctx, s, rows)
		scan.from = unread.from
	}
	return scan, rows, err
}

func (s Search) limit() int {
	if s.Limit <= 0 {
		return searchDefault
	}
	return min(s.Limit, searchLimit)
}

// during reports whether t is within the bounds. The searched rows are chosen by their numbers, and
// the clock may have been set back between them.
func (s Search) during(t time.Time) bool {
	return !t.Before(s.Since) && (s.Until.IsZero() || t.Before(s.Until))
}

// sessionWordOf returns the word that marks a session's rows in the index, "" for all sessions.
func (s *SearchIndex) sessionWordOf(ctx context.Context, session string) (word string, fork bool, err error) {
	if session == "" {
		return "", false, nil
	}
	var first int64
	err = s.readers.QueryRowContext(ctx, "SELECT first, parent <> '' FROM session WHERE name = ?", session).Scan(&first, &fork)
	return sessionWord(first), fork, err
}

// phrase is a sequence of adjacent words.
type phrase struct {
	words  []string
	prefix bool // the last word is the beginning of one
}

// parseSearch parses the query of a person. The only error is a query without a word.
func parseSearch(query string) ([]phrase, error) {
	query = query[:min(len(query), searchQuery)]
	var phrases []phrase
	add := func(text string) {
		p := phrase{prefix: strings.HasSuffix(text, "*")}
		for w := range wordsIn(text) {
			if w.folded != "" {
				p.words = append(p.words, w.folded)
			}
		}
		if len(p.words) > 0 && len(phrases) < searchPhrases {
			phrases = append(phrases, p)
		}
	}
	for i, part := range strings.Split(query, `"`) {
		if i%2 == 1 {
			add(part)
			continue
		}
		for _, term := range strings.Fields(part) {
			add(term)
		}
	}
	if len(phrases) == 0 {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "nothing to look for: the query has no word (letters or digits)")
	}
	return phrases, nil
}

// wordsExpression returns the phrases as an expression for the index. Words consist of letters and
// digits, so that they contain no syntax.
func wordsExpression(phrases []phrase) string {
	var parts []string
	for _, p := range phrases {
		part := `"` + strings.Join(p.words, " ") + `"`
		if p.prefix {
			part += " *"
		}
		parts = append(parts, part)
	}
	return "{words} : (" + strings.Join(parts, " AND ") + ")"
}

// candidate is a text that contains the words.
type candidate struct {
	hit     Hit
	text    string
	matches []match
	score   float64
}

// match is one occurrence of one phrase in a text, in bytes.
type match struct{ start, end, phrase int }

const candidatesQuery = `SELECT j.kind, j.time, j.id, j.data, t.session, t.id, t.event
	FROM json_each(?) AS i CROSS JOIN journal AS j ON j.seq = i.value CROSS JOIN turn AS t ON t.id = j.turn`

// candidates reads these rows and scores them. If there was too much text to read all of it, last
// is the last row that was read, otherwise 0.
func (s *SearchIndex) candidates(ctx context.Context, rows []int64, phrases []phrase) (found []candidate, last int64, err error) {
	if len(rows) == 0 {
		return nil, 0, nil
	}
	list, err := json.Marshal(rows)
	if err != nil {
		return nil, 0, fmt.Errorf("name the rows: %w", err)
	}
	read, err := s.readers.QueryContext(ctx, candidatesQuery, string(list))
	if err != nil {
		return nil, 0, err
	}
	defer read.Close()
	size := 0
	for n := 0; read.Next(); n++ {
		if size > candidateBytes {
			return ranked(found), rows[n-1], nil
		}
		c, bytes, err := scanCandidate(read)
		if err != nil {
			return nil, 0, err
		}
		size += bytes
		var length int
		if c.matches, length = matchesIn(c.text, phrases); len(c.matches) > 0 {
			c.score = score(c.matches, length, len(phrases))
			found = append(found, c)
		}
	}
	return ranked(found), 0, read.Err()
}

func scanCandidate(row scanner) (c candidate, size int, err error) {
	var kind Kind
	var at int64
	var data []byte
	if err := row.Scan(&kind, &at, &c.hit.ID, &data, &c.hit.Session, &c.hit.Turn, &c.hit.Event); err != nil {
		return c, 0, err
	}
	c.hit.Time, c.hit.Answer = instant(at), kind == KindAct
	c.text, err = searchable(kind, data)
	return c, len(data), err
}

// searchable returns the text of a row that searches read.
func searchable(kind Kind, data []byte) (string, error) {
	var row struct{ Text, Plain, Raw string }
	if err := json.Unmarshal(data, &row); err != nil {
		return "", fmt.Errorf("read the text of a row: %w", err)
	}
	if kind == KindEvent {
		return row.Text, nil
	}
	return cmp.Or(row.Plain, row.Raw), nil
}

// ranked sorts the best first. Among equals the latest comes first.
func ranked(found []candidate) []candidate {
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.hit.Time.Compare(a.hit.Time))
	})
	return found
}

// score rates how much a text of so many words is about the phrases. Frequent phrases raise it, and
// the length of the text lowers it, as in BM25. The rarity of a word does not count, because every
// text has all words.
func score(matches []match, length, phrases int) float64 {
	const usual = 150 // words
	times := make([]float64, phrases)
	for _, m := range matches {
		times[m.phrase]++
	}
	sum := 0.0
	for _, n := range times {
		sum += n / (n + 1.2*(0.25+0.75*float64(length)/usual))
	}
	return sum
}

// matchesIn returns the occurrences of the phrases in the text and the number of its words.
func matchesIn(text string, phrases []phrase) (matches []match, count int) {
	text = text[:min(len(text), searchBytes)]
	words := make([]word, 0, len(text)/6)
	for w := range wordsIn(text) {
		if w.folded != "" {
			words = append(words, w)
		}
	}
	for i := range words {
		for n, p := range phrases {
			if p.at(words[i:]) {
				last := words[i+len(p.words)-1]
				matches = append(matches, match{words[i].start, last.end, n})
			}
		}
	}
	return matches, len(words)
}

// at reports whether the words begin with the phrase.
func (p phrase) at(words []word) bool {
	if len(words) < len(p.words) {
		return false
	}
	for i, w := range p.words {
		last := i == len(p.words)-1
		if words[i].folded != w && !(last && p.prefix && strings.HasPrefix(words[i].folded, w)) {
			return false
		}
	}
	return true
}

// snippet returns a line of the text in which most phrases occur, and their places in it.
func snippet(text string, matches []match) (string, []Place) {
	best, most := 0, 0
	for i := range matches {
		seen := map[int]bool{}
		for _, m := range matches[i:] {
			if m.start-matches[i].start > snippetLength-snippetBefore {
				break
			}
			seen[m.phrase] = true
		}
		if len(seen) > most {
			best, most = i, len(seen)
		}
	}
	from := back(text, matches[best].start, snippetBefore)
	line := snippetLine{}
	if from > 0 {
		line.write(snippetEllipsis)
	}
	rest := matches[best:]
	for i := best; i > 0 && matches[i-1].start >= from; i-- {
		rest = matches[i-1:]
	}
	for at, r := range text[from:] {
		if line.count > snippetLength {
			line.write(snippetEllipsis)
			break
		}
		line.mark(from+at, rest)
		line.add(r)
	}
	line.mark(len(text), rest)
	return strings.TrimRight(line.text.String(), " "), line.places(rest)
}

// back returns the byte n code points before at, moved to a blank if one is near.
func back(text string, at, n int) int {
	from, blank := at, -1
	for ; n > 0 && from > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		if from -= size; unicode.IsSpace(rune(text[from])) {
			blank = from + 1
		}
	}
	if from > 0 && blank >= 0 {
		return blank
	}
	return from
}

// snippetLine is a text as one line: a run of blanks of any kind is one blank.
type snippetLine struct {
	text   strings.Builder
	count  int // code points
	blank  bool
	starts map[int]int // of bytes of the text, code points of the line
}

func (l *snippetLine) write(s string) {
	l.text.WriteString(s)
	l.count += utf8.RuneCountInString(s)
}

func (l *snippetLine) add(r rune) {
	if unicode.IsSpace(r) || unicode.IsControl(r) {
		l.blank = l.count > 0
		return
	}
	if l.blank {
		l.write(" ")
		l.blank = false
	}
	l.write(string(r))
}

// mark records the position of the byte at of the text in the line, if a match begins or ends
// there.
func (l *snippetLine) mark(at int, matches []match) {
	for _, m := range matches {
		if m.start > at {
			break
		}
		if m.start == at || m.end == at {
			if l.starts == nil {
				l.starts = map[int]int{}
			}
			l.starts[at] = l.count
			if m.start == at && l.blank {
				l.starts[at]++ // the blank comes first
			}
		}
	}
}

// places returns the matches that are whole in the line, without those inside others.
func (l *snippetLine) places(matches []match) (places []Place) {
	end := 0
	for _, m := range matches {
		from, begun := l.starts[m.start]
		to, ended := l.starts[m.end]
		if begun && ended && from >= end && to > from {
			places = append(places, Place{from, to})
			end = to
		}
	}
	return places
}
