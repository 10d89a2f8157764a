package journal

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
)

// A part may also have a vector that a model made of its text, for searches by meaning. Vectors are
// stored by a checksum of that text, so that a text keeps its vector when it moves or its file
// changes around it. A vector is stored as one byte for each number, which costs half a per cent of
// a cosine and saves three quarters of the space.

// vectorsBytes limits the vectors in memory. Parts beyond it are found only by their words. It is
// space for 80,000 vectors of 768 numbers.
const vectorsBytes = 64 << 20

// Vector is the vector of a text for a model. A vector without numbers records that the model has
// none for that text.
type Vector struct {
	Sum     string // the checksum of the text, as in [FileHit]
	Numbers []float32
}

// vectors are the vectors of one model, in memory. They are read at the first use.
type vectors struct {
	mu    sync.Mutex
	model string // the model of these vectors; "" before any were read
	all   []packed
	room  int // the space that is left, in bytes
}

type packed struct {
	sum   string
	scale float32
	data  []int8
}

// pack returns a vector normalised to length 1, with a byte for each number.
func pack(sum string, numbers []float32) packed {
	length, most := 0.0, 0.0
	for _, x := range numbers {
		length += float64(x) * float64(x)
		most = max(most, math.Abs(float64(x)))
	}
	p := packed{sum: sum, data: make([]int8, len(numbers))}
	if length = math.Sqrt(length); length == 0 || math.IsInf(length, 0) || math.IsNaN(length) {
		return packed{sum: sum}
	}
	for i, x := range numbers {
		p.data[i] = int8(math.Round(float64(x) / most * 127))
	}
	p.scale = float32(most / length / 127)
	return p
}

// blob returns a packed vector in the form of the file.
func (p packed) blob() []byte {
	b := binary.LittleEndian.AppendUint32(nil, math.Float32bits(p.scale))
	for _, x := range p.data {
		b = append(b, byte(x))
	}
	return b
}

func unpack(sum string, blob []byte) packed {
	p := packed{sum: sum}
	if len(blob) > 4 {
		p.scale, p.data = math.Float32frombits(binary.LittleEndian.Uint32(blob)), make([]int8, len(blob)-4)
		for i, x := range blob[4:] {
			p.data[i] = int8(x)
		}
	}
	return p
}

// cosine returns the cosine of two vectors, from -1 to 1, and 0 for vectors of different lengths.
func (p packed) cosine(q packed) float64 {
	if len(p.data) != len(q.data) {
		return 0
	}
	other, sum := q.data[:len(p.data)], int32(0)
	for i, x := range p.data {
		sum += int32(x) * int32(other[i])
	}
	return float64(sum) * float64(p.scale) * float64(q.scale)
}

