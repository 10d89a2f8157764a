package lisp

import (
	"fmt"
	"time"
)

// Timestamp is a moment, as the library local-time has them.
type Timestamp struct{ at time.Time }

// text is how a timestamp is printed and formatted by default.
func (t *Timestamp) text() string { return t.at.Format("2006-01-02T15:04:05.000000Z07:00") }

// localTimeFunctions are those of local-time that notes use. Times are in the zone of
// the environment's clock.
func localTimeFunctions() []builtin {
	compare := func(name, doc string, test func(order int) bool) builtin {
		return builtin{name: name, list: "(a b)", doc: doc, two: func(c *Call, a, b Value) Value {
			return Boolean(test(c.timestamp(a).Compare(c.timestamp(b))))
		}}
	}
	field := func(name, doc string, field func(time.Time) int) builtin {
		return builtin{name: name, list: "(timestamp)", doc: doc, one: func(c *Call, a Value) Value { return count(field(c.timestamp(a))) }}
	}
	move := func(name, doc string, direction int) builtin {
		return builtin{name: name, list: "(timestamp amount unit)", doc: doc, call: func(c *Call, args []Value) Value {
			n := int(max(min(c.fixnum(args[1]), 1<<36), -1<<36)) * direction
			return c.newTimestamp(c.moved(c.timestamp(args[0]), n, c.symbol(args[2])))
		}}
	}
	return []builtin{
		{name: "local-time:now", list: "()", doc: "This moment.", call: func(c *Call, _ []Value) Value { return c.newTimestamp(c.environment.config.Now()) }},
		{name: "local-time:today", list: "()", doc: "The beginning of this day in UTC.", call: func(c *Call, _ []Value) Value {
			return c.newTimestamp(c.environment.config.Now().UTC().Truncate(24 * time.Hour))
		}},
		{name: "local-time:unix-to-timestamp", list: "(seconds)", doc: "The moment so many seconds after 1970.", one: func(c *Call, a Value) Value { return c.newTimestamp(time.Unix(c.fixnum(a), 0)) }},
		{name: "local-time:universal-to-timestamp", list: "(seconds)", doc: "The moment of a universal time.", one: func(c *Call, a Value) Value {
			return c.newTimestamp(time.Unix(c.fixnum(a)-universalEpoch, 0))
		}},
		{name: "local-time:timestamp-to-unix", list: "(timestamp)", doc: "Seconds since 1970.", one: func(c *Call, a Value) Value { return Integer(c.timestamp(a).Unix()) }},
		{name: "local-time:timestamp-to-universal", list: "(timestamp)", doc: "Seconds since 1900.", one: func(c *Call, a Value) Value {
			return Integer(c.timestamp(a).Unix() + universalEpoch)
		}},
		{name: "local-time:parse-timestring", list: "(string)", doc: "The moment that a string as 2026-11-22T10:00:00Z names; UTC without a zone.", one: parseTimestring},
		{name: "local-time:format-timestring", list: "(destination timestamp &key format timezone)", doc: "Write a moment: format is a list of fields, characters and strings.", call: formatTimestring},
		{name: "local-time:timestamp-difference", list: "(a b)", doc: "The seconds from b to a.", two: func(c *Call, a, b Value) Value {
			d := c.timestamp(a).Sub(c.timestamp(b))
			return c.divide(Integer(int64(d)), Integer(int64(time.Second)))
		}},
		move("local-time:timestamp+", "The moment later by an amount of :sec :minute :hour :day :month :year.", 1),
		move("local-time:timestamp-", "The moment earlier by an amount of :sec :minute :hour :day :month :year.", -1),
		compare("local-time:timestamp<", "True if a is before b.", func(o int) bool { return o < 0 }), compare("local-time:timestamp>", "True if a is after b.", func(o int) bool { return o > 0 }),
		compare("local-time:timestamp<=", "True if a is not after b.", func(o int) bool { return o <= 0 }), compare("local-time:timestamp>=", "True if a is not before b.", func(o int) bool { return o >= 0 }),
		compare("local-time:timestamp=", "True if a and b are the same moment.", func(o int) bool { return o == 0 }), compare("local-time:timestamp/=", "True if a and b differ.", func(o int) bool { return o != 0 }),
		field("local-time:timestamp-year", "The year.", time.Time.Year), field("local-time:timestamp-month", "The month, from 1.", func(t time.Time) int { return int(t.Month()) }),
		field("local-time:timestamp-day", "The day of the month.", time.Time.Day), field("local-time:timestamp-hour", "The hour.", time.Time.Hour),
		field("local-time:timestamp-minute", "The minute.", time.Time.Minute), field("local-time:timestamp-second", "The second.", time.Time.Second),
		field("local-time:timestamp-day-of-week", "The day of the week; Sunday is 0.", func(t time.Time) int { return int(t.Weekday()) }),
	}
}

