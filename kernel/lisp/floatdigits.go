package lisp

import (
	"math"
	"math/big"
)

// A float stands for all numbers that round to it. Its digits are the fewest that lie between its
// neighbours, and with a position, the fewest that also lie within half of that decimal place. This is how
// SBCL prints floats, so that no digit is invented: 0.1 to ten places is 0.1000000000.

// digitsOf returns the digits of a float that is not zero and positive, and the power of ten in front of
// which they stand: "314" and 1 are 3.14. If placed is true, digits behind 10^position are rounded.
func digitsOf(v Value, x float64, placed bool, position int) (digits string, power int) {
	g := newDigits(v, x)
	if placed {
		g.widen(position)
	}
	return g.generate()
}

// digitsWithin is digitsOf for so many digits at most.
func digitsWithin(v Value, x float64, count int) (digits string, power int) {
	g := newDigits(v, x)
	k := g.above()
	// r + s*10^(k-count)/2 < s*10^k, both times 2 and, if count is greater than k, 10^(count-k).
	rounded, half, limit := new(big.Int).Lsh(g.r, 1), new(big.Int).Set(g.s), new(big.Int).Mul(g.s, powerOfTen(k))
	limit.Lsh(limit, 1)
	if position := k - count; position < 0 {
		rounded.Mul(rounded, powerOfTen(-position))
		limit.Mul(limit, powerOfTen(-position))
	} else {
		half.Mul(half, powerOfTen(position))
	}
	position := k - count
	if rounded.Add(rounded, half).Cmp(limit) >= 0 {
		position--
	}
	g.widen(position)
	return g.generate()
}

// floatInterval is a float as r/s, with the distances to the ends of what rounds to it as above/s and
// below/s.
type floatInterval struct {
	r, s, up, down *big.Int
	upOK, downOK   bool
}

func newDigits(v Value, x float64) *floatInterval {
	mantissaBits, least := 53, -1074
	if _, double := v.(float64); !double {
		mantissaBits, least = 24, -149
		x = float64(float32(x))
	}
	fraction, exponent := math.Frexp(x)
	e := max(exponent-mantissaBits, least)
	f := int64(math.Ldexp(fraction, exponent-e))
	g := &floatInterval{upOK: f%2 == 0, downOK: f%2 == 0}
	one := big.NewInt(1)
	unit, divisor := new(big.Int).Lsh(one, uint(max(e, 0))), new(big.Int).Lsh(one, uint(max(-e, 0)))
	g.down = unit
	g.up = unit
	g.r, g.s = new(big.Int).Mul(big.NewInt(f), new(big.Int).Lsh(unit, 1)), new(big.Int).Lsh(divisor, 1)
	if f == 1<<(mantissaBits-1) && e > least { // the neighbour below is nearer
		g.up = new(big.Int).Lsh(unit, 1)
		g.r.Lsh(g.r, 1)
		g.s.Lsh(g.s, 1)
	}
	return g
}

func powerOfTen(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// above returns the least power of ten, not below 0, that is no less than the end of the interval.
func (g *floatInterval) above() int {
	k, end, limit := 0, new(big.Int).Add(g.r, g.up), new(big.Int).Set(g.s)
	for limit.Cmp(end) < 0 {
		limit.Mul(limit, big.NewInt(10))
		k++
	}
	return k
}

// widen makes the interval at least half of 10^position wide on both sides.
func (g *floatInterval) widen(position int) {
	factor := big.NewInt(2)
	if position < 0 {
		factor.Mul(factor, powerOfTen(-position))
	}
	half := new(big.Int).Set(g.s) // s*10^position/2 over the new denominator
	if position > 0 {
		half.Mul(half, powerOfTen(position))
	}
	for _, n := range []**big.Int{&g.r, &g.s, &g.up, &g.down} {
		*n = new(big.Int).Mul(*n, factor)
	}
	if g.up.Cmp(half) <= 0 {
		g.up = half
	}
	if g.down.Cmp(half) <= 0 {
		g.down = half
	}
	g.upOK, g.downOK = true, true
}

// generate returns the fewest digits within the interval.
func (g *floatInterval) generate() (digits string, power int) {
	ten := big.NewInt(10)
	r, s, up, down := new(big.Int).Set(g.r), new(big.Int).Set(g.s), new(big.Int).Set(g.up), new(big.Int).Set(g.down)
	reaches := func(n *big.Int) bool { c := n.Cmp(s); return c > 0 || g.upOK && c == 0 }
	for end := new(big.Int).Add(r, up); reaches(end); power++ {
		s.Mul(s, ten)
	}
	for r.Cmp(down) > 0 {
		end := new(big.Int).Add(r, up)
		end.Mul(end, ten)
		if c := end.Cmp(s); c > 0 || g.upOK && c == 0 {
			break
		}
		power--
		r.Mul(r, ten)
		up.Mul(up, ten)
		down.Mul(down, ten)
	}
	var out []byte
	for {
		d, rest := new(big.Int).QuoRem(r.Mul(r, ten), s, new(big.Int))
		r = rest
		up.Mul(up, ten)
		down.Mul(down, ten)
		c := r.Cmp(down)
		low := c < 0 || g.downOK && c == 0
		high := reaches(new(big.Int).Add(r, up))
		digit := byte(d.Int64())
		if !low && !high {
			out = append(out, '0'+digit)
			continue
		}
		if high && (!low || new(big.Int).Lsh(r, 1).Cmp(s) >= 0) && digit < 9 {
			digit++
		}
		return string(append(out, '0'+digit)), power
	}
}
