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

// Beside words, a part may have a vector that stands for what it means, made by a model
// elsewhere. Vectors are kept by what they were made of, so that a text that moves, or stands
// in a file that changes around it, keeps its own. A vector is kept as one byte a number: that
// costs half a per cent of a cosine and saves three quarters of the room.

// vectorsBytes is how much of them is compared with what is looked for; what is beyond is
// found by its words only. It is room for 80,000 vectors of 768 numbers.
const vectorsBytes = 64 << 20

// Vector is what a part means, for a model. One without numbers says that the model has none
// for that text.
type Vector struct {
	Sum     string // of what it was made of, as [FileHit] has it
	Numbers []float32
}

// vectors are those of one model, in memory. They are read when they are first asked for.
type vectors struct {
	mu    sync.Mutex
	model string // whose are here; "" before any were read
	all   []packed
	room  int // bytes that are left for more
}

type packed struct {
	sum   string
	scale float32
	data  []int8
}

// pack makes a vector one of length 1, with a byte for a number.
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

// blob is a packed vector as the file has it.
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

// cosine is how alike two vectors are, from -1 to 1; 0 for those of different lengths.
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

// PutVectors keeps vectors of a model. Those of other models are thrown away.
func (f *Files) PutVectors(ctx context.Context, model string, made ...Vector) error {
	all := make([]packed, len(made))
	for i, v := range made {
		all[i] = pack(v.Sum, v.Numbers)
	}
	err := f.change(ctx, "keep vectors", func(ctx context.Context, w *writer) error {
		// Made here, as only who has vectors needs it, and all others would wait for it.
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

// PruneVectors throws away what belongs to no part any more.
func (f *Files) PruneVectors(ctx context.Context) error {
	err := f.change(ctx, "throw vectors away", func(ctx context.Context, w *writer) error {
		_, err := w.ExecContext(ctx, "DELETE FROM vector WHERE sum NOT IN (SELECT sum FROM part)")
		return err
	})
	f.vectors.forget()
	return err
}

// WithoutVector returns the parts of one document that the model has no vector for, of those
// whose scope is not without: of the first such document behind the path after. None when
// all have one.
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

// Nearest returns the parts whose vectors are most like a vector of the same model, the most
// alike first, that the query asks for with all but its text. Score is the cosine, which is at
// least that much.
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

// nearMost is how many are alike enough to be looked at: what a query leaves out is among them.
const nearMost = 400

// near are the cosines of the vectors that are most like one, by their sums.
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

// of are the vectors of a model, read if they are not here.
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

// add takes in what was put into the file, if the others are here.
func (v *vectors) add(model string, made []packed) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.model != model {
		v.model, v.all = "", nil // they may have been thrown away
		return
	}
	for _, p := range made {
		if v.room -= len(p.data) + 4; p.data != nil && v.room >= 0 {
			v.all = append(v.all, p)
		}
	}
}

// forget has them read again.
func (v *vectors) forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.model, v.all = "", nil
}
