package lisp

import (
	"math/big"
	"strings"
)

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
