package lisp

import (
	"math"
	"math/big"
)

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
		{Name: "float-sign", LambdaList: "(float &optional magnitude)", Doc: "The magnitude, 1 by default, with the sign of the float.", Call: func(c *Call, args []Value) Value {
			x, digits := c.floatArgument(args[0])
			size, wide := 1.0, digits
			if len(args) > 1 {
				size, wide = c.floatArgument(args[1])
				wide = max(wide, digits)
			}
			return c.finite(math.Copysign(size, x), wide == 24, args...)
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
