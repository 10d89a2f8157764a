package lisp

import (
	"math"
	"math/big"
	"math/cmplx"
)

func logarithm(c *Call, args []Value) Value {
	for _, arg := range args {
		c.number(arg)
	}
	if isZero(args[0]) {
		c.divisionByZero(CL("LOG"), args...)
	}
	if len(args) == 1 {
		return c.fromLogarithm(naturalLogarithm(args[0]), args[0])
	}
	a, b := args[0], args[1]
	if isZero(b) {
		return c.toFloat(0.0, realPart(c.add(c.multiply(a, Integer(0)), b)))
	}
	// Logarithms to the base two keep powers of integers exact.
	x, aPositive := binaryLogarithm(a)
	y, bPositive := binaryLogarithm(b)
	_, aDouble := a.(float64)
	_, bDouble := b.(float64)
	switch {
	case aPositive && bPositive && y != 0:
		return c.toFloat(x/y, Nil)
	case aPositive && bDouble && sign(b) > 0 && b != Value(1.0):
		return x / (math.Log(double(b)) / math.Ln2)
	case bPositive && aDouble && sign(a) > 0 && y != 0:
		return math.Log(double(a)) / math.Ln2 / y
	}
	return c.divide(logarithm(c, args[:1]), logarithm(c, args[1:]))
}

// binaryLogarithm is that of a positive integer.
func binaryLogarithm(v Value) (x float64, positive bool) {
	switch n := v.(type) {
	case int64:
		return math.Log2(float64(n)), n > 0
	case *big.Int:
		mantissa, exponent := binaryParts(n)
		return math.Log2(mantissa) + exponent, n.Sign() > 0
	}
	return 0, false
}

// binaryParts are a number below one and a power of two that make an integer.
func binaryParts(n *big.Int) (mantissa, exponent float64) {
	fraction := new(big.Float)
	exponent = float64(new(big.Float).SetInt(n).MantExp(fraction))
	mantissa, _ = fraction.Float64()
	return mantissa, exponent
}

// naturalLogarithm is that of a number which is not zero, of integers of any size.
func naturalLogarithm(v Value) complex128 {
	if n, ok := v.(*big.Int); ok {
		mantissa, exponent := binaryParts(n)
		return cmplx.Log(complex(mantissa, 0)) + complex(exponent*math.Ln2, 0)
	}
	return cmplx.Log(complexValue(v))
}

// fromLogarithm makes a number that is real when it can be.
func (c *Call) fromLogarithm(z complex128, like Value) Value {
	if _, isComplex := like.(*Complex); imag(z) == 0 && !isComplex {
		return c.toFloat(real(z), like)
	}
	return c.fromComplex(z, like)
}

// power is expt.
func power(c *Call, base, exponent Value) Value {
	k := c.number(base)
	n, whole := exponent.(int64)
	other := c.number(exponent)
	if z, ok := base.(*Complex); ok && whole {
		return c.wholePower(z, n)
	}
	if k == complexKind || other == complexKind || sign(base) < 0 && !whole && other < complexKind && !integral(exponent) {
		return c.complexPower(base, exponent)
	}
	if whole && k < singleKind {
		size := float64(bits(base)) * math.Abs(float64(n))
		if base == Integer(1) || base == Integer(-1) || base == Integer(0) {
			size = 64
		} else if x, ok := base.(int64); ok {
			size = float64(new(big.Int).SetInt64(x).BitLen()) * math.Abs(float64(n))
		}
		if size > 8*float64(c.bytes) {
			c.Charge(int(c.bytes) + 1)
		}
		c.ChargeMany(int(size/8)+1, 1)
		c.Work(int(math.Pow(size/64, 1.6) / 16))
		return c.rationalPower(base, n)
	}
	if whole && n == 0 {
		return c.toFloat(1.0, base)
	}
	if sign(base) == 0 && sign(exponent) <= 0 {
		if sign(exponent) == 0 {
			c.Fail(arithmeticError, "zero to the power of %s is not defined", c.Shown(exponent))
		}
		c.divisionByZero(CL("EXPT"), base, exponent)
	}
	y := math.Pow(double(base), double(exponent))
	if math.IsNaN(y) {
		c.Fail(arithmeticError, "%s to the power of %s has no real value", c.Shown(base), c.Shown(exponent))
	}
	_, a := base.(float64)
	_, b := exponent.(float64)
	return c.finite(y, !a && !b, base, exponent)
}

// integral reports a real number without a fraction.
func integral(v Value) bool {
	if _, ratio := v.(*big.Rat); ratio {
		return false
	}
	x := double(v)
	return x == math.Trunc(x)
}

func (c *Call) rationalPower(base Value, n int64) Value {
	if n < 0 {
		return c.divide(Integer(1), c.rationalPower(base, -n))
	}
	if base == Integer(-1) {
		n %= 2
	} else if base == Integer(1) || base == Integer(0) && n > 0 {
		return base
	}
	e := big.NewInt(n)
	if r, ok := base.(*big.Rat); ok {
		return normalRatio(new(big.Rat).SetFrac(new(big.Int).Exp(r.Num(), e, nil), new(big.Int).Exp(r.Denom(), e, nil)))
	}
	return normal(new(big.Int).Exp(c.Integer(base), e, nil))
}

// complexPower is base to the power when one of them is complex, or the base is
// negative and the power no integer.
func (c *Call) complexPower(base, power Value) Value {
	like := c.add(realPart(base), realPart(power))
	if !isZero(base) {
		return c.fromComplex(cmplx.Pow(complexValue(base), complexValue(power)), like)
	}
	if sign(realPart(power)) > 0 {
		return c.multiply(base, power)
	}
	c.divisionByZero(CL("EXPT"), base, power)
	return nil
}

// wholePower multiplies a complex number with itself.
func (c *Call) wholePower(base *Complex, n int64) Value {
	if n < 0 {
		return c.divide(Integer(1), c.wholePower(base, -n))
	}
	result := c.complex(c.add(c.multiply(base.real, Integer(0)), Integer(1)), c.multiply(base.imaginary, Integer(0)))
	for square := Value(base); n > 0; n >>= 1 {
		c.Step()
		if n&1 == 1 {
			result = c.multiply(result, square)
		}
		if n > 1 {
			square = c.multiply(square, square)
		}
	}
	return result
}
