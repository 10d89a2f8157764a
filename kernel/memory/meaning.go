package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/text"
)

// Embedder makes vectors of texts. Texts with a similar meaning have similar vectors.
type Embedder interface {
	// Model returns the name of the model. Vectors of different models cannot be compared.
	Model() string
	// Embed returns a vector for each text, in the order of the texts. An error that wraps
	// [ErrNoVector] says that these texts will never have vectors.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// ErrNoVector is wrapped by an Embedder's error for texts that it will never accept.
var ErrNoVector = errors.New("there is no vector for it")

// Likeness is the lowest cosine at which a text is found by its meaning, unless a setting says
// otherwise. Measured with all-MiniLM-L6-v2: twelve short notes and questions about them without a common word
// have 0.24 to 0.47, and 102 others at most 0.23.
const Likeness = 0.25

// Meaning lets an index find texts with a similar meaning in other words. It only adds to the
// search for words: if the embedder fails, or is slow, a search finds words only.
type Meaning struct {
	Embedder Embedder
	// Least is the lowest cosine of a query and a text for which the text is found.
	Least float64

	mu    sync.Mutex
	pause time.Time // nothing is asked until then, after a failure
}

const (
	meaningBytes = 2000 // how much of a part the embedder gets: models read little more
	meaningTexts = 32   // in one request
	// meaningTimeout is how long a search waits for the vector of its query, but at most half of
	// its own time.
	meaningTimeout = 2 * time.Second
	meaningPause   = 30 * time.Second
)

// partText returns the text of a part that an embedder gets.
func partText(p journal.Part) string {
	return strings.TrimSpace(text.Prefix(strings.ToValidUTF8(p.Title+"\n"+p.Text, ""), meaningBytes))
}

// MeaningText returns the text of a query for the search by meaning. It is "" for a query with
// words in quotes or word*, which ask for exactly these words.
func MeaningText(query string) string {
	if strings.ContainsAny(query, "\"*") {
		return ""
	}
	return query
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// vector returns the vector of a query's text. It is nil for an empty text, and during the pause
// after a failure. A vector that does not come in time is a failure.
func (m *Meaning) vector(ctx context.Context, text string) ([]float32, error) {
	m.mu.Lock()
	paused := time.Now().Before(m.pause)
	m.mu.Unlock()
	if text = partText(journal.Part{Title: text}); paused || text == "" {
		return nil, nil
	}
	timeout := meaningTimeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	vectors, err := m.Embedder.Embed(ctx, []string{text})
	if err == nil && len(vectors) == 1 {
		return vectors[0], nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pause = time.Now().Add(meaningPause)
	return nil, err
}

// similar returns the parts with a vector similar to this one. They meet all conditions of the
// query except its words.
func (x *Index) similar(ctx context.Context, m *Meaning, q Query, vector []float32) []journal.FileHit {
	if len(vector) == 0 {
		return nil
	}
	hits, err := x.Files.Nearest(ctx, m.Embedder.Model(), q, vector, m.Least)
	if err != nil && ctx.Err() == nil {
		x.Logger.Warn("nothing is looked for by its meaning", "err", err)
	}
	return hits
}

// SetMeaning sets what adds the search by meaning. nil means a search for words only. What runs uses
// the former one to its end. Vectors of another model do not count, and [Index.Embed] replaces them.
func (x *Index) SetMeaning(m *Meaning) { x.meaning.Store(m) }

// vectorOf returns the vector for the search by meaning, or nil if only words count.
func (x *Index) vectorOf(ctx context.Context, m *Meaning, text string) []float32 {
	if m == nil || text == "" {
		return nil
	}
	vector, err := m.vector(ctx, text)
	if err != nil {
		x.Logger.Warn("what is looked for is found by its words only for a while", "err", err)
	}
	return vector
}

// fusionConstant is the constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR
// 2009). It says how much the first ranks of a list count before the later ones. The method joins
// lists whose scores cannot be compared, such as those of words and of vectors, and needs no
// tuning.
const fusionConstant = 60

// fuse joins two lists, each with the best first. Parts near the beginnings of both lists come
// first. If alike is empty it returns words.
func fuse(words, alike []journal.FileHit, limit int) []journal.FileHit {
	if len(alike) == 0 {
		return words
	}
	type place struct {
		path  string
		start int
		line  int
	}
	scores, first := map[place]float64{}, map[place]journal.FileHit{}
	var order []place
	for _, list := range [][]journal.FileHit{words, alike} {
		for rank, h := range list {
			at := place{h.Document.Path, h.Part.Start, h.Part.Line}
			if _, known := first[at]; !known {
				first[at], order = h, append(order, at)
			}
			scores[at] += 1 / float64(fusionConstant+rank+1)
		}
	}
	slices.SortStableFunc(order, func(a, b place) int { return cmp.Compare(scores[b], scores[a]) })
	if limit > 0 && limit < len(order) {
		order = order[:limit]
	}
	blended := make([]journal.FileHit, 0, len(order))
	for _, at := range order {
		h := first[at]
		h.Score = scores[at]
		blended = append(blended, h)
	}
	return blended
}

// Embed makes the missing vectors, one file at a time, and removes those whose parts no longer
// exist. It returns how many it made. Private parts, and those that are withheld from models, get
// none. It ends early when another [Meaning] is set.
func (x *Index) Embed(ctx context.Context) (made int, err error) {
	m := x.meaning.Load()
	if m == nil {
		return 0, nil
	}
	for stale, after := "", ""; ; { // it continues where it was: looking through everything for each file takes minutes
		missing, err := x.Files.WithoutVector(ctx, m.Embedder.Model(), private, after)
		switch {
		case x.meaning.Load() != m:
			return made, nil
		case err != nil:
			return made, err
		case len(missing) == 0 && after == "":
			return made, x.Files.PruneVectors(ctx)
		case len(missing) == 0:
			after = "" // for what was added meanwhile
			continue
		}
		parts, same := x.partsNow(missing[0].Document)
		if !same { // the file has changed since, and may be private now
			if stale == missing[0].Document.Path {
				return made, nil
			}
			stale = missing[0].Document.Path
			if _, err := x.Refresh(ctx); err != nil {
				return made, err
			}
			continue
		}
		n, err := x.embed(ctx, m, missing, parts)
		if made += n; err != nil {
			return made, fmt.Errorf("find out what notes mean: %w", err)
		}
		after = missing[0].Document.Path
	}
}

// partsNow returns the parts of a file. same is true if the file, to the byte, and the files on
// which its tags depend are those that were indexed.
func (x *Index) partsNow(d journal.Document) (parts []journal.Part, same bool) {
	f, _, err := openRegular(d.Path)
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }() // the file was only read
	data, err := io.ReadAll(io.LimitReader(f, sourceBytes))
	if sum := sha256.Sum256(data); err != nil || hex.EncodeToString(sum[:]) != d.Hash {
		return nil, false
	}
	root, there := x.rootOf(d.Path)
	if !there {
		return nil, false
	}
	parts, beside := partsOf(root, d.Path, data)
	return parts, beside == d.DependencyState
}

// embed makes the missing vectors of one file.
func (x *Index) embed(ctx context.Context, m *Meaning, missing []journal.FileHit, parts []journal.Part) (made int, err error) {
	texts := map[string]string{}
	for _, p := range parts {
		if p.Scope != private {
			texts[p.Sum] = partText(p)
		}
	}
	var batch []journal.Vector
	var of []string
	known := map[string]bool{}
	put := func() error {
		if len(of) == 0 {
			return nil
		}
		vectors, err := x.vectorsOf(ctx, m, of)
		if err != nil {
			return err
		}
		for i := range batch {
			batch[i].Numbers = vectors[i]
		}
		if err := x.Files.PutVectors(ctx, m.Embedder.Model(), batch...); err != nil {
			return err
		}
		made += len(batch)
		batch, of = nil, nil
		return nil
	}
	var none []journal.Vector
	for _, h := range missing {
		text := texts[h.Part.Sum]
		switch {
		case known[h.Part.Sum]:
			continue
		case text == "":
			none = append(none, journal.Vector{Sum: h.Part.Sum})
		default:
			batch, of = append(batch, journal.Vector{Sum: h.Part.Sum}), append(of, text)
		}
		if known[h.Part.Sum] = true; len(of) == meaningTexts {
			if err := put(); err != nil {
				return made, err
			}
		}
	}
	if err := put(); err != nil || len(none) == 0 {
		return made, err
	}
	return made, x.Files.PutVectors(ctx, m.Embedder.Model(), none...)
}

// vectorsOf asks for the vectors of some texts. If the server refuses them together, it asks for
// each alone. A text that the server refuses alone gets none.
func (x *Index) vectorsOf(ctx context.Context, m *Meaning, texts []string) ([][]float32, error) {
	vectors, err := m.Embedder.Embed(ctx, texts)
	switch {
	case err == nil && len(vectors) != len(texts):
		return nil, fmt.Errorf("there are %d vectors for %d texts", len(vectors), len(texts))
	case err == nil || !errors.Is(err, ErrNoVector):
		return vectors, err
	}
	if _, other := m.Embedder.Embed(ctx, []string{"note"}); other != nil {
		return nil, err // the texts are not the reason
	}
	vectors = make([][]float32, len(texts))
	for i, text := range texts {
		one, err := m.Embedder.Embed(ctx, []string{text})
		switch {
		case err == nil && len(one) == 1:
			vectors[i] = one[0]
		case err != nil && !errors.Is(err, ErrNoVector):
			return nil, err
		default:
			title, _, _ := strings.Cut(text, "\n")
			x.Logger.Warn("a note is found by its words only", "title", title, "err", err)
		}
	}
	return vectors, nil
}