func (c *Call) newTimestamp(t time.Time) Value {
	c.charge(closureBytes)
	return &Timestamp{at: t.In(c.environment.config.Now().Location())}
}

func (c *Call) timestamp(v Value) time.Time {
	t, ok := v.(*Timestamp)
	if !ok {
		c.typeError(v, "LOCAL-TIME:TIMESTAMP")
	}
	return t.at
}

// moved is a moment n units later; a day that a month lacks becomes its last one.
func (c *Call) moved(t time.Time, n int, unit *Symbol) time.Time {
	switch unit.name {
	case "SEC":
		return time.Unix(t.Unix()+int64(n), int64(t.Nanosecond())).In(t.Location())
	case "MINUTE":
		return time.Unix(t.Unix()+60*int64(n), int64(t.Nanosecond())).In(t.Location())
	case "HOUR":
		return time.Unix(t.Unix()+3600*int64(n), int64(t.Nanosecond())).In(t.Location())
	case "DAY":
		return t.AddDate(0, 0, n%4_000_000)
	case "MONTH", "YEAR":
		if unit.name == "YEAR" {
			n *= 12
		}
		n %= 120_000
		later := t.AddDate(0, n, 0)
		for later.Day() != t.Day() && later.Day() < 4 {
			later = later.AddDate(0, 0, -1)
		}
		return later
	}
	c.fail(simpleError, "%s is no unit of time: use :sec :minute :hour :day :month or :year", unit.name)
	return t
}

func parseTimestring(c *Call, a Value) Value {
	text := string(c.chars(a))
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return c.newTimestamp(t)
		}
	}
	c.libraryError("LOCAL-TIME:INVALID-TIMESTRING", fmt.Sprintf("%s is no time such as 2026-11-22T10:00:00Z", sketchText(text, 60)))
	return nil
}

var kwTimezone = standardKeyword("TIMEZONE")

func formatTimestring(c *Call, args []Value) Value {
	k := c.keywords(args[2:], standardKeyword("FORMAT"), kwTimezone)
	t, ok := args[1].(*Timestamp)
	if !ok {
		c.typeError(args[1], "LOCAL-TIME:TIMESTAMP")
	}
	text := t.text()
	if given(k[0]) {
		text = ""
		for _, part := range c.slice(k[0]) {
			text += c.timeField(t.at, part)
			c.charge(len(text))
		}
	}
	if destination := args[0]; destination != Nil {
		c.writeText(c.outputStream(destination), text)
	}
	return c.text(text)
}

// timeField is one part of a format: text, a field, or a field with its width and padding.
func (c *Call) timeField(t time.Time, part Value) string {
	width, pad := 0, '0'
	if cell, ok := part.(*Cons); ok {
		items := c.slice(cell)
		part = items[0]
		if len(items) > 1 {
			width = min(c.index(items[1]), 100)
		}
		if ch, ok := optional(items, 2).(Character); ok {
			pad = rune(ch)
		}
	}
	symbol, ok := part.(*Symbol)
	if !ok {
		return string(c.chars(part))
	}
	layouts := map[string]string{
		"LONG-WEEKDAY": "Monday", "SHORT-WEEKDAY": "Mon", "LONG-MONTH": "January", "SHORT-MONTH": "Jan", "AMPM": "pm",
		"TIMEZONE": "MST", "GMT-OFFSET": "-07:00", "GMT-OFFSET-OR-Z": "Z07:00", "GMT-OFFSET-HHMM": "-0700",
	}
	if layout, ok := layouts[symbol.name]; ok {
		return t.Format(layout)
	}
	numbers := map[string]int{
		"YEAR": t.Year(), "MONTH": int(t.Month()), "DAY": t.Day(), "HOUR": t.Hour(), "HOUR12": (t.Hour()+11)%12 + 1, "MIN": t.Minute(), "SEC": t.Second(),
		"WEEKDAY": int(t.Weekday()), "MSEC": t.Nanosecond() / 1e6, "USEC": t.Nanosecond() / 1e3, "NSEC": t.Nanosecond(),
	}
	n, ok := numbers[symbol.name]
	if !ok {
		c.fail(simpleError, "%s is no field of a time", symbol.name)
	}
	text := fmt.Sprint(n)
	for len(text) < width {
		text = string(pad) + text
	}
	return text
}
