package rich

import "slices"

// Entity is a span, measured in UTF-16 code units.
type Entity struct {
	Offset, Length int
	Style          Style
	Value          string
}

// UTF16 returns the spans of the text, measured in UTF-16 code units, in the same order.
func (t Text) UTF16() []Entity {
	if len(t.Spans) == 0 {
		return nil
	}
	places := make([]int, 0, 2*len(t.Spans))
	for _, s := range t.Spans {
		places = append(places, s.Start, s.End)
	}
	slices.Sort(places)
	places = slices.Compact(places)
	units := make([]int, len(places))
	from, n := 0, 0
	for i, place := range places {
		n += Length(t.Plain[from:place])
		units[i], from = n, place
	}
	at := func(place int) int {
		i, _ := slices.BinarySearch(places, place)
		return units[i]
	}
	entities := make([]Entity, len(t.Spans))
	for i, s := range t.Spans {
		start := at(s.Start)
		entities[i] = Entity{Offset: start, Length: at(s.End) - start, Style: s.Style, Value: s.Value}
	}
	return entities
}
