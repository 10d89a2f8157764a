package lisp

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// object is ~a and ~s with mincol, colinc, minpad and padchar.
func (f *formatter) object(d *directive) {
	v := f.arg()
	var text []rune
	if d.colon && v == Nil {
		text = []rune("()")
	} else {
		text = f.call.printedRunes(v, d.char == 's')
	}
	if len(d.params) == 0 {
		f.call.write(f.out, text)
		return
	}
	mincol, colinc, minpad, pad := f.number(d, 0, 0), max(f.number(d, 1, 1), 1), f.number(d, 2, 0), rune(f.number(d, 3, ' '))
	padding := max(minpad, 0)
	if missing := mincol - len(text) - padding; missing > 0 {
		padding += (missing + colinc - 1) / colinc * colinc
	}
	if d.at {
		f.repeat(pad, padding)
	}
	f.call.write(f.out, text)
	if !d.at {
		f.repeat(pad, padding)
	}
}

// integer is ~d and its like; first is the index of mincol among the parameters.
func (f *formatter) integer(d *directive, base, first int) {
	v := f.arg()
	if k := kindOf(v); k != smallKind && k != bigKind {
		p := printer{call: f.call, printControl: plainControl(base)}
		p.print(v)
		f.call.write(f.out, p.out) // SBCL lays out integers only
		return
	}
	p := printer{call: f.call, printControl: plainControl(base)}
	p.rational(v)
	text := string(p.out)
	if d.colon {
		text = grouped(text, rune(f.number(d, first+2, ',')), f.number(d, first+3, 3))
	}
	if d.at && sign(v) >= 0 {
		text = "+" + text
	}
	f.pad([]rune(text), f.number(d, first, 0), rune(f.number(d, first+1, ' ')))
}

// pad writes text at the right of a column.
func (f *formatter) pad(text []rune, width int, pad rune) {
	f.repeat(pad, width-len(text))
	f.call.write(f.out, text)
}

// grouped puts a separator between groups of digits.
func grouped(digits string, separator rune, size int) string {
	digits, negative := strings.CutPrefix(digits, "-")
	size = max(size, 1)
	var b strings.Builder
	for i, r := range digits {
		if i > 0 && (len(digits)-i)%size == 0 {
			b.WriteRune(separator)
		}
		b.WriteRune(r)
	}
	if negative {
		return "-" + b.String()
	}
	return b.String()
}

// radix is ~r: in a base, in words, or in Roman numerals.
func (f *formatter) radix(d *directive) {
	if len(d.params) > 0 && d.params[0].kind != 0 {
		base := f.number(d, 0, 10)
		if base < 2 || base > 36 {
			f.call.fail(simpleError, "~r needs a base from 2 to 36")
		}
		f.integer(d, base, 1)
		return
	}
	v := f.arg()
	n, ok := v.(int64)
	if !ok {
		f.call.typeError(v, "INTEGER")
	}
	text := ""
	switch {
	case d.at && n >= 1 && n < 4000:
		text = roman(int(n), d.colon)
	case d.at:
		text = strconv.FormatInt(n, 10)
	case d.colon:
		text = ordinal(n)
	default:
		text = cardinal(n)
	}
	f.call.write(f.out, []rune(text))
}

func (f *formatter) character(d *directive) {
	ch := f.call.character(f.arg())
	switch {
	case d.colon:
		f.call.write(f.out, []rune(characterName(ch)))
	case d.at:
		f.call.write(f.out, f.call.printedRunes(ch, true))
	default:
		f.call.write(f.out, []rune{rune(ch)})
	}
}

// decimal takes the next argument as a real number; other objects are printed as ~d
// would.
func (f *formatter) decimal(d *directive) (x float64, ok bool) {
	v := f.arg()
	if kindOf(v) == notNumber {
		f.pad(f.call.printedRunes(v, false), f.number(d, 0, 0), ' ')
		return 0, false
	}
	x = double(v)
	if math.IsInf(x, 0) || math.IsNaN(x) {
		f.pad(f.call.printedRunes(v, false), f.number(d, 0, 0), ' ')
		return 0, false
	}
	return x, true
}

