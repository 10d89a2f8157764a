package lisp

import (
	"math"
	"strconv"
	"strings"
)

// decimal takes the next argument as a real number; other objects are printed as ~d
// would.
func (f *formatter) decimal(d *directive) (x float64, ok bool) {
	v := f.arg()
	if k := kindOf(v); k == notNumber || k == complexKind {
		text := f.call.printedRunes(v, false)
		f.call.Write(f.out, text)
		f.repeat(' ', f.number(d, 0, 0)-len(text))
		return 0, false
	}
	x = f.call.double(v)
	if math.IsInf(x, 0) || math.IsNaN(x) {
		f.pad(f.call.printedRunes(v, false), f.number(d, 0, 0), ' ')
		return 0, false
	}
	return x, true
}

// chargeDigits accounts for the text of a float with so many digits more than it has by itself.
// The text is put together in several steps, and is made characters at the end.
func (f *formatter) chargeDigits(more ...int) {
	total := floatDigits
	for _, n := range more {
		total += max(n, 0)
	}
	f.call.ChargeMany(total, 3*RuneBytes)
}

// floatDigits are those that the text of a float takes in most cases.
const floatDigits = 64

// span is how many digits a float has before its point, or zeros behind it.
func span(x float64) int {
	if x == 0 {
		return 0
	}
	exponent := math.Ilogb(x)
	return max(exponent, -exponent) / 3
}

