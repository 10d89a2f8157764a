package localtime

import (
	"slices"
	"strconv"
	"strings"

	"org-agent/kernel/lisp"
)

// momentReading reads moments.
func momentReading() []lisp.Builtin {
	return []lisp.Builtin{
		{Name: "parse-timestring", LambdaList: "(string &key start end fail-on-error time-separator date-separator date-time-separator fract-time-separators allow-missing-elements allow-missing-date-part allow-missing-time-part allow-missing-timezone-part offset)",
			Doc: "The moment that a string as 2026-11-22T10:00:00Z names; UTC, or offset seconds ahead of it, without a zone.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
				return parseTimestring(c, args.Get("string"), timeOptions{
					start: args.Get("start"), end: args.Get("end"), failOnError: args.Get("fail-on-error"),
					time: args.Get("time-separator"), date: args.Get("date-separator"), between: args.Get("date-time-separator"), fraction: args.Get("fract-time-separators"),
					elements: args.Get("allow-missing-elements"), withoutDate: args.Get("allow-missing-date-part"),
					withoutTime: args.Get("allow-missing-time-part"), withoutZone: args.Get("allow-missing-timezone-part"), offset: args.Get("offset"),
				})
			}},
		{Name: "parse-rfc3339-timestring", LambdaList: "(string &key fail-on-error allow-missing-time-part)", Doc: "The moment that a string as 2026-11-22T10:00:00Z names.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			o := timeOptions{failOnError: args.Get("fail-on-error"), withoutTime: lisp.OrNil(args.Get("allow-missing-time-part"))}
			o.withoutDate, o.withoutZone, o.fraction = lisp.Nil, lisp.Nil, lisp.Character('.')
			return parseTimestring(c, args.Get("string"), o)
		}},
	}
}

// timeReader reads a string that names a moment.
type timeReader struct {
	call *lisp.Call
	text []rune
	// What separates the parts of a date and of a time, these from one another, and
	// fractions of a second.
	date, time, between, fraction []rune
	elements, noDate, noTime      bool // may be missing
	noZone                        bool
	// numbers are year, month, day, hour, minute, second and nanosecond.
	numbers [7]int64
	offset  int64 // seconds
	failed  bool
}

// timeOptions is how a string that names a moment is read; nil for what is as usual.
type timeOptions struct {
	start, end, failOnError                         lisp.Value
	time, date, between, fraction                   lisp.Value // separators
	elements, withoutDate, withoutTime, withoutZone lisp.Value // may be missing
	offset                                          lisp.Value
}

func parseTimestring(c *lisp.Call, text lisp.Value, o timeOptions) lisp.Value {
	chars := c.TakeString(text).Runes()
	if o.start == lisp.Value(lisp.Nil) {
		o.start = nil
	}
	from, to := c.Bounds(o.start, o.end, len(chars))
	separator := func(v lisp.Value, usual string) []rune {
		if v == nil {
			return []rune(usual)
		}
		return c.Characters(v)
	}
	allowed := func(v lisp.Value, otherwise bool) bool {
		if v == nil {
			return otherwise
		}
		return v != lisp.Nil
	}
	r := &timeReader{call: c, text: chars[from:to], numbers: [7]int64{2000, 3, 1}}
	r.time, r.date, r.between, r.fraction = separator(o.time, ":"), separator(o.date, "-"), separator(o.between, "T"), separator(o.fraction, ".,")
	r.elements = allowed(o.elements, true)
	r.noDate, r.noTime, r.noZone = allowed(o.withoutDate, r.elements), allowed(o.withoutTime, r.elements), allowed(o.withoutZone, r.elements)
	if o.offset != nil {
		r.offset = c.Fixnum(o.offset)
	}
	r.read()
	if r.failed {
		if o.failOnError == lisp.Value(lisp.Nil) {
			return lisp.Nil
		}
		c.Signal("LOCAL-TIME:INVALID-TIMESTRING", lisp.SketchText(string(r.text), 60)+" is no time such as 2026-11-22T10:00:00Z", "TIMESTRING", text, "FAILURE", lisp.Nil)
	}
	n := r.numbers
	return newTimestamp(c, encoded(c, [7]int64{n[6], n[5], n[4], n[3], n[2], n[1], n[0]}, fixedZone(c, lisp.Nil, lisp.Integer(r.offset))))
}

func (r *timeReader) fail() { r.failed = true }

