package localtime

import (
	"strings"
	"time"

	"org-agent/kernel/lisp"
)

// momentParts tell the parts of a moment in a zone, and make moments of them.
func momentParts() []lisp.Builtin {
	part := func(name, doc string, part func(t time.Time) int) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(timestamp &key timezone)", Doc: doc, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return lisp.Count(part(moment(c, args.Get("timestamp")).In(timezone(c, args.Get("timezone")).location)))
		}}
	}
	rows := []lisp.Builtin{
		part("timestamp-year", "The year.", time.Time.Year), part("timestamp-month", "The month, from 1.", func(t time.Time) int { return int(t.Month()) }),
		part("timestamp-day", "The day of the month.", time.Time.Day), part("timestamp-hour", "The hour.", time.Time.Hour),
		part("timestamp-minute", "The minute.", time.Time.Minute), part("timestamp-second", "The second.", time.Time.Second),
		part("timestamp-decade", "The year divided by ten.", func(t time.Time) int { return t.Year() / 10 }),
		part("timestamp-century", "The century, counted from 1.", func(t time.Time) int { return counted(t.Year(), 100) }),
		part("timestamp-millennium", "The millennium, counted from 1.", func(t time.Time) int { return counted(t.Year(), 1000) }),
		{Name: "timestamp-day-of-week", LambdaList: "(timestamp &key timezone offset)", Doc: "The day of the week; Sunday is 0.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return lisp.Count(int(moment(c, args.Get("timestamp")).In(fixedZone(c, args.Get("timezone"), args.Get("offset")).location).Weekday()))
		}},
		{Name: "decode-timestamp", LambdaList: "(timestamp &key timezone offset)", Doc: "Nanosecond, second, minute, hour, day, month, year, day of the week, whether it is summer time, seconds ahead of UTC, name of the zone.", Many: true, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return c.Values(decoded(c, moment(c, args.Get("timestamp")).In(fixedZone(c, args.Get("timezone"), args.Get("offset")).location))...)
		}},
		{Name: "encode-timestamp", LambdaList: "(nsec sec minute hour day month year &key timezone offset into)", Doc: "The moment of a date and time in a zone.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			var numbers [7]int64
			for i := range numbers {
				numbers[i] = c.Fixnum(args.At(i))
			}
			return stored(c, args.Get("into"), encoded(c, numbers, fixedZone(c, args.Get("timezone"), args.Get("offset"))))
		}},
		{Name: "days-in-month", LambdaList: "(month year)", Doc: "The number of days of a month.", Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			month := c.Fixnum(a)
			if month < 1 || month > 12 {
				c.TypeError(a, "(INTEGER 1 12)")
			}
			return lisp.Integer(daysIn(month, year(c, b)))
		}},
		{Name: "encode-universal-time-with-tz", LambdaList: "(sec minute hour day month year &key timezone)", Doc: "The universal time of a date and time in a zone.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			var numbers [7]int64
			for i := range 6 {
				numbers[i+1] = c.Fixnum(args.At(i))
			}
			return lisp.Integer(encoded(c, numbers, timezone(c, args.Get("timezone"))).Unix() + lisp.UniversalEpoch)
		}},
		{Name: "decode-universal-time-with-tz", LambdaList: "(seconds &key timezone)", Doc: "Second, minute, hour, day, month, year, day of the week from Monday, whether it is summer time, hours behind UTC, name of the zone.", Many: true, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			v := decoded(c, instant(c, c.Fixnum(args.Get("seconds")), -lisp.UniversalEpoch, 0).In(timezone(c, args.Get("timezone")).location))
			weekday := lisp.Count(int(v[7].(int64)+6) % 7)
			return c.Values(v[1], v[2], v[3], v[4], v[5], v[6], weekday, v[8], c.Standard("/", c.Standard("-", v[9]), lisp.Integer(3600)), v[10])
		}},
	}
	for i, day := range []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"} {
		rows = append(rows, lisp.Builtin{Name: "" + day + "?", LambdaList: "(timestamp)", Doc: "True for a " + strings.ToUpper(day[:1]) + day[1:] + ".", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			return lisp.Boolean(int(moment(c, a).In(timezone(c, nil).location).Weekday()) == i)
		}})
	}
	return rows
}

// counted is the century or millennium of a year.
func counted(year, length int) int {
	if year < 0 {
		return -counted(-year, length)
	}
	return (year + length - 1) / length
}

// year takes a year that can be told.
func year(c *lisp.Call, v lisp.Value) int64 {
	year := c.Fixnum(v)
	if year > 300_000 || year < -300_000 {
		tooFar(c)
	}
	return year
}

func daysIn(month, year int64) int64 {
	return int64(time.Date(int(year), time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day())
}

// stored puts a moment into a timestamp if one is given, else into a new one.
func stored(c *lisp.Call, into lisp.Value, t time.Time) lisp.Value {
	fresh := newTimestamp(c, t)
	if lisp.Given(into) {
		moment(c, into)
		into.(*Timestamp).at = fresh.(*Timestamp).at
		return into
	}
	return fresh
}

// decoded are the values of decode-timestamp.
func decoded(c *lisp.Call, t time.Time) []lisp.Value {
	name, offset := t.Zone()
	return []lisp.Value{
		lisp.Count(t.Nanosecond()), lisp.Count(t.Second()), lisp.Count(t.Minute()), lisp.Count(t.Hour()), lisp.Count(t.Day()), lisp.Count(int(t.Month())), lisp.Count(t.Year()),
		lisp.Count(int(t.Weekday())), lisp.Boolean(t.IsDST()), lisp.Count(offset), c.Text(name),
	}
}

// clock are nanosecond, second, minute, hour, day, month and year of a moment.
func clock(t time.Time) [7]int64 {
	return [7]int64{int64(t.Nanosecond()), int64(t.Second()), int64(t.Minute()), int64(t.Hour()), int64(t.Day()), int64(t.Month()), int64(t.Year())}
}

// encoded is the moment of nanosecond, second, minute, hour, day, month and year.
func encoded(c *lisp.Call, n [7]int64, zone *Timezone) time.Time {
	year(c, lisp.Integer(n[6]))
	for i, limit := range [6][2]int64{{0, 999_999_999}, {0, 59}, {0, 59}, {0, 23}, {1, 31}, {1, 12}} {
		if n[i] < limit[0] || n[i] > limit[1] {
			invalidTime(c)
		}
	}
	if n[4] > daysIn(n[5], n[6]) || n[6] == 0 {
		invalidTime(c)
	}
	return atWall(time.Date(int(n[6]), time.Month(n[5]), int(n[4]), int(n[3]), int(n[2]), int(n[1]), int(n[0]), time.UTC), zone.location)
}

func invalidTime(c *lisp.Call) {
	c.Signal("LOCAL-TIME:INVALID-TIME-SPECIFICATION", "there is no such date or time")
}

// atWall is the moment at which the clocks of a zone show what wall shows in UTC. Where
// they show it twice or never, winter time counts.
func atWall(wall time.Time, zone *time.Location) time.Time {
	offset := func(t time.Time) time.Duration {
		_, seconds := t.In(zone).Zone()
		return time.Duration(seconds) * time.Second
	}
	before, after := offset(wall.Add(-24*time.Hour)), offset(wall.Add(24*time.Hour))
	beforeFits, afterFits := offset(wall.Add(-before)) == before, offset(wall.Add(-after)) == after
	switch {
	case beforeFits && !afterFits:
		return wall.Add(-before)
	case afterFits && !beforeFits:
		return wall.Add(-after)
	}
	return wall.Add(-min(before, after))
}