// shortest is the decimal expansion of a number that reads back as the same float.
func shortest(v Value) string {
	if x, ok := v.(float32); ok {
		return strconv.FormatFloat(float64(x), 'f', -1, 32)
	}
	if x, ok := v.(float64); ok {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(float64(float32(double(v))), 'f', -1, 32)
}

// fixed is ~f with width, digits, scale, overflow character and pad character.
func (f *formatter) fixed(d *directive) {
	x, ok := f.decimal(d)
	if !ok {
		return
	}
	digits, scale := f.number(d, 1, -1), f.number(d, 2, 0)
	width := f.number(d, 0, 0)
	f.call.chargeMany(max(digits, 0), 8)
	text := shortest(f.args[f.next-1])
	if scale != 0 {
		text = strconv.FormatFloat(x*math.Pow(10, float64(max(min(scale, 400), -400))), 'f', -1, 64)
	}
	if digits >= 0 {
		text = roundDecimal(f.args[f.next-1], x, scale, digits)
	} else if !strings.Contains(text, ".") {
		text += ".0"
		if width > 0 && len(text) > width {
			text = strings.TrimSuffix(text, "0")
		}
	} else if width > 0 && len(text) > width {
		text = withoutZero(text)
		text = roundDecimal(f.args[f.next-1], x, scale, max(0, width-1-strings.IndexByte(text, '.')))
	}
	if d.at && x >= 0 {
		text = "+" + text
	}
	if width > 0 && len(text) > width {
		text = withoutZero(text)
		if len(d.params) > 3 && d.params[3].kind != 0 && len(text) > width {
			f.repeat(rune(f.number(d, 3, '*')), width)
			return
		}
	}
	f.pad([]rune(text), width, rune(f.number(d, 4, ' ')))
}

// withoutZero drops the zero before the point, where there is no room for it.
func withoutZero(text string) string {
	for _, prefix := range []string{"0.", "-0.", "+0."} {
		if rest, ok := strings.CutPrefix(text, prefix); ok && rest != "" {
			return strings.TrimSuffix(prefix, "0.") + "." + rest
		}
	}
	return text
}

// roundDecimal rounds the exact value of a number, times a power of ten, half up to
// digits behind the point, as SBCL does.
func roundDecimal(v Value, x float64, scale, digits int) string {
	if k := kindOf(v); k < singleKind {
		x = float64(float32(x))
	}
	padding := ""
	if digits > 400 { // beyond the last digit any float has there are only zeros
		padding = strings.Repeat("0", digits-400)
		digits = 400
	}
	exact := new(big.Rat).SetFloat64(math.Abs(x))
	shift := digits + max(min(scale, 400), -400)
	power := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(shift, -shift))), nil))
	if shift >= 0 {
		exact.Mul(exact, power)
	} else {
		exact.Quo(exact, power)
	}
	exact.Add(exact, big.NewRat(1, 2))
	s := new(big.Int).Quo(exact.Num(), exact.Denom()).String()
	if len(s) <= digits {
		s = strings.Repeat("0", digits-len(s)+1) + s
	}
	text := s[:len(s)-digits] + "." + s[len(s)-digits:] + padding
	if x < 0 {
		return "-" + text
	}
	return text
}

