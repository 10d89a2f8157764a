package lisp

import "time"

// momentReckoning computes with moments.
func momentReckoning() []builtin {
	move := func(name, doc string, direction int64) builtin {
		return builtin{name: name, list: "(timestamp amount unit &optional timezone offset)", doc: doc, named: func(c *Call, args Args) Value {
			amount := args.Get("amount")
			if direction < 0 {
				amount = c.arithmetic(Integer(0), amount, '-')
			}
			return c.newTimestamp(c.moved(c.moment(args.Get("timestamp")), amount, args.Get("unit"), c.fixedZone(args.Get("timezone"), args.Get("offset"))))
		}}
	}
	end := func(name, doc string, ends [6]int64) builtin {
		return builtin{name: name, list: "(timestamp part &key timezone into)", doc: doc, named: func(c *Call, args Args) Value {
			partArg, into := args.Get("part"), args.Get("into")

			zone := c.timezone(args.Get("timezone"))
			n := clock(c.moment(args.Get("timestamp")).In(zone.location))
			for i, part := range [6]*Symbol{kwNsec, kwSec, kwMin, kwHour, kwDay, kwMonth} {
				if n[i] = ends[i]; part != partArg {
					continue
				}
				if i >= 4 && ends[4] > 1 {
					n[4] = daysIn(n[5], n[6])
				}
				return c.stored(into, c.encoded(n, zone))
			}
			c.fail(simpleError, "%s is no part of a moment here: use :nsec :sec :min :hour :day or :month", c.shown(partArg))
			return nil
		}}
	}
	return []builtin{
		move("local-time:timestamp+", "The moment later by an amount of :nsec :sec :minute :hour :day :month or :year.", 1),
		move("local-time:timestamp-", "The moment earlier by an amount of :nsec :sec :minute :hour :day :month or :year.", -1),
		end("local-time:timestamp-minimize-part", "The beginning of the second, minute, hour, day, month or year: the parts up to :nsec :sec :min :hour :day or :month are as small as can be.", [6]int64{0, 0, 0, 0, 1, 1}),
		end("local-time:timestamp-maximize-part", "The end of the second, minute, hour, day, month or year: the parts up to :nsec :sec :min :hour :day or :month are as large as can be.", [6]int64{999_999_999, 59, 59, 23, 31, 12}),
		{name: "local-time:timestamp-difference", list: "(a b)", doc: "The seconds from b to a.", two: func(c *Call, a, b Value) Value {
			x, y := c.moment(a), c.moment(b)
			seconds, nanoseconds := x.Unix()-y.Unix(), int64(x.Nanosecond()-y.Nanosecond())
			if nanoseconds == 0 {
				return Integer(seconds)
			}
			return float64(seconds) + float64(nanoseconds)/1e9
		}},
		{name: "local-time:timestamp-whole-year-difference", list: "(a b)", doc: "The number of whole years from b to a.", two: func(c *Call, a, b Value) Value {
			location := c.timezone(nil).location
			x, y := c.moment(a).In(location), c.moment(b).In(location)
			_, offset := y.Zone()
			years := x.Year() - y.Year()
			day := y.Day()
			if y.Month() == time.February {
				day = min(day, 28)
			}
			if time.Date(x.Year(), y.Month(), day, y.Hour(), y.Minute(), y.Second()-offset, y.Nanosecond(), time.UTC).After(x) {
				years--
			}
			return count(years)
		}},
	}
}

