package memory

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"org-agent/kernel/journal"
	"org-agent/kernel/text"
)

// The limits of a recall before a turn.
const (
	recallWords = 2000 // bytes of the message that count
	recallTerms = 24   // words of the message in the query
	recallLook  = 24   // parts that are compared
	// recallShare is the lowest share of the weight of the message's words that a part must have. A
	// rarer word has more weight.
	recallShare = 0.3
)

// Recall returns the parts in those scopes that are relevant to a message, the best first. Such a
// part has rare words of the message, or a similar meaning. There may be none.
func (x *Index) Recall(ctx context.Context, message string, scopes []string, limit int) ([]Found, error) {
	terms := termsOf(message)
	if len(terms) == 0 || len(scopes) == 0 {
		return nil, nil
	}
	q := journal.FileQuery{Text: strings.Join(terms, " "), Any: true, Scopes: scopes, Limit: recallLook}
	found, counts, err := x.search(ctx, q, message)
	if err != nil {
		return nil, err
	}
	all, err := x.Files.Parts(ctx)
	if err != nil {
		return nil, err
	}
	weights, total := weigh(counts, all)
	var recalled []Found
	seen := map[string]bool{}
	for _, f := range found {
		share, distinct := 0.0, false
		for _, i := range q.Matched(f.Title + "\n" + f.Text + "\n" + strings.Join(f.Tags, " ")) {
			share += weights[i] / total
			distinct = distinct || counts[i] <= max(12, all/20)
		}
		if same := f.Title + "\n" + f.Text; (f.Alike || distinct && share >= recallShare) && !seen[same] {
			seen[same] = true
			recalled = append(recalled, f)
		}
	}
	recalled = recalled[:min(len(recalled), limit)]
	for i, f := range recalled {
		recalled[i].Snippet, recalled[i].Places = q.Snippet(f.Text)
	}
	return recalled, nil
}

// weigh returns the weight of each word of a query. A rarer word has more weight. A word that
// occurs nowhere has none.
func weigh(counts []int, all int) (weights []float64, total float64) {
	for _, count := range counts {
		weight := 0.0
		if count > 0 {
			weight = math.Log1p(float64(all) / float64(count))
		}
		weights = append(weights, weight)
		total += weight
	}
	return weights, total
}

// termsOf returns the significant words of a message in the form of a query. Long words become
// beginnings, so that their other forms match. A script without blanks gives two characters at a
// time.
func termsOf(message string) []string {
	message = text.Prefix(strings.ToValidUTF8(message, " "), recallWords)
	var terms []string
	add := func(term string) {
		if len(terms) < recallTerms && !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	for _, word := range strings.FieldsFunc(message, func(c rune) bool { return !unicode.In(c, unicode.L, unicode.N, unicode.M) }) {
		runes := []rune(strings.ToLower(word))
		if dense(runes[0]) {
			for i := 0; i+1 < len(runes); i++ {
				if !isStopCharacter(runes[i]) && !isStopCharacter(runes[i+1]) {
					add(`"` + string(runes[i:i+2]) + `"`)
				}
			}
			continue
		}
		switch n := len(runes); {
		case isStopWord(string(runes)) || n < 2:
		case n >= 6:
			add(string(runes[:n-2]) + "*")
		case n >= 4:
			add(strings.TrimSuffix(string(runes), "s") + "*")
		default:
			add(string(runes))
		}
	}
	return terms
}

// dense reports whether a character belongs to a script that is written without blanks.
func dense(c rune) bool {
	return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
