package llm

// Price is what a model costs, in US dollars per million tokens. Cached is the price of input that the
// server reads from its cache, Written that of input that it writes into the cache. Where they are nil
// such input costs as much as any other.
type Price struct {
	Input, Output   float64
	Cached, Written *float64
}

// Of returns the price of a usage in US dollars. A token is counted once: what was read from the cache or
// written into it is part of the input, and thinking is part of the output.
func (p Price) Of(u Usage) float64 {
	cached := min(u.Cached, u.Input)
	written := min(u.Written, u.Input-cached)
	sum := p.Input*float64(u.Input-cached-written) + p.Output*float64(u.Output)
	for _, part := range []struct {
		tokens int
		price  *float64
	}{{cached, p.Cached}, {written, p.Written}} {
		price := p.Input
		if part.price != nil {
			price = *part.price
		}
		sum += price * float64(part.tokens)
	}
	return sum / 1e6
}
