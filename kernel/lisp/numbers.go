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

const (
	// digitBytes is what Go allocates for each digit of a long number that it parses.
	digitBytes = 24
	// togetherDigits are parsed at once. For more Go allocates more than linearly.
	togetherDigits = 1000
)

// ParseInteger reads an integer of any size from its digits, in time that is quadratic in their
// number.
func (c *Call) ParseInteger(digits string, base int) (*big.Int, bool) {
	c.Work(len(digits) / 16 * (len(digits) / 16))
	c.ChargeMany(len(digits), digitBytes)
	rest := strings.TrimLeft(digits, "+-")
	if len(rest) <= togetherDigits || len(digits)-len(rest) > 1 {
		return new(big.Int).SetString(digits, base)
	}
	n, ok := parseDigits(rest, base)
	if ok && digits[0] == '-' {
		n.Neg(n)
	}
	return n, ok
}

// parseDigits reads an integer from digits without a sign, by halves.
func parseDigits(digits string, base int) (*big.Int, bool) {
	if len(digits) <= togetherDigits {
		if digits[0] == '+' || digits[0] == '-' {
			return nil, false
		}
		return new(big.Int).SetString(digits, base)
	}
	half := len(digits) / 2
	high, ok := parseDigits(digits[:len(digits)-half], base)
	low, okToo := parseDigits(digits[len(digits)-half:], base)
	if !ok || !okToo {
		return nil, false
	}
	power := new(big.Int).Exp(big.NewInt(int64(base)), big.NewInt(int64(half)), nil)
	return low.Add(low, power.Mul(power, high)), true
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

// exponentMarkers are those that only Lisp has.
var exponentMarkers = strings.NewReplacer("d", "e", "D", "e", "l", "e", "L", "e", "s", "e", "S", "e", "f", "e", "F", "e")

// parseFloat reads a float; the exponent marker decides between single and double,
// which double says for e and no marker at all.
func parseFloat(text string, double bool) (Value, bool) {
	double = double && !strings.ContainsAny(text, "fFsS") || strings.ContainsAny(text, "dDlL")
	plain := exponentMarkers.Replace(text)
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
func (c *Call) double(v Value) float64 {
	switch x := v.(type) {
	case int64:
		return float64(x)
	case *big.Int:
		c.chargeExact(v, v, conversionCost)
		f, _ := new(big.Float).SetInt(x).Float64()
		return f
	case *big.Rat:
		c.chargeExact(v, v, roundingCost)
		f, _ := x.Float64()
		return f
	case float32:
		return float64(x)
	case float64:
		return x
	}
	return math.NaN()
}

// rational converts any real number exactly. It is nil for what is no number.
func (c *Call) rational(v Value) *big.Rat {
	switch x := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(x)
	case *big.Int:
		c.chargeExact(v, v, sumCost)
		return new(big.Rat).SetInt(x)
	case *big.Rat:
		return x
	case float32:
		return c.rational(float64(x))
	case float64:
		c.Charge(ratioBytes + (max(math.Ilogb(x), -math.Ilogb(x))&0x7ff)/2)
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

// exactCost is what an exact operation on two numbers takes.
type exactCost struct {
	// copies is how many copies of both Go allocates on the way.
	copies int
	// part is the part of the product of their lengths in words that is done as work, product that
	// they are multiplied, which takes less.
	part    int
	product bool
}

var (
	// sumCost is of sums and comparisons of integers.
	sumCost = exactCost{copies: 1}
	// productCost is of products of integers.
	productCost = exactCost{copies: 1, product: true}
	// conversionCost is of conversions to floats, and of what takes two steps.
	conversionCost = exactCost{copies: 2}
	// quotientCost is of quotients of integers with their remainders.
	quotientCost = exactCost{copies: 8, part: 8}
	// roundingCost is of conversions of ratios to floats, for which they are divided.
	roundingCost = exactCost{copies: 6}
	// divisorCost is of common divisors.
	divisorCost = exactCost{copies: 7, part: 1}
	// ratioCost is of everything that makes a ratio, of which a common divisor is searched.
	ratioCost = exactCost{copies: 12, part: 8}
	// rootCost is of square roots.
	rootCost = exactCost{copies: 10, part: 1}
)

// chargeExact accounts for an exact operation on a and b before it is done.
func (c *Call) chargeExact(a, b Value, cost exactCost) {
	x, y := bits(a)/64+1, bits(b)/64+1
	work := x * min(y, 64) / 16
	switch {
	case cost.part > 0:
		work += x * y / cost.part
	case cost.product && min(x, y) > 1000: // as Karatsuba multiplies
		work += int(float64(max(x, y)) * math.Pow(float64(min(x, y)), 0.585) / 32)
	}
	c.Work(work)
	n := 8*(x+y)*cost.copies + exactBytes
	if isRatio(a) || isRatio(b) {
		n += ratioBytes
	}
	c.Charge(n)
}

// operands takes two integers for an operation, which is accounted for.
func (c *Call) operands(a, b Value, cost exactCost) (x, y *big.Int) {
	x, y = c.Integer(a), c.Integer(b)
	c.chargeExact(a, b, cost)
	return x, y
}

// operand takes an integer for an operation, which is accounted for.
func (c *Call) operand(v Value, cost exactCost) *big.Int {
	n := c.Integer(v)
	c.chargeExact(v, v, cost)
	return n
}

// exactBytes is what Go allocates for an exact operation beside the digits.
const exactBytes = 96

// finite finishes a float operation; overflow and invalid operations are errors as they
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
		x, y := c.double(a), c.double(b)
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
	if k == ratioKind || operator == '/' {
		return c.ratioArithmetic(a, b, operator)
	}
	if operator == '*' {
		x, y := c.operands(a, b, productCost)
		return normal(new(big.Int).Mul(x, y))
	}
	x, y := c.operands(a, b, sumCost)
	if operator == '+' {
		return normal(new(big.Int).Add(x, y))
	}
	return normal(new(big.Int).Sub(x, y))
}

func (c *Call) ratioArithmetic(a, b Value, operator byte) Value {
	c.chargeExact(a, b, ratioCost)
	x, y := c.rational(a), c.rational(b)
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
	if x >= singleKind && y >= singleKind || immediate(a) && immediate(b) {
		return order(c.double(a), c.double(b))
	}
	if max(x, y) < ratioKind {
		return c.Integer(a).Cmp(c.Integer(b))
	}
	c.chargeExact(a, b, sumCost)
	p, q := c.rational(a), c.rational(b)
	if p == nil || q == nil { // an infinity
		return order(c.double(a), c.double(b))
	}
	return p.Cmp(q)
}

// immediate reports that a float is exactly the number.
func immediate(v Value) bool {
	n, ok := v.(int64)
	return !ok && kindOf(v).float() || ok && n >= -1<<53 && n <= 1<<53
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
	case float32:
		return order(float64(x), 0)
	case float64:
		return order(x, 0)
	}
	return 0
}

var (
	ones = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tens = strings.Fields("zero ten twenty thirty forty fifty sixty seventy eighty ninety")
	// scales name the powers of a thousand.
	scales = strings.Split(", thousand, million, billion, trillion, quadrillion, quintillion, sextillion, septillion, octillion, nonillion, decillion,"+
		" undecillion, duodecillion, tredecillion, quattuordecillion, quindecillion, sexdecillion, septendecillion, octodecillion, novemdecillion, vigintillion", ",")
	ordinary = map[string]string{
		"one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth", "twelve": "twelfth",
	}
)

func belowThousand(n int) string {
	var parts []string
	if n >= 100 {
		parts = append(parts, ones[n/100]+" hundred")
		n %= 100
	}
	switch {
	case n >= 20 && n%10 > 0:
		parts = append(parts, tens[n/10]+"-"+ones[n%10])
	case n >= 20:
		parts = append(parts, tens[n/10])
	case n > 0:
		parts = append(parts, ones[n])
	}
	return strings.Join(parts, " ")
}

// cardinal is a number in English words; scales bounds it.
func cardinal(n *big.Int) string {
	if n.Sign() == 0 {
		return "zero"
	}
	var groups []string
	rest, thousand, group := new(big.Int).Abs(n), big.NewInt(1000), new(big.Int)
	for scale := 0; rest.Sign() > 0; scale++ {
		rest.QuoRem(rest, thousand, group)
		if group.Sign() > 0 {
			groups = append([]string{belowThousand(int(group.Int64())) + scales[scale]}, groups...)
		}
	}
	text := strings.Join(groups, " ")
	if n.Sign() < 0 {
		return "negative " + text
	}
	return text
}

// ordinal is a number's place in English words.
func ordinal(n *big.Int) string {
	text := cardinal(n)
	i := strings.LastIndexAny(text, " -") + 1
	last := text[i:]
	switch {
	case ordinary[last] != "":
		last = ordinary[last]
	case strings.HasSuffix(last, "y"):
		last = last[:len(last)-1] + "ieth"
	default:
		last += "th"
	}
	return text[:i] + last
}

// roman is a number in Roman numerals; the old style has no subtraction.
func roman(n int, old bool) string {
	values := []int{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1}
	letters := strings.Fields("M CM D CD C XC L XL X IX V IV I")
	var b strings.Builder
	for i, v := range values {
		if old && len(letters[i]) == 2 {
			continue
		}
		for n >= v {
			b.WriteString(letters[i])
			n -= v
		}
	}
	return b.String()
}
