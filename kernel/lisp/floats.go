package lisp

import (
	"math"
	"math/big"
	"math/cmplx"
)

// Complex is a complex number. Its parts are both rational, the imaginary one then not
// zero, or floats of one type. It does not change.
type Complex struct{ real, imaginary Value }

// complexFunctions make complex numbers and take them apart.
func complexFunctions() []Builtin {
	return []Builtin{
		{Name: "complex", LambdaList: "(real &optional imaginary)", Doc: "The complex number with these parts; rationals without an imaginary part stay what they are.", Named: func(c *Call, args Args) Value {
			realArg, imaginaryArg := args.Get("real"), args.Get("imaginary")
			imaginary := Value(Integer(0))
			if imaginaryArg != nil {
				imaginary = imaginaryArg
			}
			c.realNumber(realArg)
			c.realNumber(imaginary)
			return c.complex(realArg, imaginary)
		}},
		{Name: "realpart", LambdaList: "(number)", Doc: "The real part, of a real number itself.", One: func(c *Call, a Value) Value {
			c.number(a)
			return realPart(a)
		}},
		{Name: "imagpart", LambdaList: "(number)", Doc: "The imaginary part, of a real number zero.", One: func(c *Call, a Value) Value {
			switch z := a.(type) {
			case *Complex:
				return z.imaginary
			case *big.Int, *big.Rat:
				return Integer(0)
			}
			return c.multiply(a, Integer(0))
		}},
		{Name: "conjugate", LambdaList: "(number)", Doc: "The number with the other sign of its imaginary part.", One: func(c *Call, a Value) Value {
			c.number(a)
			if z, ok := a.(*Complex); ok {
				return c.complex(z.real, c.negate(z.imaginary))
			}
			return a
		}},
		{Name: "phase", LambdaList: "(number)", Doc: "The angle of the number in the complex plane.", One: func(c *Call, a Value) Value {
			c.number(a)
			if z, ok := a.(*Complex); ok {
				return c.toFloat(math.Atan2(c.double(z.imaginary), c.double(z.real)), z.real)
			}
			if math.Signbit(c.double(a)) {
				return c.toFloat(math.Pi, a)
			}
			return c.toFloat(0.0, a)
		}},
		{Name: "cis", LambdaList: "(angle)", Doc: "The complex number of length 1 with this angle.", One: func(c *Call, a Value) Value {
			c.realNumber(a)
			sin, cos := math.Sincos(c.double(a))
			return c.complex(c.toFloat(cos, a), c.toFloat(sin, a))
		}},
		{Name: "upgraded-complex-part-type", LambdaList: "(type &optional environment)", Doc: "The type of the parts of complex numbers with parts of the type.", Named: func(c *Call, args Args) Value {
			kind := args.Get("type")
			c.checkPartType(kind)
			return kind
		}},
	}
}

// complex makes the number with these real parts, which is real when it is rational and
// has no imaginary part.
func (c *Call) complex(real, imaginary Value) Value {
	k := max(kindOf(real), kindOf(imaginary))
	if k < singleKind {
		if imaginary == Integer(0) {
			return real
		}
	} else if kindOf(real) != kindOf(imaginary) {
		like := Value(float32(0))
		if k == doubleKind {
			like = float64(0)
		}
		real, imaginary = c.toFloat(real, like), c.toFloat(imaginary, like)
	}
	return Allocate(c, Complex{real: real, imaginary: imaginary})
}

func realPart(v Value) Value {
	if z, ok := v.(*Complex); ok {
		return z.real
	}
	return v
}

func imaginaryPart(v Value) Value {
	if z, ok := v.(*Complex); ok {
		return z.imaginary
	}
	return Integer(0)
}

// complexArithmetic does one operation of which an operand is complex. A real operand
// meets each part by itself.
func (c *Call) complexArithmetic(a, b Value, operator byte) Value {
	x, aComplex := a.(*Complex)
	y, bComplex := b.(*Complex)
	switch {
	case operator == '+':
		return c.complex(c.add(realPart(a), realPart(b)), c.add(imaginaryPart(a), imaginaryPart(b)))
	case operator == '-':
		return c.complex(c.subtract(realPart(a), realPart(b)), c.subtract(imaginaryPart(a), imaginaryPart(b)))
	case operator == '/' && bComplex:
		return c.complexQuotient(a, y)
	case operator == '/':
		return c.complex(c.divide(x.real, b), c.divide(x.imaginary, b))
	case !aComplex:
		return c.complex(c.multiply(a, y.real), c.multiply(a, y.imaginary))
	case !bComplex:
		return c.complex(c.multiply(x.real, b), c.multiply(x.imaginary, b))
	}
	return c.complex(
		c.subtract(c.multiply(x.real, y.real), c.multiply(x.imaginary, y.imaginary)),
		c.add(c.multiply(x.real, y.imaginary), c.multiply(x.imaginary, y.real)))
}

