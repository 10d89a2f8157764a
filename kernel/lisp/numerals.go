package lisp

import "strings"

var (
	ones = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tens = strings.Fields("zero ten twenty thirty forty fifty sixty seventy eighty ninety")
	// scales name the powers of a thousand that 64 bits reach.
	scales   = []string{"", " thousand", " million", " billion", " trillion", " quadrillion", " quintillion"}
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

// cardinal is a number in English words.
func cardinal(n int64) string {
	if n == 0 {
		return "zero"
	}
	negative := n < 0
	rest := uint64(n)
	if negative {
		rest = -rest
	}
	var groups []string
	for scale := 0; rest > 0; scale++ {
		if group := int(rest % 1000); group > 0 {
			groups = append([]string{belowThousand(group) + scales[scale]}, groups...)
		}
		rest /= 1000
	}
	text := strings.Join(groups, " ")
	if negative {
		return "negative " + text
	}
	return text
}

// ordinal is a number's place in English words.
func ordinal(n int64) string {
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