// exponential is ~e, and ~g, which is ~f within the range where that is readable.
func (f *formatter) exponential(d *directive) {
	if d.char == 'g' {
		v := optional(f.args, f.next)
		if v != nil && kindOf(v) != notNumber {
			if x := math.Abs(double(v)); x == 0 || x >= 0.1 && x < 1e7 {
				width := f.number(d, 0, 0)
				plain := directive{char: 'f', at: d.at, params: []formatParam{{'n', max(width-4, 0)}}}
				if len(d.params) > 1 && d.params[1].kind != 0 {
					n := max(0, f.number(d, 1, 0)-len(strconv.Itoa(int(x))))
					plain.params = append(plain.params, formatParam{'n', n})
				}
				f.fixed(&plain)
				f.repeat(' ', 4)
				return
			}
		}
	}
	x, ok := f.decimal(d)
	if !ok {
		return
	}
	digits := f.number(d, 1, -1)
	size := 32
	marker := "e"
	if _, isDouble := f.args[f.next-1].(float64); isDouble {
		size, marker = 64, "d"
	}
	f.call.chargeMany(max(digits, 0), 8)
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', min(digits, 400), size), "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	power := strings.TrimLeft(exponent[1:], "0")
	places := f.number(d, 2, 1)
	if len(power) < places {
		power = strings.Repeat("0", min(places-len(power), 400)) + power
	}
	text := mantissa + marker + exponent[:1] + power
	if d.at && x >= 0 {
		text = "+" + text
	}
	f.pad([]rune(text), f.number(d, 0, 0), rune(f.number(d, 5, ' ')))
}

// money is ~$: two digits behind the point.
func (f *formatter) money(d *directive) {
	x, ok := f.decimal(d)
	if !ok {
		return
	}
	digits, least, width := f.number(d, 0, 2), f.number(d, 1, 1), f.number(d, 2, 0)
	f.call.chargeMany(max(digits, 0)+max(least, 0), 8)
	text := roundDecimal(f.args[f.next-1], math.Abs(x), 0, digits)
	whole := strings.IndexByte(text, '.')
	if whole < least {
		text = strings.Repeat("0", least-whole) + text
	}
	switch {
	case x < 0:
		text = "-" + text
	case d.at:
		text = "+" + text
	}
	f.pad([]rune(text), width, rune(f.number(d, 3, ' ')))
}

func (f *formatter) plural(d *directive) {
	if d.colon {
		f.next = max(f.next-1, 0)
	}
	one := eql(f.arg(), Integer(1))
	text := ""
	switch {
	case d.at && one:
		text = "y"
	case d.at:
		text = "ies"
	case !one:
		text = "s"
	}
	f.call.write(f.out, []rune(text))
}

func (f *formatter) tabulate(d *directive) {
	column, step := f.number(d, 0, 1), f.number(d, 1, 1)
	at := f.call.column(f.out)
	if d.at {
		f.repeat(' ', column)
		at += column
		if step > 0 && at%step != 0 {
			f.repeat(' ', step-at%step)
		}
		return
	}
	switch {
	case at < column:
		f.repeat(' ', column-at)
	case step > 0:
		f.repeat(' ', step-(at-column)%step)
	}
}

func (f *formatter) recursive(d *directive) left {
	control := f.call.str(f.arg())
	if !d.at {
		f.call.formatInto(f.out, control, f.call.slice(f.arg()))
		return ran
	}
	directives, err := parseFormat(control.chars)
	if err != nil {
		f.call.fail(simpleError, "in the format string %s: %v", f.call.shown(control), err)
	}
	f.call.descend(8)
	defer f.call.ascend(8)
	return f.run(directives)
}

func (f *formatter) caseConversion(d *directive) left {
	text, how := f.sub(d.clauses[0])
	switch {
	case d.colon && d.at:
		each(text, upper)
	case d.colon:
		each(text, lower)
		capitalize(text)
	case d.at:
		each(text, lower)
		for i, r := range text {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				text[i] = upper(r)
				break
			}
		}
	default:
		each(text, lower)
	}
	f.call.write(f.out, text)
	return how
}