// parts parts a text at separators; an empty part at its end is none.
func (r *timeReader) parts(text, separators []rune) [][]rune {
	var parts [][]rune
	start := 0
	for i, ch := range text {
		r.call.Work(len(separators))
		if slices.ContainsFunc(separators, func(s rune) bool { return lisp.Lower(s) == lisp.Lower(ch) }) {
			parts, start = lisp.Append(r.call, parts, text[start:i]), i+1
		}
	}
	if start < len(text) {
		parts = lisp.Append(r.call, parts, text[start:])
	}
	return parts
}

func (r *timeReader) read() {
	parts := r.parts(r.text, r.between)
	switch {
	case len(parts) == 2:
		r.readEither(parts[0], r.noDate, r.readDate)
		r.readEither(parts[1], r.noTime, r.readTime)
	case len(parts) == 1 && r.noDate && slices.ContainsFunc(parts[0], func(ch rune) bool { return slices.Contains(r.time, ch) }):
		r.readTime(parts[0])
	case len(parts) == 1 && r.noTime && slices.ContainsFunc(parts[0], func(ch rune) bool { return slices.Contains(r.date, ch) }):
		r.readDate(parts[0])
	default:
		r.fail()
	}
}

func (r *timeReader) readEither(part []rune, mayMiss bool, read func([]rune)) {
	if len(part) > 0 {
		read(part)
	} else if !mayMiss {
		r.fail()
	}
}

func (r *timeReader) readDate(text []rune) {
	parts := r.parts(text, r.date)
	if len(parts) != 3 {
		r.fail()
		return
	}
	r.number(parts[0], 0, -1<<40, 1<<40)
	r.number(parts[1], 1, 1, 12)
	r.number(parts[2], 2, 1, 31)
}

// number reads one of the numbers, within limits.
func (r *timeReader) number(text []rune, index int, least, most int64) {
	if len(text) == 0 {
		r.failed = r.failed || !r.elements
		return
	}
	n, err := strconv.ParseInt(strings.TrimLeft(string(text), " \t\n"), 10, 64)
	if err != nil || n < least || n > most {
		r.fail()
	}
	r.numbers[index] = n
}

func (r *timeReader) readTime(text []rune) {
	parts := r.parts(text, []rune("Z-+"))
	zulu := slices.ContainsFunc(text, func(ch rune) bool { return lisp.Lower(ch) == 'z' })
	sign := int64(-1)
	if slices.Contains(text, '+') {
		sign = 1
	}
	if len(parts) < 1 || len(parts) > 2 {
		r.fail()
		return
	}
	if len(parts[0]) > 0 {
		r.readClock(parts[0])
	}
	switch {
	case zulu:
		r.offset = 0
	case len(parts) == 2:
		r.readOffset(parts[1], sign)
	case !r.noZone:
		r.fail()
	}
}

func (r *timeReader) readClock(text []rune) {
	parts := r.parts(text, r.time)
	if len(parts) != 3 {
		r.fail()
		return
	}
	r.number(parts[0], 3, 0, 23)
	r.number(parts[1], 4, 0, 59)
	second := r.parts(parts[2], r.fraction)
	if len(second) < 1 || len(second) > 2 {
		r.fail()
		return
	}
	r.number(second[0], 5, 0, 59)
	if len(second) == 2 {
		digits := string(second[1])
		if len(digits) > 9 {
			r.fail()
			return
		}
		for len(digits) < 9 {
			digits += "0"
		}
		r.number([]rune(digits), 6, 0, 999_999_999)
	}
}

// readOffset reads hh:mm, hhmm or hh.
func (r *timeReader) readOffset(text []rune, sign int64) {
	parts := r.parts(text, r.time)
	if len(parts) == 0 && r.noZone {
		return
	}
	if len(parts) == 1 && len(text) == 4 {
		parts = [][]rune{text[:2], text[2:]}
	}
	if len(parts) == 1 && len(text) != 2 || len(parts) == 0 || len(parts) > 2 {
		r.fail()
		return
	}
	kept := r.numbers
	r.numbers[3], r.numbers[4] = 0, 0
	r.number(parts[0], 3, 0, 23)
	if len(parts) == 2 {
		r.number(parts[1], 4, 0, 59)
	}
	r.offset = sign * (r.numbers[3]*3600 + r.numbers[4]*60)
	r.numbers = kept
}
