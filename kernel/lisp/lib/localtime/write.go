package localtime

import (
	"fmt"
	"strings"
	"time"

	"org-agent/kernel/lisp"
)

// momentWriting writes moments.
func momentWriting() []lisp.Builtin {
	whole := func(name, doc string, format lisp.Value) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(timestamp)", Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			return writeMoment(c, lisp.Nil, a, format, nil)
		}}
	}
	return []lisp.Builtin{
		{Name: "format-timestring", LambdaList: "(destination timestamp &key format timezone)", Doc: "Write a moment: format is a list of strings, characters and fields such as :year or (:month 2), which is padded.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			format := args.Get("format")
			if format == nil {
				format = isoFormat
			}
			return writeMoment(c, args.Get("destination"), args.Get("timestamp"), format, args.Get("timezone"))
		}},
		{Name: "format-rfc1123-timestring", LambdaList: "(destination timestamp &key timezone)", Doc: "Write a moment as Thu, 05 Nov 2026 10:30:05 +0000.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return writeMoment(c, args.Get("destination"), args.Get("timestamp"), rfc1123Format, args.Get("timezone"))
		}},
		{Name: "format-rfc3339-timestring", LambdaList: "(destination timestamp &key omit-date-part omit-time-part omit-timezone-part use-zulu timezone)", Doc: "Write a moment as 2026-11-22T10:00:00.000000Z, or parts of it.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return writeMoment(c, args.Get("destination"), args.Get("timestamp"), rfc3339Parts(args), args.Get("timezone"))
		}},
		whole("to-rfc1123-timestring", "A moment as Thu, 05 Nov 2026 10:30:05 +0000.", rfc1123Format),
		whole("to-rfc3339-timestring", "A moment as 2026-11-22T10:00:00.000000Z.", isoFormat),
	}
}

// The formats that have names.
var (
	dateFormat    = timeFormat("(YEAR 4) - (MONTH 2) - (DAY 2)")
	timeOfDay     = timeFormat("(HOUR 2) : (MIN 2) : (SEC 2) . (USEC 6)")
	isoFormat     = timeFormat("(YEAR 4) - (MONTH 2) - (DAY 2) T (HOUR 2) : (MIN 2) : (SEC 2) . (USEC 6) GMT-OFFSET-OR-Z")
	asctimeFormat = timeFormat("SHORT-WEEKDAY _ SHORT-MONTH _ (DAY 2 _) _ (HOUR 2) : (MIN 2) : (SEC 2) _ (YEAR 4)")
	rfc1123Format = timeFormat("SHORT-WEEKDAY ,_ (DAY 2) _ SHORT-MONTH _ (YEAR 4) _ (HOUR 2) : (MIN 2) : (SEC 2) _ GMT-OFFSET-HHMM")
	isoWeekFormat = timeFormat("(ISO-WEEK-YEAR 4) - W (ISO-WEEK-NUMBER 2) - (ISO-WEEK-DAY 1)")
)

// timeFormat makes a format of words: fields, with their widths in parentheses, and
// characters; _ is a blank.
func timeFormat(text string) lisp.Value {
	var list lisp.ListBuilder
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		word := words[i]
		field, inside := strings.CutPrefix(word, "(")
		switch {
		case inside:
			var parts lisp.ListBuilder
			parts.Add(lisp.Keyword(field))
			parts.Add(lisp.Integer(int64(words[i+1][0] - '0')))
			if i++; !strings.HasSuffix(words[i], ")") {
				parts.Add(lisp.Character(' '))
				i++
			}
			list.Add(parts.List())
		case len(word) == 1:
			list.Add(lisp.Character(strings.ReplaceAll(word, "_", " ")[0]))
		case word[0] == ',':
			list.Add(lisp.NewString(", "))
		default:
			list.Add(lisp.Keyword(word))
		}
	}
	return list.List()
}

func rfc3339Parts(args lisp.Args) lisp.Value {
	var all []lisp.Value
	add := func(format lisp.Value) {
		parts, _ := lisp.Slice(format, 100)
		all = append(all, parts...)
	}
	date, clock, zone := !args.True("omit-date-part"), !args.True("omit-time-part"), !args.True("omit-timezone-part")
	if args.Get("omit-timezone-part") == nil {
		zone = clock
	}
	if date {
		add(dateFormat)
	}
	if date && clock {
		all = append(all, lisp.Character('T'))
	}
	if clock {
		add(timeOfDay)
	}
	switch {
	case zone && args.Get("use-zulu") != lisp.Value(lisp.Nil):
		all = append(all, kwGMTOffsetOrZ)
	case zone:
		all = append(all, kwGMTOffset)
	}
	return lisp.NewList(all...)
}

var (
	kwGMTOffset    = lisp.Keyword("GMT-OFFSET")
	kwGMTOffsetOrZ = lisp.Keyword("GMT-OFFSET-OR-Z")
)