// complexQuotient divides by the larger part of the divisor first, so that nothing
// overflows on the way to a quotient that does not.
func (c *Call) complexQuotient(a Value, y *Complex) Value {
	re, im := realPart(a), imaginaryPart(a)
	large, small := y.real, y.imaginary
	turned := c.compare(c.absolute(large), c.absolute(small)) <= 0
	if turned {
		large, small = small, large
	}
	ratio := c.divide(small, large)
	divisor := c.add(large, c.multiply(small, ratio))
	if turned {
		return c.complex(c.divide(c.add(c.multiply(re, ratio), im), divisor), c.divide(c.subtract(c.multiply(im, ratio), re), divisor))
	}
	return c.complex(c.divide(c.add(re, c.multiply(im, ratio)), divisor), c.divide(c.subtract(im, c.multiply(re, ratio)), divisor))
}

// complexValue is any number for the functions of package cmplx.
func (c *Call) complexValue(v Value) complex128 {
	return complex(c.double(realPart(v)), c.double(imaginaryPart(v)))
}

// fromComplex makes a complex number of the float type that the number like has.
func (c *Call) fromComplex(z complex128, like Value) Value {
	like = realPart(like)
	return c.complex(c.toFloat(real(z), like), c.toFloat(imag(z), like))
}

// analytic is a function on the reals as far as it goes, and on the complex plane
// elsewhere.
func analytic(name, doc string, real func(float64) float64, plane func(complex128) complex128) Builtin {
	return Builtin{Name: name, LambdaList: "(number)", Doc: doc, One: func(c *Call, a Value) Value {
		c.number(a)
		if _, isComplex := a.(*Complex); !isComplex {
			if y := real(c.double(a)); !math.IsNaN(y) {
				return c.toFloat(y, a)
			}
		}
		z := plane(c.complexValue(a))
		if cmplx.IsNaN(z) {
			c.Fail(arithmeticError, "%s has no value for %s", name, c.Shown(a))
		}
		return c.fromComplex(z, a)
	}}
}

// arcSine and its like leave the real line at the ends of the interval they are
// defined on. On a cut beyond it they belong to the side SBCL takes.
func arcSine(z complex128) complex128 {
	if imag(z) == 0 && math.Abs(real(z)) > 1 {
		return complex(math.Copysign(math.Pi/2, real(z)), -math.Copysign(math.Acosh(math.Abs(real(z))), real(z)))
	}
	return cmplx.Asin(z)
}

func arcCosine(z complex128) complex128 {
	if imag(z) == 0 && math.Abs(real(z)) > 1 {
		return complex(math.Pi/2-math.Copysign(math.Pi/2, real(z)), math.Copysign(math.Acosh(math.Abs(real(z))), real(z)))
	}
	return cmplx.Acos(z)
}

func hyperbolicArcTangent(z complex128) complex128 {
	if imag(z) == 0 && math.Abs(real(z)) > 1 {
		return complex(math.Log((real(z)+1)/(real(z)-1))/2, math.Pi/2)
	}
	return cmplx.Atanh(z)
}

func isZero(v Value) bool { return sign(realPart(v)) == 0 && sign(imaginaryPart(v)) == 0 }

// checkPartType refuses types of which not all objects are real numbers.
func (c *Call) checkPartType(kind Value) {
	if yes, sure := c.subtype(kind, symReal); yes == Nil && sure != Nil {
		c.Fail(SimpleError, "the parts of complex numbers are real numbers, not %s", c.Shown(kind))
	}
}

var symReal = CL("REAL")