// PutVectors stores vectors of a model. It deletes those of other models.
func (f *Files) PutVectors(ctx context.Context, model string, made ...Vector) error {
	all := make([]packed, len(made))
	for i, v := range made {
		all[i] = pack(v.Sum, v.Numbers)
	}
	err := f.change(ctx, "keep vectors", func(ctx context.Context, w *writer) error {
		// Only an index with vectors needs it, so it is created here and not for everyone.
		if _, err := w.ExecContext(ctx, "CREATE INDEX IF NOT EXISTS part_sum ON part (sum)"); err != nil {
			return err
		}
		if _, err := w.ExecContext(ctx, "DELETE FROM vector WHERE model <> ?", model); err != nil {
			return err
		}
		for _, p := range all {
			if _, err := w.ExecContext(ctx, "INSERT OR REPLACE INTO vector (sum, model, data) VALUES (?, ?, ?)", p.sum, model, p.blob()); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		f.vectors.add(model, all)
	}
	return err
}

// PruneVectors deletes the vectors that belong to no part.
func (f *Files) PruneVectors(ctx context.Context) error {
	err := f.change(ctx, "throw vectors away", func(ctx context.Context, w *writer) error {
		_, err := w.ExecContext(ctx, "DELETE FROM vector WHERE sum NOT IN (SELECT sum FROM part)")
		return err
	})
	f.vectors.forget()
	return err
}

// WithoutVector returns the parts without a vector of the model in one document: the first such
// document after the path after. Parts of the scope without do not count. It returns none if all
// have one.
func (f *Files) WithoutVector(ctx context.Context, model, without, after string) ([]FileHit, error) {
	hits, err := collect(ctx, f.readers, scanFileHit, "SELECT 0"+hitColumns+` FROM part JOIN document ON document.row = part.document
		WHERE part.document = (SELECT d.row FROM document AS d CROSS JOIN part AS p ON p.document = d.row
			WHERE d.path > ?3 AND p.scope <> ?1
				AND NOT EXISTS (SELECT 1 FROM vector AS v WHERE v.sum = p.sum AND v.model = ?2)
			ORDER BY d.path LIMIT 1)
			AND part.scope <> ?1 AND NOT EXISTS (SELECT 1 FROM vector AS v WHERE v.sum = part.sum AND v.model = ?2)`, without, model, after)
	if err != nil {
		return nil, fmt.Errorf("look for what has no vector: %w", err)
	}
	return hits, nil
}

// Nearest returns the parts whose vectors are most like a vector of the same model, the most alike
// first, among those that the query without its text selects. Score is the cosine, and least is its
// lower bound.
func (f *Files) Nearest(ctx context.Context, model string, q FileQuery, like []float32, least float64) ([]FileHit, error) {
	near, err := f.near(ctx, model, pack("", like), least)
	if err != nil || len(near) == 0 {
		return nil, err
	}
	var where []string
	var args []any
	q.conditions(func(condition string, values ...any) { where, args = append(where, condition), append(args, values...) })
	sums, err := json.Marshal(slices.Collect(maps.Keys(near)))
	if err != nil {
		return nil, fmt.Errorf("look for what is alike: %w", err)
	}
	where, args = append(where, "part.sum IN (SELECT value FROM json_each(?))"), append(args, string(sums))
	hits, err := collect(ctx, f.readers, scanFileHit, "SELECT 0"+hitColumns+" FROM part JOIN document ON document.row = part.document WHERE "+
		strings.Join(where, " AND ")+" ORDER BY part.day DESC, document.path, part.line", args...)
	if err != nil {
		return nil, fmt.Errorf("look for what is alike: %w", err)
	}
	for i, h := range hits {
		hits[i].Score = near[h.Part.Sum]
	}
	slices.SortStableFunc(hits, func(a, b FileHit) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
	return hits[:min(len(hits), q.limit())], nil
}

// nearMost is how many vectors are compared with the query, which excludes some of them.
const nearMost = 400

// near returns the cosines of the vectors that are most like one, by their checksums.
func (f *Files) near(ctx context.Context, model string, like packed, least float64) (map[string]float64, error) {
	all, err := f.vectors.of(ctx, f.readers, model)
	if err != nil {
		return nil, err
	}
	type alike struct {
		sum    string
		cosine float64
	}
	var found []alike
	for _, v := range all {
		if cosine := v.cosine(like); cosine >= least {
			found = append(found, alike{v.sum, cosine})
		}
	}
	slices.SortFunc(found, func(a, b alike) int {
		if a.cosine != b.cosine {
			if a.cosine > b.cosine {
				return -1
			}
			return 1
		}
		return strings.Compare(a.sum, b.sum)
	})
	near := map[string]float64{}
	for _, a := range found[:min(len(found), nearMost)] {
		near[a.sum] = a.cosine
	}
	return near, nil
}

// of returns the vectors of a model. It reads them if they are not in memory.
func (v *vectors) of(ctx context.Context, from reader, model string) ([]packed, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.model == model && model != "" {
		return v.all, nil
	}
	v.room = vectorsBytes
	all, err := collect(ctx, from, func(row scanner) (packed, error) {
		var sum string
		var blob []byte
		if err := row.Scan(&sum, &blob); err != nil {
			return packed{}, err
		}
		if v.room -= len(blob); v.room < 0 {
			return packed{sum: sum}, nil
		}
		return unpack(sum, blob), nil
	}, "SELECT sum, data FROM vector WHERE model = ? AND length(data) > 4", model)
	if err != nil {
		return nil, fmt.Errorf("read the vectors: %w", err)
	}
	v.all, v.model = slices.DeleteFunc(all, func(p packed) bool { return p.data == nil }), model
	return v.all, nil
}

// add adds vectors that were written to the file, if the others are in memory.
func (v *vectors) add(model string, made []packed) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.model != model {
		v.model, v.all = "", nil // they may have been deleted
		return
	}
	for _, p := range made {
		if v.room -= len(p.data) + 4; p.data != nil && v.room >= 0 {
			v.all = append(v.all, p)
		}
	}
}

// forget drops the vectors, so that they are read again.
func (v *vectors) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.model, v.all = "", nil
}
