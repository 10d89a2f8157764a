package localtime

import (
	"time"

	"org-agent/kernel/lisp"
)

// momentReckoning computes with moments.
func momentReckoning() []lisp.Builtin {
	move := func(name, doc string, direction int64) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(timestamp amount unit &optional timezone offset)", Doc: doc, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			amount := args.Get("amount")
			if direction < 0 {
				amount = c.Standard("-", amount)
			}
			return newTimestamp(c, moved(c, moment(c, args.Get("timestamp")), amount, args.Get("unit"), fixedZone(c, args.Get("timezone"), args.Get("offset"))))
		}}
	}
	end := func(name, doc string, ends [6]int64) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(timestamp part &key timezone into)", Doc: doc, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			partArg, into := args.Get("part"), args.Get("into")
			zone := timezone(c, args.Get("timezone"))
			n := clock(moment(c, args.Get("timestamp")).In(zone.location))
			for i, part := range [6]*lisp.Symbol{kwNsec, kwSec, kwMin, kwHour, kwDay, kwMonth} {
				if n[i] = ends[i]; part != partArg {
					continue
				}
				if i >= 4 && ends[4] > 1 {
					n[4] = daysIn(n[5], n[6])
				}
				return stored(c, into, encoded(c, n, zone))
			}
			c.Fail(lisp.SimpleError, "%s is no part of a moment here: use :nsec :sec :min :hour :day or :month", c.Shown(partArg))
			return nil
		}}
	}
	return []lisp.Builtin{
		move("timestamp+", "The moment later by an amount of :nsec :sec :minute :hour :day :month or :year.", 1),
		move("timestamp-", "The moment earlier by an amount of :nsec :sec :minute :hour :day :month or :year.", -1),
		end("timestamp-minimize-part", "The beginning of the second, minute, hour, day, month or year: the parts up to :nsec :sec :min :hour :day or :month are as small as can be.", [6]int64{0, 0, 0, 0, 1, 1}),
		end("timestamp-maximize-part", "The end of the second, minute, hour, day, month or year: the parts up to :nsec :sec :min :hour :day or :month are as large as can be.", [6]int64{999_999_999, 59, 59, 23, 31, 12}),
		{Name: "timestamp-difference", LambdaList: "(a b)", Doc: "The seconds from b to a.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			x, y := moment(c, a), moment(c, b)
			seconds, nanoseconds := x.Unix()-y.Unix(), int64(x.Nanosecond()-y.Nanosecond())
			if nanoseconds == 0 {
				return lisp.Integer(seconds)
			}
			return float64(seconds) + float64(nanoseconds)/1e9
		}},
		{Name: "timestamp-whole-year-difference", LambdaList: "(a b)", Doc: "The number of whole years from b to a.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			location := timezone(c, nil).location
			x, y := moment(c, a).In(location), moment(c, b).In(location)
			_, offset := y.Zone()
			years := x.Year() - y.Year()
			day := y.Day()
			if y.Month() == time.February {
				day = min(day, 28)
			}
			if time.Date(x.Year(), y.Month(), day, y.Hour(), y.Minute(), y.Second()-offset, y.Nanosecond(), time.UTC).After(x) {
				years--
			}
			return lisp.Count(years)
		}},
	}
}

// moved is a moment later by an amount of a unit. Days are those of the zone: at the same
// time of the clock; a day that a month lacks becomes its last one.
func moved(c *lisp.Call, t time.Time, amount, unit lisp.Value, zone *Timezone) time.Time {
	if unit == kwDayOfWeek {
		return weekday(c, t, amount)
	}
	n := c.Fixnum(amount)
	switch unit {
	case kwNsec:
		return t.Add(time.Duration(n))
	case kwSec:
		return instant(c, n, t.Unix(), int64(t.Nanosecond()))
	case kwMinute, kwHour:
		length := map[lisp.Value]int64{kwMinute: 60, kwHour: 3600}[unit]
		if n > farthest/length || n < -farthest/length {
			tooFar(c)
		}
		return instant(c, n*length, t.Unix(), int64(t.Nanosecond()))
	case kwDay:
		if n > farthest/86400 || n < -farthest/86400 {
			tooFar(c)
		}
		later := instant(c, 86400*n, t.Unix(), int64(t.Nanosecond()))
		_, before := t.In(zone.location).Zone()
		_, after := later.In(zone.location).Zone()
		return later.Add(time.Duration(before-after) * time.Second)
	case kwMonth, kwYear:
		if n > 3_600_000 || n < -3_600_000 {
			tooFar(c)
		}
		if unit == kwYear {
			n *= 12
		}
		return monthsLater(c, t, n, zone)
	}
	c.Fail(lisp.TypeErrorClass, "%s is no unit of time: use :nsec :sec :minute :hour :day :month or :year", c.Shown(unit))
	return t
}