// complexOfType makes a number a complex one with parts of a type, as coerce does.
func (c *Call) complexOfType(v, part Value) Value {
	switch part {
	case symStar, symReal, symRational:
	case CL("DOUBLE-FLOAT"), CL("LONG-FLOAT"):
		return c.complex(c.toFloat(realPart(v), float64(0)), c.toFloat(imaginaryPart(v), float64(0)))
	case CL("SINGLE-FLOAT"), CL("SHORT-FLOAT"), CL("FLOAT"):
		if part == CL("FLOAT") && max(kindOf(realPart(v)), kindOf(imaginaryPart(v))) >= singleKind {
			break
		}
		return c.complex(c.toFloat(realPart(v), float32(0)), c.toFloat(imaginaryPart(v), float32(0)))
	}
	return c.complex(realPart(v), imaginaryPart(v))
}

// partType is the type that type-of says of a complex number's parts.
func (c *Call) partType(z *Complex) Value {
	low, high := z.real, z.imaginary
	if c.compare(low, high) > 0 {
		low, high = high, low
	}
	kind := "RATIONAL"
	switch a, b := kindOf(low), kindOf(high); {
	case a == singleKind:
		kind = "SINGLE-FLOAT"
	case a == doubleKind:
		kind = "DOUBLE-FLOAT"
	case max(a, b) < ratioKind:
		kind = "INTEGER"
	}
	return NewList(CL(kind), low, high)
}

var symComplex = CL("COMPLEX")

var symRational = CL("RATIONAL")

// logarithm is log; b is nil where there is no base.
func logarithm(c *Call, a, b Value) Value {
	c.number(a)
	if b == nil {
		if isZero(a) {
			c.divisionByZero(CL("LOG"), a)
		}
		return c.fromLogarithm(c.naturalLogarithm(a), a)
	}
	c.number(b)
	if isZero(a) {
		c.divisionByZero(CL("LOG"), a, b)
	}
	if isZero(b) {
		return c.toFloat(0.0, realPart(c.add(c.multiply(a, Integer(0)), b)))
	}
	// Logarithms to the base two keep powers of integers exact.
	x, aPositive := c.binaryLogarithm(a)
	y, bPositive := c.binaryLogarithm(b)
	_, aDouble := a.(float64)
	_, bDouble := b.(float64)
	switch {
	case aPositive && bPositive && y != 0:
		return c.toFloat(x/y, Nil)
	case aPositive && bDouble && sign(b) > 0 && b != Value(1.0):
		return x / (math.Log(c.double(b)) / math.Ln2)
	case bPositive && aDouble && sign(a) > 0 && y != 0:
		return math.Log(c.double(a)) / math.Ln2 / y
	}
	return c.divide(logarithm(c, a, nil), logarithm(c, b, nil))
}

// binaryLogarithm is that of a positive integer.
func (c *Call) binaryLogarithm(v Value) (x float64, positive bool) {
	switch n := v.(type) {
	case int64:
		return math.Log2(float64(n)), n > 0
	case *big.Int:
		mantissa, exponent := c.binaryParts(n)
		return math.Log2(mantissa) + exponent, n.Sign() > 0
	}
	return 0, false
}

// binaryParts are a number below one and a power of two that make an integer.
func (c *Call) binaryParts(n *big.Int) (mantissa, exponent float64) {
	c.chargeExact(n, n, conversionCost)
	fraction := new(big.Float)
	exponent = float64(new(big.Float).SetInt(n).MantExp(fraction))
	mantissa, _ = fraction.Float64()
	return mantissa, exponent
}