// moved is a moment later by an amount of a unit. Days are those of the zone: at the same
// time of the clock; a day that a month lacks becomes its last one.
func (c *Call) moved(t time.Time, amount, unit Value, zone *Timezone) time.Time {
	if unit == kwDayOfWeek {
		return c.weekday(t, amount)
	}
	n := c.fixnum(amount)
	switch unit {
	case kwNsec:
		return t.Add(time.Duration(n))
	case kwSec:
		return c.instant(n, t.Unix(), int64(t.Nanosecond()))
	case kwMinute, kwHour:
		length := map[Value]int64{kwMinute: 60, kwHour: 3600}[unit]
		if n > farthest/length || n < -farthest/length {
			c.tooFar()
		}
		return c.instant(n*length, t.Unix(), int64(t.Nanosecond()))
	case kwDay:
		if n > farthest/86400 || n < -farthest/86400 {
			c.tooFar()
		}
		later := c.instant(86400*n, t.Unix(), int64(t.Nanosecond()))
		_, before := t.In(zone.location).Zone()
		_, after := later.In(zone.location).Zone()
		return later.Add(time.Duration(before-after) * time.Second)
	case kwMonth, kwYear:
		if n > 3_600_000 || n < -3_600_000 {
			c.tooFar()
		}
		if unit == kwYear {
			n *= 12
		}
		return c.monthsLater(t, n, zone)
	}
	c.fail(typeErrorClass, "%s is no unit of time: use :nsec :sec :minute :hour :day :month or :year", c.shown(unit))
	return t
}

func (c *Call) monthsLater(t time.Time, n int64, zone *Timezone) time.Time {
	parts := clock(t.In(zone.location))
	months := parts[6]*12 + parts[5] - 1 + n
	parts[6] = months / 12
	if parts[5] = months%12 + 1; parts[5] < 1 {
		parts[5] += 12
		parts[6]--
	}
	c.year(Integer(parts[6]))
	parts[4] = min(parts[4], daysIn(parts[5], parts[6]))
	return c.encoded(parts, zone)
}

var weekdays = []*Symbol{
	standardKeyword("SUNDAY"), standardKeyword("MONDAY"), standardKeyword("TUESDAY"), standardKeyword("WEDNESDAY"),
	standardKeyword("THURSDAY"), standardKeyword("FRIDAY"), standardKeyword("SATURDAY"),
}

// weekday is the day of that name in the week around a moment in UTC, which begins on
// Monday, as local-time counts; its Sunday is the one before.
func (c *Call) weekday(t time.Time, name Value) time.Time {
	for target, day := range weekdays {
		if name != day {
			continue
		}
		today := int(t.Weekday())
		if today == 0 {
			today = 7
		}
		return t.AddDate(0, 0, target-today)
	}
	c.fail(simpleError, "%s is no day of the week: use :monday to :sunday", c.shown(name))
	return t
}

// setPart sets a part of a moment.
func (c *Call) setPart(t time.Time, part, v Value, zone *Timezone) time.Time {
	n := c.fixnum(v)
	switch part {
	case kwNsec:
		return t.Add(time.Duration(c.nanoseconds(v) - int64(t.Nanosecond())))
	case kwDay:
		second := t.Unix() - localEpoch.Unix() - 86400*localDay(t)
		return c.localMoment(n, second, int64(t.Nanosecond()))
	case kwSecOfDay:
		if n < 0 || n > 86400 {
			c.typeError(v, "(INTEGER 0 86400)")
		}
		return c.localMoment(localDay(t), n, int64(t.Nanosecond()))
	}
	parts := clock(t.In(zone.location))
	for i, own := range [7]*Symbol{nil, kwSec, kwMinute, kwHour, kwDayOf, kwMonth, kwYear} {
		if part != own {
			continue
		}
		parts[i] = n
		if i >= 5 && parts[5] >= 1 && parts[5] <= 12 {
			parts[4] = min(parts[4], daysIn(parts[5], c.year(Integer(parts[6]))))
		}
		return c.encoded(parts, zone)
	}
	c.fail(typeErrorClass, "%s is no part of a moment: use :nsec :sec :sec-of-day :minute :hour :day :day-of-month :month or :year", c.shown(part))
	return t
}

// adjust changes a timestamp: it sets a part or moves by an amount of a unit.
var adjust = &Function{name: "ADJUST", least: 6, most: 6, call: func(c *Call, args []Value) Value {
	stamp, zone := args[0], c.fixedZone(args[4], args[5])
	t := c.moment(stamp)
	if args[1] == Nil {
		t = c.moved(t, args[3], args[2], zone)
	} else {
		t = c.setPart(t, args[2], args[3], zone)
	}
	return c.stored(stamp, t)
}}