func monthsLater(c *lisp.Call, t time.Time, n int64, zone *Timezone) time.Time {
	parts := clock(t.In(zone.location))
	months := parts[6]*12 + parts[5] - 1 + n
	parts[6] = months / 12
	if parts[5] = months%12 + 1; parts[5] < 1 {
		parts[5] += 12
		parts[6]--
	}
	year(c, lisp.Integer(parts[6]))
	parts[4] = min(parts[4], daysIn(parts[5], parts[6]))
	return encoded(c, parts, zone)
}

var weekdays = []*lisp.Symbol{
	lisp.Keyword("SUNDAY"), lisp.Keyword("MONDAY"), lisp.Keyword("TUESDAY"), lisp.Keyword("WEDNESDAY"),
	lisp.Keyword("THURSDAY"), lisp.Keyword("FRIDAY"), lisp.Keyword("SATURDAY"),
}

// weekday is the day of that name in the week around a moment in UTC, which begins on
// Monday, as local-time counts; its Sunday is the one before.
func weekday(c *lisp.Call, t time.Time, name lisp.Value) time.Time {
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
	c.Fail(lisp.SimpleError, "%s is no day of the week: use :monday to :sunday", c.Shown(name))
	return t
}

// setPart sets a part of a moment.
func setPart(c *lisp.Call, t time.Time, part, v lisp.Value, zone *Timezone) time.Time {
	n := c.Fixnum(v)
	switch part {
	case kwNsec:
		return t.Add(time.Duration(nanoseconds(c, v) - int64(t.Nanosecond())))
	case kwDay:
		second := t.Unix() - localEpoch.Unix() - 86400*localDay(t)
		return localMoment(c, n, second, int64(t.Nanosecond()))
	case kwSecOfDay:
		if n < 0 || n > 86400 {
			c.TypeError(v, "(INTEGER 0 86400)")
		}
		return localMoment(c, localDay(t), n, int64(t.Nanosecond()))
	}
	parts := clock(t.In(zone.location))
	for i, own := range [7]*lisp.Symbol{nil, kwSec, kwMinute, kwHour, kwDayOf, kwMonth, kwYear} {
		if part != own {
			continue
		}
		parts[i] = n
		if i >= 5 && parts[5] >= 1 && parts[5] <= 12 {
			parts[4] = min(parts[4], daysIn(parts[5], year(c, lisp.Integer(parts[6]))))
		}
		return encoded(c, parts, zone)
	}
	c.Fail(lisp.TypeErrorClass, "%s is no part of a moment: use :nsec :sec :sec-of-day :minute :hour :day :day-of-month :month or :year", c.Shown(part))
	return t
}

// adjust changes a timestamp: it sets a part or moves by an amount of a unit.
var adjust = lisp.NewFunction(lisp.Builtin{Name: "ADJUST", LambdaList: "(timestamp change a b timezone offset)", Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
	stamp, zone := args[0], fixedZone(c, args[4], args[5])
	t := moment(c, stamp)
	if args[1] == lisp.Nil {
		t = moved(c, t, args[3], args[2], zone)
	} else {
		t = setPart(c, t, args[2], args[3], zone)
	}
	return stored(c, stamp, t)
}})

