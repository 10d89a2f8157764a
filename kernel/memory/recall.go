package memory

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"org-agent/kernel/journal"
)

// What is recalled before a turn.
const (
	recallWords = 2000 // bytes of a message that are looked at
	recallTerms = 24   // words of it that are looked for
	recallLook  = 24   // parts that are looked at
	// recallShare is how much of what a message is about a part must have, where each word
	// counts the more the rarer it is.
	recallShare = 0.3
)

// Recall returns what may bear on a message, the best first, for those scopes: parts that
// have words of it that are rare, or mean the same. A message that is about nothing that is kept recalls nothing.
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
	said := map[string]bool{}
	for _, f := range found {
		share, distinct := 0.0, false
		for _, i := range q.Matched(f.Title + "\n" + f.Text + "\n" + strings.Join(f.Tags, " ")) {
			share += weights[i] / total
			distinct = distinct || counts[i] <= max(12, all/20)
		}
		if same := f.Title + "\n" + f.Text; (f.Alike || distinct && share >= recallShare) && !said[same] {
			said[same] = true
			recalled = append(recalled, f)
		}
	}
	recalled = recalled[:min(len(recalled), limit)]
	for i, f := range recalled {
		recalled[i].Snippet, recalled[i].Places = q.Snippet(f.Text)
	}
	return recalled, nil
}

// weigh is how much each word of a query says: the more the rarer it is, and nothing if it
// stands nowhere.
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

// termsOf are the words of a message that say what it is about, as a query has them: long
// ones as beginnings, so that other forms of them are found, and of a script without blanks
// two characters at a time.
func termsOf(message string) []string {
	message = strings.ToValidUTF8(message[:min(len(message), recallWords)], " ")
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
				if !usualCharacter(runes[i]) && !usualCharacter(runes[i+1]) {
					add(`"` + string(runes[i:i+2]) + `"`)
				}
			}
			continue
		}
		switch n := len(runes); {
		case usualWord(string(runes)) || n < 2:
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

// dense reports whether a character is of a script that is written without blanks.
func dense(c rune) bool {
	return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
