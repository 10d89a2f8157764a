package lisp

import (
	"math"
	"math/big"
	"testing"
)

// TestSmallQuotients compares division of small integers with that of ratios.
func TestSmallQuotients(t *testing.T) {
	numbers := []int64{math.MaxInt64, math.MaxInt64 - 1, -math.MaxInt64, 1 << 62, -1 << 62, 1<<62 + 1, 4611686018427387903}
	for n := int64(-9); n <= 9; n++ {
		numbers = append(numbers, n)
	}
	for _, x := range numbers {
		for _, y := range numbers {
			if y == 0 {
				continue
			}
			for how := floorRounding; how <= roundRounding; how++ {
				ratio := big.NewRat(x, y)
				if got, want := roundedQuotient(x, y, how), roundedDivision(ratio.Num(), ratio.Denom(), how); !want.IsInt64() || got != want.Int64() {
					t.Errorf("%d by %d, way %d: %d, want %d", x, y, how, got, want)
				}
			}
		}
	}
}