func (f *formatter) conditional(d *directive) left {
	switch {
	case d.colon:
		if len(d.clauses) != 2 {
			f.call.fail(simpleError, "~:[ needs two clauses")
		}
		if f.arg() == Nil {
			return f.run(d.clauses[0])
		}
		return f.run(d.clauses[1])
	case d.at:
		if f.next < len(f.args) && f.args[f.next] == Nil {
			f.next++
			return ran
		}
		if f.next >= len(f.args) {
			f.arg()
		}
		return f.run(d.clauses[0])
	}
	n := 0
	if len(d.params) > 0 && d.params[0].kind != 0 {
		n = f.number(d, 0, 0)
	} else {
		switch v := f.arg().(type) {
		case int64:
			n = int(min(v, 1<<20))
		case *big.Int:
			n = -1 // none has that number
		default:
			f.call.typeError(v, "INTEGER")
		}
	}
	switch {
	case n >= 0 && n < len(d.clauses):
		return f.run(d.clauses[n])
	case d.lastColon:
		return f.run(d.clauses[len(d.clauses)-1])
	}
	return ran
}

// iteration is ~{, over a list or the remaining arguments, by elements or by sublists.
func (f *formatter) iteration(d *directive) {
	limit := f.number(d, 0, -1)
	body := d.clauses[0]
	if len(body) == 0 { // the control string is an argument
		control := f.call.str(f.arg())
		parsed, err := parseFormat(control.chars)
		if err != nil {
			f.call.fail(simpleError, "in the format string %s: %v", f.call.shown(control), err)
		}
		body = parsed
	}
	f.call.descend(8)
	defer f.call.ascend(8)
	inner := f
	if !d.at {
		inner = &formatter{call: f.call, out: f.out, args: f.call.slice(f.arg())}
	}
	for round := 0; limit < 0 || round < limit; round++ {
		f.call.step()
		if inner.next >= len(inner.args) && (round > 0 || !d.closeColon) {
			return
		}
		before := inner.next
		if d.colon {
			sublist := &formatter{call: f.call, out: f.out, args: f.call.slice(inner.arg()), last: inner.next >= len(inner.args)}
			if sublist.run(body) == escapedUp {
				return
			}
			continue
		}
		if inner.run(body) != ran {
			return
		}
		if inner.next == before && limit < 0 && inner.next < len(inner.args) {
			f.call.work(64) // a body that takes nothing goes on until a limit ends it
		}
	}
}

// justify is ~<: text spread over columns.
func (f *formatter) justify(d *directive) left {
	mincol, colinc, minpad, pad := f.number(d, 0, 0), max(f.number(d, 1, 1), 1), f.number(d, 2, 0), rune(f.number(d, 3, ' '))
	var parts [][]rune
	total := 0
	for i, clause := range d.clauses {
		if i == 0 && d.lastColon && len(d.clauses) > 1 {
			continue // text for a line that is too long, which never is
		}
		text, how := f.sub(clause)
		if how != ran {
			break
		}
		parts = append(parts, text)
		total += len(text)
	}
	gaps := len(parts) - 1
	if d.colon {
		gaps++
	}
	if d.at {
		gaps++
	}
	if gaps <= 0 && len(parts) == 1 {
		gaps = 1 // one text alone stands at the right
	}
	width := total + max(gaps, 0)*minpad
	if width < mincol {
		width = mincol
	} else if over := (width - mincol) % colinc; mincol > 0 && over != 0 {
		width += colinc - over
	}
	f.spread(d, parts, width-total, gaps, pad)
	return ran
}

func (f *formatter) spread(d *directive, parts [][]rune, padding, gaps int, pad rune) {
	gap := func() {
		if gaps <= 0 {
			return
		}
		n := padding / gaps
		padding -= n
		gaps--
		f.repeat(pad, n)
	}
	if d.colon || len(parts) == 1 && !d.at {
		gap()
	}
	for i, part := range parts {
		if i > 0 {
			gap()
		}
		f.call.write(f.out, part)
	}
	if d.at {
		gap()
	}
}
