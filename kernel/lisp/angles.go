package lisp

import "math"

// Half of pi, and what of it does not fit into a float.
const (
	rightAngle     = math.Pi / 2
	rightAngleRest = 6.123233995736766e-17
)

// remainder is what is left of an angle beside the nearest multiple of a right angle, if
// that is little: there package math loses the digits that matter, as in the sine of pi.
func remainder(x float64) (rest float64, quarter int, little bool) {
	n := math.RoundToEven(x / rightAngle)
	if n == 0 || math.Abs(n) > 1<<20 {
		return 0, 0, false
	}
	rest = math.FMA(-n, rightAngleRest, math.FMA(-n, rightAngle, x))
	return rest, int(n) & 3, math.Abs(rest) < 1e-3
}

func sine(x float64) float64 {
	rest, quarter, little := remainder(x)
	switch {
	case !little:
		return math.Sin(x)
	case quarter == 0:
		return math.Sin(rest)
	case quarter == 1:
		return math.Cos(rest)
	case quarter == 2:
		return -math.Sin(rest)
	}
	return -math.Cos(rest)
}

func cosine(x float64) float64 {
	rest, quarter, little := remainder(x)
	switch {
	case !little:
		return math.Cos(x)
	case quarter == 0:
		return math.Cos(rest)
	case quarter == 1:
		return -math.Sin(rest)
	case quarter == 2:
		return -math.Cos(rest)
	}
	return math.Sin(rest)
}

func tangent(x float64) float64 {
	rest, quarter, little := remainder(x)
	switch {
	case !little:
		return math.Tan(x)
	case quarter&1 == 0:
		return math.Tan(rest)
	}
	return -1 / math.Tan(rest)
}