// localTimeMacros take moments apart and change them.
func localTimeMacros() []standardMacro {
	adjusting := func(fresh bool) func(cp *compiler, form *Cons) Value {
		return func(cp *compiler, form *Cons) Value { return expandAdjust(cp, form, fresh) }
	}
	return []standardMacro{
		{"local-time:with-decoded-timestamp", "((&key nsec sec minute hour day month year day-of-week daylight-p timezone offset) timestamp &body body)", "Bind variables to the parts of a moment.", expandDecoded},
		{"local-time:adjust-timestamp", "(timestamp &body changes)", "The moment with changes, the last first: (:set part value), (:offset unit amount), (:timezone zone), (:utc-offset seconds).", adjusting(true)},
		{"local-time:adjust-timestamp!", "(timestamp &body changes)", "Change a timestamp, the last change first: (:set part value), (:offset unit amount), (:timezone zone), (:utc-offset seconds).", adjusting(false)},
	}
}

func expandDecoded(cp *compiler, form *Cons) Value {
	args := cp.arguments(form, 2, -1)
	spec := cp.forms(args[0])
	names := [9]*Symbol{kwNsec, kwSec, kwMinute, kwHour, kwDay, kwMonth, kwYear, kwDayOfWeek, kwDaylight}
	var variables [9]Value
	var options []Value
	if len(spec)%2 != 0 {
		cp.fail(programError, "odd number of keyword arguments in %s", sketch(form, formLength))
	}
next:
	for i := 0; i < len(spec); i += 2 {
		if spec[i] == kwTimezone || spec[i] == kwOffset {
			options = append(options, spec[i], spec[i+1])
			continue
		}
		for j, name := range names {
			if spec[i] == Value(name) {
				variables[j] = spec[i+1]
				continue next
			}
		}
		cp.fail(programError, "%s is no part of a moment in %s", sketch(spec[i], formLength), sketch(form, formLength))
	}
	for i, v := range variables {
		if v == nil {
			variables[i] = cp.gensym("PART")
		}
	}
	decode := &Cons{Car: cp.language.symbol("LOCAL-TIME:DECODE-TIMESTAMP"), Cdr: NewList(append([]Value{args[1]}, options...)...)}
	return callStar(symMVBind, form.Cdr.(*Cons).Cdr.(*Cons).Cdr, NewList(variables[:]...), decode)
}

func expandAdjust(cp *compiler, form *Cons, fresh bool) Value {
	args := cp.arguments(form, 1, -1)
	stamp := cp.gensym("TIMESTAMP")
	zone, offset := Value(Nil), Value(Nil)
	var changes []Value
	for _, item := range args[1:] {
		change := cp.forms(item)
		head, _ := optional(change, 0).(*Symbol)
		switch {
		case head != nil && head.name == "TIMEZONE" && len(change) == 2:
			zone = change[1]
		case head != nil && head.name == "UTC-OFFSET" && len(change) == 2:
			offset = change[1]
		case head != nil && (head.name == "SET" || head.name == "OFFSET") && (len(change) == 3 || len(change) == 4):
			changes = append([]Value{NewList(Boolean(head.name == "SET"), change[1], change[len(change)-1])}, changes...)
		default:
			cp.fail(programError, "%s is no change of a moment: (:set part value), (:offset unit amount), (:timezone zone), (:utc-offset seconds)", sketch(item, formLength))
		}
	}
	first := args[0]
	if fresh {
		first = call(cp.language.symbol("LOCAL-TIME:CLONE-TIMESTAMP"), first)
	}
	body := []Value{}
	for _, change := range changes {
		parts := cp.forms(change)
		body = append(body, call(symFuncall, call(symQuote, adjust), stamp, parts[0], parts[1], parts[2], zone, offset))
	}
	return callStar(symLet, NewList(append(body, stamp)...), NewList(NewList(stamp, first)))
}