// localTimeMacros take moments apart and change them.
func localTimeMacros() []lisp.Macro {
	adjusting := func(fresh bool) func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
		return func(cp *lisp.Compiler, form *lisp.Cons) lisp.Value { return expandAdjust(cp, form, fresh) }
	}
	return []lisp.Macro{
		{Name: "with-decoded-timestamp", LambdaList: "((&key nsec sec minute hour day month year day-of-week daylight-p timezone offset) timestamp &body body)", Doc: "Bind variables to the parts of a moment.", Expand: expandDecoded},
		{Name: "adjust-timestamp", LambdaList: "(timestamp &body changes)", Doc: "The moment with changes, the last first: (:set part value), (:offset unit amount), (:timezone zone), (:utc-offset seconds).", Expand: adjusting(true)},
		{Name: "adjust-timestamp!", LambdaList: "(timestamp &body changes)", Doc: "Change a timestamp, the last change first: (:set part value), (:offset unit amount), (:timezone zone), (:utc-offset seconds).", Expand: adjusting(false)},
	}
}

func expandDecoded(cp *lisp.Compiler, form *lisp.Cons) lisp.Value {
	args := cp.Arguments(form, 2, -1)
	spec := cp.Forms(args[0])
	names := [9]*lisp.Symbol{kwNsec, kwSec, kwMinute, kwHour, kwDay, kwMonth, kwYear, kwDayOfWeek, kwDaylight}
	var variables [9]lisp.Value
	var options []lisp.Value
	if len(spec)%2 != 0 {
		cp.Fail(lisp.ProgramError, "odd number of keyword arguments in %s", cp.Shown(form))
	}
next:
	for i := 0; i < len(spec); i += 2 {
		if spec[i] == kwTimezone || spec[i] == kwOffset {
			options = append(options, spec[i], spec[i+1])
			continue
		}
		for j, name := range names {
			if spec[i] == lisp.Value(name) {
				variables[j] = spec[i+1]
				continue next
			}
		}
		cp.Fail(lisp.ProgramError, "%s is no part of a moment in %s", cp.Shown(spec[i]), cp.Shown(form))
	}
	for i, v := range variables {
		if v == nil {
			variables[i] = cp.Gensym("PART")
		}
	}
	decode := &lisp.Cons{Car: cp.Lookup("LOCAL-TIME:DECODE-TIMESTAMP"), Cdr: lisp.NewList(append([]lisp.Value{args[1]}, options...)...)}
	return lisp.FormStar(lisp.CL("MULTIPLE-VALUE-BIND"), form.Cdr.(*lisp.Cons).Cdr.(*lisp.Cons).Cdr, lisp.NewList(variables[:]...), decode)
}

func expandAdjust(cp *lisp.Compiler, form *lisp.Cons, fresh bool) lisp.Value {
	args := cp.Arguments(form, 1, -1)
	stamp := cp.Gensym("TIMESTAMP")
	zone, offset := lisp.Value(lisp.Nil), lisp.Value(lisp.Nil)
	var changes []lisp.Value
	for _, item := range args[1:] {
		change := cp.Forms(item)
		head, _ := lisp.Optional(change, 0).(*lisp.Symbol)
		switch {
		case head != nil && head.Name() == "TIMEZONE" && len(change) == 2:
			zone = change[1]
		case head != nil && head.Name() == "UTC-OFFSET" && len(change) == 2:
			offset = change[1]
		case head != nil && (head.Name() == "SET" || head.Name() == "OFFSET") && (len(change) == 3 || len(change) == 4):
			changes = append([]lisp.Value{lisp.NewList(lisp.Boolean(head.Name() == "SET"), change[1], change[len(change)-1])}, changes...)
		default:
			cp.Fail(lisp.ProgramError, "%s is no change of a moment: (:set part value), (:offset unit amount), (:timezone zone), (:utc-offset seconds)", cp.Shown(item))
		}
	}
	first := args[0]
	if fresh {
		first = lisp.Form(cp.Lookup("LOCAL-TIME:CLONE-TIMESTAMP"), first)
	}
	body := []lisp.Value{}
	for _, change := range changes {
		parts := cp.Forms(change)
		body = append(body, lisp.Form(lisp.CL("FUNCALL"), lisp.Form(lisp.CL("QUOTE"), adjust), stamp, parts[0], parts[1], parts[2], zone, offset))
	}
	return lisp.FormStar(lisp.CL("LET"), lisp.NewList(append(body, stamp)...), lisp.NewList(lisp.NewList(stamp, first)))
}
