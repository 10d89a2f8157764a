package lisp

import (
	"math"
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
			if z, ok := a.(*Complex); ok {
				return z.imaginary
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
				return c.toFloat(math.Atan2(double(z.imaginary), double(z.real)), z.real)
			}
			if math.Signbit(double(a)) {
				return c.toFloat(math.Pi, a)
			}
			return c.toFloat(0.0, a)
		}},
		{Name: "cis", LambdaList: "(angle)", Doc: "The complex number of length 1 with this angle.", One: func(c *Call, a Value) Value {
			c.realNumber(a)
			sin, cos := math.Sincos(double(a))
			return c.complex(c.toFloat(cos, a), c.toFloat(sin, a))
		}},
		{Name: "upgraded-complex-part-type", LambdaList: "(type &optional environment)", Doc: "The type of the parts of complex numbers with parts of the type.", Call: func(c *Call, args []Value) Value {
			c.checkPartType(args[0])
			return args[0]
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
	c.Charge(ConsBytes)
	return &Complex{real: real, imaginary: imaginary}
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
func complexValue(v Value) complex128 {
	return complex(double(realPart(v)), double(imaginaryPart(v)))
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
			if y := real(double(a)); !math.IsNaN(y) {
				return c.toFloat(y, a)
			}
		}
		z := plane(complexValue(a))
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
