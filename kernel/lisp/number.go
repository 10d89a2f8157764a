package lisp

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"org-agent/kernel/plist"
)

func float32Bits(x float32) uint32 { return math.Float32bits(x) }
func float64Bits(x float64) uint64 { return math.Float64bits(x) }

// normal returns an integer in its one representation.
func normal(n *big.Int) Value {
	if n.IsInt64() {
		return Integer(n.Int64())
	}
	return n
}

// normalRatio returns a rational in its one representation.
func normalRatio(r *big.Rat) Value {
	if r.IsInt() {
		return normal(new(big.Int).Set(r.Num()))
	}
	return r
}

// parseNumber reads a token that is a number in base ten.
func parseNumber(kind plist.NumberKind, text string, double bool) (Value, bool) {
	switch kind {
	case plist.Integer:
		n, ok := new(big.Int).SetString(strings.TrimPrefix(strings.TrimSuffix(text, "."), "+"), 10)
		if !ok {
			return nil, false
		}
		return normal(n), true
	case plist.Ratio:
		numerator, denominator, _ := strings.Cut(strings.TrimPrefix(text, "+"), "/")
		n, ok := new(big.Int).SetString(numerator, 10)
		d, okToo := new(big.Int).SetString(denominator, 10)
		if !ok || !okToo || d.Sign() == 0 {
			return nil, false
		}
		return normalRatio(new(big.Rat).SetFrac(n, d)), true
	case plist.Decimal:
		return parseFloat(text, double)
	}
	return nil, false
}

// parseFloat reads a float; the exponent marker decides between single and double,
// which double says for e and no marker at all.
func parseFloat(text string, double bool) (Value, bool) {
	double = double && !strings.ContainsAny(text, "fFsS") || strings.ContainsAny(text, "dDlL")
	plain := strings.NewReplacer("d", "e", "D", "e", "l", "e", "L", "e", "s", "e", "S", "e", "f", "e", "F", "e").Replace(text)
	if double {
		x, err := strconv.ParseFloat(plain, 64)
		return x, err == nil
	}
	x, err := strconv.ParseFloat(plain, 32)
	return float32(x), err == nil
}

// kind orders the number types: an operation on two happens in the higher.
type kind int

const (
	notNumber kind = iota
	smallKind
	bigKind
	ratioKind
	singleKind
	doubleKind
	complexKind
)

func (k kind) float() bool { return k == singleKind || k == doubleKind }

func kindOf(v Value) kind {
	switch v.(type) {
	case int64:
		return smallKind
	case *big.Int:
		return bigKind
	case *big.Rat:
		return ratioKind
	case float32:
		return singleKind
	case float64:
		return doubleKind
	case *Complex:
		return complexKind
	}
	return notNumber
}

// number takes a number as its kind.
func (c *Call) number(v Value) kind {
	k := kindOf(v)
	if k == notNumber {
		c.TypeError(v, "NUMBER")
	}
	return k
}

// realNumber takes a number that is not complex as its kind.
func (c *Call) realNumber(v Value) kind {
	k := kindOf(v)
	if k == notNumber || k == complexKind {
		c.TypeError(v, "REAL")
	}
	return k
}

// double converts any real number.
func double(v Value) float64 {
	switch x := v.(type) {
	case int64:
		return float64(x)
	case *big.Int:
		f, _ := new(big.Float).SetInt(x).Float64()
		return f
	case *big.Rat:
		f, _ := x.Float64()
		return f
	case float32:
		return float64(x)
	case float64:
		return x
	}
	return math.NaN()
}

func rational(v Value) *big.Rat {
	switch x := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(x)
	case *big.Int:
		return new(big.Rat).SetInt(x)
	case *big.Rat:
		return x
	case float32:
		return new(big.Rat).SetFloat64(float64(x))
	case float64:
		return new(big.Rat).SetFloat64(x)
	}
	return nil
}

// bits is the size of an integer or ratio, for charging.
func bits(v Value) int {
	switch x := v.(type) {
	case *big.Int:
		return x.BitLen()
	case *big.Rat:
		return x.Num().BitLen() + x.Denom().BitLen()
	}
	return 64
}

func isRatio(v Value) bool { _, ok := v.(*big.Rat); return ok }

// chargeArithmetic accounts for an exact operation on a and b before it is done.
// Multiplication of long integers is worse than linear.
func (c *Call) chargeArithmetic(a, b Value) {
	x, y := bits(a)/64+1, bits(b)/64+1
	c.Charge(8*(x+y) + 32)
	if isRatio(a) || isRatio(b) {
		c.Charge(ratioBytes)
	}
	c.Work(x * min(y, 64) / 16)
}

// exact finishes a float operation; overflow and invalid operations are errors as they
// are in SBCL.
func (c *Call) finite(x float64, single bool, operands ...Value) Value {
	if single {
		y := float32(x)
		if math.IsInf(float64(y), 0) {
			c.overflow(operands)
		}
		return y
	}
	if math.IsInf(x, 0) {
		c.overflow(operands)
	}
	return x
}