// writeMoment writes a moment to a destination, t for the standard output and nil for
// none; the text.
func writeMoment(c *lisp.Call, destination, stamp, format, zone lisp.Value) lisp.Value {
	t := moment(c, stamp).In(timezone(c, zone).location)
	b := lisp.NewStringBuilder(c)
	for _, part := range c.Slice(format) {
		b.WriteString(timeField(c, t, stamp, part))
	}
	text := b.Value()
	switch destination {
	case lisp.Nil:
	case lisp.T:
		c.Write(c.OutputStream(lisp.Nil), text.Runes())
	default:
		c.Write(c.OutputStream(destination), text.Runes())
	}
	return text
}

// LispClass is the name of the class.
func (*Timestamp) LispClass() string { return "LOCAL-TIME:TIMESTAMP" }

// LispText is how a moment is printed.
func (t *Timestamp) LispText(c *lisp.Call, escape bool) string {
	text := c.TakeText(writeMoment(c, lisp.Nil, t, isoFormat, nil))
	if escape {
		return "@" + text
	}
	return text
}

// LispClass says that zones have no class of their own.
func (*Timezone) LispClass() string { return "" }

// LispText is how a zone is printed.
func (z *Timezone) LispText(*lisp.Call, bool) string { return "#<TIMEZONE " + z.name + ">" }

// timeField is one part of a format: text, a field, or a field with its width and padding.
func timeField(c *lisp.Call, t time.Time, stamp, part lisp.Value) string {
	width, pad, field := 0, '0', part
	if cell, ok := part.(*lisp.Cons); ok {
		items := c.Slice(cell)
		field = items[0]
		if len(items) > 1 {
			width = min(c.Index(items[1]), 1000)
		}
		if len(items) > 2 {
			pad = rune(c.Character(items[2]))
		}
	}
	switch x := field.(type) {
	case *lisp.String:
		return c.GoText(x.Runes())
	case lisp.Character:
		return string(rune(x))
	case *lisp.Symbol:
		c.Charge(fieldBytes)
		if text, ok := timeText(t, x.Name()); ok {
			return text
		}
		if n, ok := timeNumber(c, t, stamp.(*Timestamp), x.Name()); ok {
			text, sign := fmt.Sprint(n), ""
			if n < 0 {
				text, sign = text[1:], "-"
			}
			return sign + strings.Repeat(string(pad), max(0, width-len(text))) + text
		}
	}
	c.Fail(lisp.TypeErrorClass, "%s is no field of a time", c.Shown(field))
	return ""
}

// fieldBytes is what Go allocates for a field of a time.
const fieldBytes = 128

// timeText is a field that is not a number.
func timeText(t time.Time, field string) (text string, ok bool) {
	_, offset := t.Zone()
	switch field {
	case "LONG-WEEKDAY":
		return t.Weekday().String(), true
	case "SHORT-WEEKDAY":
		return t.Weekday().String()[:3], true
	case "MINIMAL-WEEKDAY":
		return t.Weekday().String()[:2], true
	case "LONG-MONTH":
		return t.Month().String(), true
	case "SHORT-MONTH":
		return t.Month().String()[:3], true
	case "AMPM":
		return t.Format("pm"), true
	case "TIMEZONE":
		return t.Format("MST"), true
	case "ORDINAL-DAY":
		return ordinalDay(t.Day()), true
	case "GMT-OFFSET-OR-Z":
		if offset == 0 {
			return "Z", true
		}
		return t.Format("-07:00"), true
	case "GMT-OFFSET":
		return t.Format("-07:00"), true
	case "GMT-OFFSET-HHMM":
		return t.Format("-0700"), true
	}
	return "", false
}

// timeNumber is a field that is a number.
func timeNumber(c *lisp.Call, t time.Time, stamp *Timestamp, field string) (n int, ok bool) {
	switch field {
	case "YEAR":
		return t.Year(), true
	case "SHORT-YEAR":
		return (t.Year()%100 + 100) % 100, true
	case "MONTH":
		return int(t.Month()), true
	case "DAY":
		return t.Day(), true
	case "WEEKDAY":
		return int(t.Weekday()), true
	case "HOUR":
		return t.Hour(), true
	case "HOUR12":
		return (t.Hour()+11)%12 + 1, true
	case "MIN":
		return t.Minute(), true
	case "SEC":
		return t.Second(), true
	case "MSEC":
		return t.Nanosecond() / 1e6, true
	case "USEC":
		return t.Nanosecond() / 1e3, true
	case "NSEC":
		return t.Nanosecond(), true
	}
	// Weeks are those of the default zone, as with the original.
	local := stamp.at.In(timezone(c, nil).location)
	year, week := local.ISOWeek()
	switch field {
	case "ISO-WEEK-YEAR":
		return year, true
	case "ISO-WEEK-NUMBER":
		return week, true
	case "ISO-WEEK-DAY":
		return int(local.Weekday()+6)%7 + 1, true
	}
	return 0, false
}

// ordinalDay is 1st, 2nd, 3rd and so on.
func ordinalDay(n int) string {
	ending := "th"
	if n < 11 || n > 13 {
		switch n % 10 {
		case 1:
			ending = "st"
		case 2:
			ending = "nd"
		case 3:
			ending = "rd"
		}
	}
	return fmt.Sprint(n) + ending
}