// shortest is the decimal expansion of a number, which x is near, that reads back as the same float.
func shortest(v Value, x float64) string {
	if _, ok := v.(float64); ok {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(float64(float32(x)), 'f', -1, 32)
}

// fixed is ~f with width, digits, scale, overflow character and pad character.
func (f *formatter) fixed(d *directive) {
	x, ok := f.decimal(d)
	if !ok {
		return
	}
	digits, scale, width := f.number(d, 1, -1), f.number(d, 2, 0), f.number(d, 0, -1)
	f.chargeDigits(digits, span(x), min(max(scale, -scale), 400))
	sign := ""
	switch {
	case math.Signbit(x):
		sign = "-"
	case d.at:
		sign = "+"
	}
	room := width - len(sign)
	text := fixedText(f.args[f.next-1], math.Abs(x), room, digits, max(min(scale, 400), -400))
	leading, trailing := strings.HasPrefix(text, "."), strings.HasSuffix(text, ".") && digits != 0
	if width >= 0 { // a zero on either side of the point stands where there is room for it
		room -= len(text)
		if text == "." && trailing { // a lone point has a zero behind it first
			text, trailing = ".0", false
			room--
		}
		if leading = leading && room > 0; leading {
			room--
		}
		if trailing = trailing && room > 0; trailing {
			room--
		}
		if room < 0 && len(d.params) > 3 && d.params[3].kind != 0 {
			f.repeat(rune(f.number(d, 3, '*')), width)
			return
		}
	}
	if leading {
		text = "0" + text
	}
	if trailing {
		text += "0"
	}
	f.pad([]rune(sign+text), max(width, 0), rune(f.number(d, 4, ' ')))
}

// fixedText writes a number with a point and without a sign, times a power of ten. There is no zero in front
// of the point, nor behind it unless digits asks for it. width, if it is positive, limits the digits.
func fixedText(v Value, x float64, width, digits, scale int) string {
	if x == 0 {
		return "." + strings.Repeat("0", max(digits, 0))
	}
	var text string
	var power int
	switch {
	case digits >= 0:
		text, power = digitsOf(v, x, true, min(-(min(digits, 1100)+scale), 0))
	case width > 1:
		text, power = digitsWithin(v, x, max(1, min(width-1, 1100)+min(scale, 0)))
		if behind, place := digitsOf(v, x, true, -scale); len(behind) > len(text) {
			text, power = behind, place
		}
	default:
		text, power = digitsOf(v, x, false, 0)
	}
	power += scale
	if digits >= 0 && power <= 0 { // no more digits than were asked for
		text = text[:max(min(len(text), digits+power), 0)]
	}
	whole := min(len(text), max(power, 0))
	out := text[:whole] + strings.Repeat("0", max(power-len(text), 0)) + "." + strings.Repeat("0", max(-power, 0)) + text[whole:]
	if missing := digits - (len(out) - 1 - strings.IndexByte(out, '.')); digits >= 0 && missing > 0 {
		out += strings.Repeat("0", missing)
	}
	return out
}

// money is ~$: two digits behind the point.
func (f *formatter) money(d *directive) {
	x, ok := f.decimal(d)
	if !ok {
		return
	}
	digits, least, width := f.number(d, 0, 2), f.number(d, 1, 1), f.number(d, 2, 0)
	f.chargeDigits(digits, least)
	text := fixedText(f.args[f.next-1], math.Abs(x), 0, digits, 0)
	whole := strings.IndexByte(text, '.')
	if whole < least {
		text = strings.Repeat("0", least-whole) + text
	}
	sign := ""
	switch {
	case math.Signbit(x):
		sign = "-"
	case d.at:
		sign = "+"
	}
	if d.colon { // the sign stands before the padding
		f.call.WriteText(f.out, sign)
		f.pad([]rune(text), width-len(sign), rune(f.number(d, 3, ' ')))
		return
	}
	f.pad([]rune(sign+text), width, rune(f.number(d, 3, ' ')))
}

// scaled is a number as 0.DDDD times a power of ten, with at most digits of them, all
// that are needed if digits is negative.
func scaled(v Value, x float64, digits int) (text string, exponent int) {
	size := 64
	if _, double := v.(float64); !double {
		size = 32
	}
	if x == 0 {
		return "0", 0
	}
	precision := -1
	if digits > 0 {
		precision = min(digits, 400) - 1
	}
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', precision, size), "e")
	exponent, _ = strconv.Atoi(power)
	return strings.Replace(mantissa, ".", "", 1), exponent + 1
}

// exponential is ~e with width, digits, exponent digits, scale, overflow, pad and
// exponent characters.
func (f *formatter) exponential(d *directive) {
	x, ok := f.decimal(d)
	if !ok {
		return
	}
	f.writeExponential(d, f.args[f.next-1], x, f.number(d, 1, -1), f.number(d, 3, 1))
}

func (f *formatter) writeExponential(d *directive, v Value, x float64, digits, scale int) {
	width, places := f.number(d, 0, 0), f.number(d, 2, -1)
	f.chargeDigits(digits, max(scale, -scale), places)
	significant := -1
	if digits >= 0 {
		significant = digits + 1
		if scale <= 0 {
			significant = max(digits+scale, 1)
		}
	}
	text, power := scaled(v, x, significant)
	if x == 0 {
		scale = 1
		power = 1
	}
	exponent := strconv.Itoa(max(power-scale, scale-power))
	length := max(len(exponent), places)
	room := width - 2 - length
	if d.at || math.Signbit(x) {
		room--
	}
	if width > 0 && digits < 0 && len(text)+1 > room {
		if significant = max(room-1, max(scale, 1)); significant < len(text) {
			text, power = scaled(v, x, significant)
			exponent = strconv.Itoa(max(power-scale, scale-power))
			text = strings.TrimRight(text, "0")
		}
	}
	mantissa, leading := placePoint(text, scale, digits)
	overflow := d.has(4)
	if width > 0 && overflow && (places >= 0 && len(exponent) > places || len(mantissa) > room) {
		f.repeat(rune(f.number(d, 4, ' ')), width)
		return
	}
	if leading && (width == 0 || len(mantissa) < room) {
		mantissa = "0" + mantissa
	}
	if strings.HasSuffix(mantissa, ".") && digits < 0 && (width == 0 || len(mantissa) < room) {
		mantissa += "0"
	}
	switch {
	case math.Signbit(x):
		mantissa = "-" + mantissa
	case d.at:
		mantissa = "+" + mantissa
	}
	sign := "+"
	if power < scale {
		sign = "-"
	}
	exponent = strings.Repeat("0", max(0, places-len(exponent))) + exponent
	f.pad([]rune(mantissa+f.exponentMarker(d, v)+sign+exponent), width, rune(f.number(d, 5, ' ')))
}

func (d *directive) has(i int) bool { return i < len(d.params) && d.params[i].kind != 0 }

func (f *formatter) exponentMarker(d *directive, v Value) string {
	_, double := v.(float64)
	_, single := v.(float32)
	isDefault := double == f.call.DoubleFloats() || !double && !single
	switch {
	case d.has(6):
		return string(rune(f.number(d, 6, 'e')))
	case isDefault:
		return "e"
	case double:
		return "d"
	}
	return "f"
}

// placePoint puts the point behind scale digits; leading says that a zero may stand
// before it.
func placePoint(text string, scale, digits int) (mantissa string, leading bool) {
	if scale <= 0 {
		return withZeros("."+strings.Repeat("0", -scale)+text, digits+1), true
	}
	text = withZeros(text, scale)
	return withZeros(text[:scale]+"."+text[scale:], digits+2), false
}

// withZeros is text with zeros at its end up to a length.
func withZeros(text string, length int) string {
	return text + strings.Repeat("0", max(length-len(text), 0))
}

// general is ~g: ~f where the number is readable so, else ~e.
func (f *formatter) general(d *directive) {
	x, ok := f.decimal(d)
	if !ok {
		return
	}
	v := f.args[f.next-1]
	_, power := scaled(v, x, -1)
	digits := f.number(d, 1, -1)
	if digits < 0 {
		digits = max(len(withPoint(strings.TrimLeft(shortest(v, x), "-0")))-1, 1, min(power, 7))
		if x == 0 {
			digits = 0
		}
	}
	behind := digits - power
	if behind < 0 || behind > digits {
		f.writeExponential(d, v, x, digits, f.number(d, 3, 1))
		return
	}
	blank := 4
	if d.has(2) {
		blank = f.number(d, 2, 0) + 2
	}
	fixed := directive{char: 'f', at: d.at, params: []formatParam{{}, {'n', behind}, {}, {}, {}}}
	if width := f.number(d, 0, 0); width > 0 {
		fixed.params[0] = formatParam{'n', max(width-blank, 0)}
	}
	for from, to := range map[int]int{4: 3, 5: 4} {
		if d.has(from) {
			fixed.params[to] = d.params[from]
		}
	}
	f.next--
	f.fixed(&fixed)
	f.repeat(' ', blank)
}

// withPoint is a decimal expansion with at least one digit behind the point.
func withPoint(text string) string {
	if !strings.Contains(text, ".") {
		return text + "."
	}
	return text
}