func (c *Call) overflow(operands []Value) {
	c.signalError(c.newCondition("FLOATING-POINT-OVERFLOW", "", "OPERANDS", NewList(operands...)))
}

func (c *Call) divisionByZero(operation *Symbol, operands ...Value) {
	c.signalError(c.newCondition(divisionByZero, "", "OPERATION", operation, "OPERANDS", NewList(operands...)))
}

func (c *Call) add(a, b Value) Value {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			if z := x + y; (z > x) == (y > 0) {
				return Integer(z)
			}
		}
	}
	return c.arithmetic(a, b, '+')
}

func (c *Call) subtract(a, b Value) Value {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			if z := x - y; (z < x) == (y > 0) {
				return Integer(z)
			}
		}
	}
	return c.arithmetic(a, b, '-')
}

func (c *Call) multiply(a, b Value) Value {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			if x == 0 || y == 0 {
				return Integer(0)
			}
			if z := x * y; z/y == x && !(x == -1 && y == math.MinInt64) && !(y == -1 && x == math.MinInt64) {
				return Integer(z)
			}
		}
	}
	return c.arithmetic(a, b, '*')
}

func (c *Call) divide(a, b Value) Value { return c.arithmetic(a, b, '/') }

// arithmetic does one operation in the higher kind of its operands.
func (c *Call) arithmetic(a, b Value, operator byte) Value {
	k := max(c.number(a), c.number(b))
	switch k {
	case complexKind:
		return c.complexArithmetic(a, b, operator)
	case singleKind, doubleKind:
		x, y := double(a), double(b)
		if operator == '/' && y == 0 && x == 0 && min(c.number(a), c.number(b)) >= singleKind {
			c.signalError(c.newCondition("FLOATING-POINT-INVALID-OPERATION", "",
				"OPERATION", CL("/"), "OPERANDS", NewList(a, b)))
		}
		if operator == '/' && y == 0 {
			c.divisionByZero(CL("/"), a, b)
		}
		var z float64
		switch operator {
		case '+':
			z = x + y
		case '-':
			z = x - y
		case '*':
			z = x * y
		default:
			z = x / y
		}
		return c.finite(z, k == singleKind, a, b)
	}
	c.chargeArithmetic(a, b)
	if k == ratioKind || operator == '/' {
		return c.ratioArithmetic(a, b, operator)
	}
	x, y := c.Integer(a), c.Integer(b)
	switch operator {
	case '+':
		return normal(new(big.Int).Add(x, y))
	case '-':
		return normal(new(big.Int).Sub(x, y))
	}
	return normal(new(big.Int).Mul(x, y))
}

func (c *Call) ratioArithmetic(a, b Value, operator byte) Value {
	x, y := rational(a), rational(b)
	c.Work((bits(a)/64 + 1) * (bits(b)/64 + 1) / 8) // a common divisor is searched
	switch operator {
	case '+':
		return normalRatio(new(big.Rat).Add(x, y))
	case '-':
		return normalRatio(new(big.Rat).Sub(x, y))
	case '*':
		return normalRatio(new(big.Rat).Mul(x, y))
	}
	if y.Sign() == 0 {
		c.divisionByZero(CL("/"), a, b)
	}
	return normalRatio(new(big.Rat).Quo(x, y))
}

// compare orders two real numbers, exactly even between floats and rationals.
func (c *Call) compare(a, b Value) int {
	if x, ok := a.(int64); ok {
		if y, ok := b.(int64); ok {
			return order(x, y)
		}
	}
	x, y := c.realNumber(a), c.realNumber(b)
	if x >= singleKind && y >= singleKind {
		return order(double(a), double(b))
	}
	if max(x, y) < singleKind {
		c.chargeArithmetic(a, b)
		return rational(a).Cmp(rational(b))
	}
	p, q := rational(a), rational(b)
	if p == nil || q == nil { // an infinity
		return order(double(a), double(b))
	}
	return p.Cmp(q)
}

// sameValue is = of two numbers.
func (c *Call) sameValue(a, b Value) bool {
	if max(c.number(a), c.number(b)) < complexKind {
		return c.compare(a, b) == 0
	}
	return c.compare(realPart(a), realPart(b)) == 0 && c.compare(imaginaryPart(a), imaginaryPart(b)) == 0
}

// order is how two numbers of a kind stand to one another. Unlike in cmp.Compare, what is no
// number comes neither before nor behind any.
func order[T int64 | float64](x, y T) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func sign(v Value) int {
	switch x := v.(type) {
	case int64:
		return order(float64(x), 0)
	case *big.Int:
		return x.Sign()
	case *big.Rat:
		return x.Sign()
	}
	return order(double(v), 0)
}
