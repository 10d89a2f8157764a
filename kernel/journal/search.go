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

// Hit is a question or an answer that has what was looked for.
type Hit struct {
	Session string
	Turn    string
	Event   string // the question's :ID:
	ID      string // the question's or the answer's :ID:
	Answer  bool
	Time    time.Time
	Snippet string // of its text, on one line
	Places  []Place
}

// Place is a match in a snippet, in code points.
type Place struct{ Start, End int }

const (
	searchLimit     = 300 // as many as are ranked
	searchDefault   = 20
	searchPhrases   = 32
	searchQuery     = 1000    // bytes
	candidates      = 300     // texts with the words are ranked, so many
	candidateBytes  = 4 << 20 // of their rows
	snippetBefore   = 40      // code points
	snippetLength   = 160
	snippetEllipsis = "…"
)

// Search is what is looked for, and where.
type Search struct {
	// Query has the words, all of which must be there: "Words in quotes" stand next to
	// one another, a word* is the beginning of one; case and accents do not count.
	Query   string
	Session string    // only there; "" for all, each text as it was said first, not in forks
	Since   time.Time // only what was said then or later
	Until   time.Time // and before then
	Before  int64     // goes on where an earlier search left off: its [Found].Before
	Limit   int       // hits at most: 20 if 0, 300 at most
}

// Found is what a search found.
type Found struct {
	Hits    []Hit     // best first
	More    bool      // what was looked at has others
	Before  int64     // where to go on with what is older; 0 when all was looked at
	Reached time.Time // what is older was not looked at; zero when all was
}

// SearchIndex finds questions and answers by their words. A text can be found once the change that
// wrote it is committed. While the index of an older kernel is rebuilt, a search reads the texts
// that are not in the new one yet, and takes longer.
type SearchIndex struct{ *database }

// Find looks through questions and answers, the latest first, and returns the best of
// the latest 300 that have the words. It takes a few hundredths of a second and then
// returns what it has: of very many texts the older ones may not have been looked at,
// which Before says. A query without a word is CodeInvalidParams, a session that does
// not exist CodeNotFound. When ctx ends the index is not read any further.
func (s *SearchIndex) Find(ctx context.Context, query Search) (Found, error) {
	return s.search(ctx, query, searchBudget)
}

// search takes hardly longer than the budget, but looks at one window at least.
func (s *SearchIndex) search(ctx context.Context, query Search, budget time.Duration) (Found, error) {
	phrases, err := parseSearch(query.Query)
	if err != nil {
		return Found{}, err
	}
	found, err := s.find(ctx, query, phrases, budget)
	return found, s.failure(ctx, "search", err)
}

func (s *SearchIndex) find(ctx context.Context, query Search, phrases []phrase, budget time.Duration) (found Found, err error) {
	place, fork, err := s.placeOf(ctx, query.Session)
	if err != nil {
		return found, notFound(err, "session", query.Session)
	}
	span, err := s.searchSpan(ctx, query, fork)
	if err != nil {
		return found, err
	}
	look, rows, err := s.look(ctx, query, phrases, place, span, budget)
	if err != nil {
		return found, err
	}
	ranked, last, err := s.candidates(ctx, rows, phrases)
	if err != nil {
		return found, err
	}
	ranked = slices.DeleteFunc(ranked, func(c candidate) bool { return !query.during(c.hit.Time) })
	if last > 0 { // there was too much text to read all
		look.from = last
	}
	if limit := query.limit(); len(ranked) > limit {
		ranked, found.More = ranked[:limit], true
	}
	for _, c := range ranked {
		c.hit.Snippet, c.hit.Places = snippet(c.text, c.matches)
		found.Hits = append(found.Hits, c.hit)
	}
	if look.from > span.from {
		found.Before = look.from
		found.Reached, err = s.timeOf(ctx, look.from)
	}
	return found, err
}

// look returns the latest rows in the span that have the phrases, of what it can look at
// within the budget: those that the index has, and then those that it does not have yet.
func (s *SearchIndex) look(ctx context.Context, query Search, phrases []phrase, place string, span rowSpan, budget time.Duration) (indexScan, []int64, error) {
	began := time.Now()
	rest, err := unindexed(ctx, s.readers)
	if err != nil {
		return indexScan{}, nil, err
	}
	known := rowSpan{min(max(span.from, rest.Rows+1), span.until), span.until}
	look := indexScan{words: wordsExpression(phrases), place: place, span: known, budget: budget}
	rows, err := look.run(ctx, s.readers)
	if err != nil || look.from > known.from || look.from == span.from {
		return look, rows, err
	}
	// What was not looked at at all is looked at a little, so that every search gets on.
	if left := budget - time.Since(began); left > 0 || known.from == known.until {
		unread := reading{phrases: phrases, session: query.Session, from: look.from, span: span, until: began.Add(budget)}
		rows, err = unread.through(ctx, s, rows)
		look.from = unread.from
	}
	return look, rows, err
}

func (s Search) limit() int {
	if s.Limit <= 0 {
		return searchDefault
	}
	return min(s.Limit, searchLimit)
}

// during reports whether t is within the bounds. (The rows looked at are chosen by their
// numbers; a clock may have been changed between them.)
func (s Search) during(t time.Time) bool {
	return !t.Before(s.Since) && (s.Until.IsZero() || t.Before(s.Until))
}

// placeOf is the word that a session's rows have in the index, "" for all sessions.
func (s *SearchIndex) placeOf(ctx context.Context, session string) (place string, fork bool, err error) {
	if session == "" {
		return "", false, nil
	}
	var first int64
	err = s.readers.QueryRowContext(ctx, "SELECT first, parent <> '' FROM session WHERE name = ?", session).Scan(&first, &fork)
	return placeWord(first), fork, err
}

// phrase is words that stand next to one another.
type phrase struct {
	words  []string
	prefix bool // the last word is the beginning of one
}

// parseSearch reads what a person typed. Nothing in it is an error but that there is
// no word in it.
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

// wordsExpression is the phrases as the index is asked for them. Words are letters and
// digits only, so that nothing in them is syntax.
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

// candidate is a text that has the words.
type candidate struct {
	hit     Hit
	text    string
	matches []match
	score   float64
}

// match is one place of one phrase in a text, in bytes.
type match struct{ start, end, phrase int }

const candidatesQuery = `SELECT j.kind, j.time, j.id, j.data, t.session, t.id, t.event
	FROM json_each(?) AS i CROSS JOIN journal AS j ON j.seq = i.value CROSS JOIN turn AS t ON t.id = j.turn`

// candidates reads these rows and ranks them. When there was too much text to read all,
// last is the one up to which it was read, else 0.
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

// searchable is the text of a row that is looked through.
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

// ranked sorts the best first; of equals the latest.
func ranked(found []candidate) []candidate {
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.hit.Time.Compare(a.hit.Time))
	})
	return found
}

// score is how much a text of so many words is about the phrases: each counts the
// more the more often it stands there, and less in a long text (as in BM25; how rare
// a word is says nothing here, because every text has all of them).
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

// matchesIn finds the phrases in the text, and counts its words.
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

// snippet is a line of the text where most of the phrases are, and where they are
// in it.
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

// back is the byte n code points before at, but not within a word if a blank is near.
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

// snippetLine is a text as one line: blanks of all kinds are one blank.
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

// mark notes where the byte at of the text comes to stand, if a match has its
// beginning or end there.
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

// places are the matches that are whole in the line, without those in others.
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