// naturalLogarithm is that of a number which is not zero, of integers of any size.
func (c *Call) naturalLogarithm(v Value) complex128 {
	if n, ok := v.(*big.Int); ok {
		mantissa, exponent := c.binaryParts(n)
		return cmplx.Log(complex(mantissa, 0)) + complex(exponent*math.Ln2, 0)
	}
	return cmplx.Log(c.complexValue(v))
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
	if k == complexKind || other == complexKind || sign(base) < 0 && !whole && other < complexKind && !c.integral(exponent) {
		return c.complexPower(base, exponent)
	}
	if whole && k < singleKind {
		size := float64(bits(base)) * math.Abs(float64(n))
		if base == Integer(1) || base == Integer(-1) || base == Integer(0) {
			size = 64
		} else if x, ok := base.(int64); ok {
			size = float64(new(big.Int).SetInt64(x).BitLen()) * math.Abs(float64(n))
		}
		if k == ratioKind {
			size *= 6 // a common divisor is searched in vain
		}
		c.chargeBits(2 * size)
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
	y := math.Pow(c.double(base), c.double(exponent))
	if math.IsNaN(y) {
		c.Fail(arithmeticError, "%s to the power of %s has no real value", c.Shown(base), c.Shown(exponent))
	}
	_, a := base.(float64)
	_, b := exponent.(float64)
	return c.finite(y, !a && !b, base, exponent)
}

// chargeBits accounts for an integer of so many bits, however many they are.
func (c *Call) chargeBits(n float64) {
	if n > 8*float64(c.left()) {
		c.chargeAll()
	}
	c.ChargeMany(int(n/8)+exactBytes, 1)
}

// integral reports a real number without a fraction.
func (c *Call) integral(v Value) bool {
	if _, ratio := v.(*big.Rat); ratio {
		return false
	}
	x := c.double(v)
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
		return c.fromComplex(cmplx.Pow(c.complexValue(base), c.complexValue(power)), like)
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

// floatPartFunctions take floats apart and put them together.
func floatPartFunctions() []Builtin {
	return []Builtin{
		{Name: "float-radix", LambdaList: "(float)", Doc: "2.", One: func(c *Call, a Value) Value { c.floatArgument(a); return Integer(2) }},
		{Name: "float-digits", LambdaList: "(float)", Doc: "The bits of the mantissa.", One: func(c *Call, a Value) Value { _, digits := c.floatArgument(a); return Count(digits) }},
		{Name: "float-precision", LambdaList: "(float)", Doc: "The significant bits.", One: func(c *Call, a Value) Value {
			x, digits := c.floatArgument(a)
			if x == 0 {
				return Integer(0)
			}
			if least := map[int]int{24: -125, 53: -1021}[digits]; math.Ilogb(x)+1 < least {
				return Count(digits - (least - math.Ilogb(x) - 1))
			}
			return Count(digits)
		}},
		{Name: "float-sign", LambdaList: "(float &optional magnitude)", Doc: "The magnitude, 1 by default, with the sign of the float.", Named: func(c *Call, args Args) Value {
			float, magnitude := args.Get("float"), args.Get("magnitude")
			x, digits := c.floatArgument(float)
			size, wide := 1.0, digits
			if magnitude != nil {
				size, wide = c.floatArgument(magnitude)
				wide = max(wide, digits)
			}
			return c.finite(math.Copysign(size, x), wide == 24, float)
		}},
		{Name: "decode-float", LambdaList: "(float)", Doc: "Mantissa from a half to below one, exponent and sign.", Many: true, One: func(c *Call, a Value) Value {
			x, digits := c.floatArgument(a)
			mantissa, exponent := math.Frexp(math.Abs(x))
			single := digits == 24
			return c.Values(c.finite(mantissa, single), Count(exponent), c.finite(math.Copysign(1, x), single))
		}},
		{Name: "integer-decode-float", LambdaList: "(float)", Doc: "Mantissa as an integer, exponent and sign.", Many: true, One: integerDecode},
		{Name: "scale-float", LambdaList: "(float exponent)", Doc: "The float times two to the exponent.", Two: func(c *Call, a, b Value) Value {
			x, digits := c.floatArgument(a)
			n := int(max(min(c.Fixnum(b), 1<<20), -1<<20))
			return c.finite(math.Ldexp(x, n), digits == 24, a, b)
		}},
	}
}

func (c *Call) floatArgument(v Value) (x float64, digits int) {
	switch x := v.(type) {
	case float32:
		return float64(x), 24
	case float64:
		return x, 53
	}
	c.TypeError(v, "FLOAT")
	return 0, 0
}

func integerDecode(c *Call, a Value) Value {
	x, digits := c.floatArgument(a)
	sign := Integer(1)
	if math.Signbit(x) {
		sign = Integer(-1)
	}
	least, exponent := map[int]int{24: -149, 53: -1074}[digits], 0
	if x == 0 {
		return c.Values(Integer(0), Count(least), sign)
	}
	mantissa, power := math.Frexp(math.Abs(x))
	exponent = power - digits
	bits := digits
	if exponent < least { // a denormalized number
		bits -= least - exponent
		exponent = least
	}
	n, _ := new(big.Float).SetFloat64(math.Ldexp(mantissa, bits)).Int(nil)
	return c.Values(normal(n), Count(exponent), sign)
}
