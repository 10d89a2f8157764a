package lisp

import (
	"strings"
	"time"
)

// momentParts tell the parts of a moment in a zone, and make moments of them.
func momentParts() []builtin {
	part := func(name, doc string, part func(t time.Time) int) builtin {
		return builtin{name: name, list: "(timestamp &key timezone)", doc: doc, named: func(c *Call, args Args) Value {
			return count(part(c.moment(args.Get("timestamp")).In(c.timezone(args.Get("timezone")).location)))
		}}
	}
	rows := []builtin{
		part("local-time:timestamp-year", "The year.", time.Time.Year), part("local-time:timestamp-month", "The month, from 1.", func(t time.Time) int { return int(t.Month()) }),
		part("local-time:timestamp-day", "The day of the month.", time.Time.Day), part("local-time:timestamp-hour", "The hour.", time.Time.Hour),
		part("local-time:timestamp-minute", "The minute.", time.Time.Minute), part("local-time:timestamp-second", "The second.", time.Time.Second),
		part("local-time:timestamp-decade", "The year divided by ten.", func(t time.Time) int { return t.Year() / 10 }),
		part("local-time:timestamp-century", "The century, counted from 1.", func(t time.Time) int { return counted(t.Year(), 100) }),
		part("local-time:timestamp-millennium", "The millennium, counted from 1.", func(t time.Time) int { return counted(t.Year(), 1000) }),
		{name: "local-time:timestamp-day-of-week", list: "(timestamp &key timezone offset)", doc: "The day of the week; Sunday is 0.", named: func(c *Call, args Args) Value {
			return count(int(c.moment(args.Get("timestamp")).In(c.fixedZone(args.Get("timezone"), args.Get("offset")).location).Weekday()))
		}},
		{name: "local-time:decode-timestamp", list: "(timestamp &key timezone offset)", doc: "Nanosecond, second, minute, hour, day, month, year, day of the week, whether it is summer time, seconds ahead of UTC, name of the zone.", many: true, named: func(c *Call, args Args) Value {
			return c.values(c.decoded(c.moment(args.Get("timestamp")).In(c.fixedZone(args.Get("timezone"), args.Get("offset")).location))...)
		}},
		{name: "local-time:encode-timestamp", list: "(nsec sec minute hour day month year &key timezone offset into)", doc: "The moment of a date and time in a zone.", named: func(c *Call, args Args) Value {
			var numbers [7]int64
			for i := range numbers {
				numbers[i] = c.fixnum(args.At(i))
			}
			return c.stored(args.Get("into"), c.encoded(numbers, c.fixedZone(args.Get("timezone"), args.Get("offset"))))
		}},
		{name: "local-time:days-in-month", list: "(month year)", doc: "The number of days of a month.", two: func(c *Call, a, b Value) Value {
			month := c.fixnum(a)
			if month < 1 || month > 12 {
				c.typeError(a, "(INTEGER 1 12)")
			}
			return Integer(daysIn(month, c.year(b)))
		}},
		{name: "local-time:encode-universal-time-with-tz", list: "(sec minute hour day month year &key timezone)", doc: "The universal time of a date and time in a zone.", named: func(c *Call, args Args) Value {
			var numbers [7]int64
			for i := range 6 {
				numbers[i+1] = c.fixnum(args.At(i))
			}
			return Integer(c.encoded(numbers, c.timezone(args.Get("timezone"))).Unix() + universalEpoch)
		}},
		{name: "local-time:decode-universal-time-with-tz", list: "(seconds &key timezone)", doc: "Second, minute, hour, day, month, year, day of the week from Monday, whether it is summer time, hours behind UTC, name of the zone.", many: true, named: func(c *Call, args Args) Value {
			v := c.decoded(c.instant(c.fixnum(args.Get("seconds")), -universalEpoch, 0).In(c.timezone(args.Get("timezone")).location))
			weekday := count(int(v[7].(int64)+6) % 7)
			return c.values(v[1], v[2], v[3], v[4], v[5], v[6], weekday, v[8], c.divide(c.arithmetic(Integer(0), v[9], '-'), Integer(3600)), v[10])
		}},
	}
	for i, day := range []string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"} {
		rows = append(rows, builtin{name: "local-time:" + day + "?", list: "(timestamp)", doc: "True for a " + strings.ToUpper(day[:1]) + day[1:] + ".", one: func(c *Call, a Value) Value {
			return Boolean(int(c.moment(a).In(c.timezone(nil).location).Weekday()) == i)
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
func (c *Call) year(v Value) int64 {
	year := c.fixnum(v)
	if year > 300_000 || year < -300_000 {
		c.tooFar()
	}
	return year
}

func daysIn(month, year int64) int64 {
	return int64(time.Date(int(year), time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day())
}

// stored puts a moment into a timestamp if one is given, else into a new one.
func (c *Call) stored(into Value, t time.Time) Value {
	fresh := c.newTimestamp(t)
	if given(into) {
		c.moment(into)
		into.(*Timestamp).at = fresh.(*Timestamp).at
		return into
	}
	return fresh
}

// decoded are the values of decode-timestamp.
func (c *Call) decoded(t time.Time) []Value {
	name, offset := t.Zone()
	return []Value{
		count(t.Nanosecond()), count(t.Second()), count(t.Minute()), count(t.Hour()), count(t.Day()), count(int(t.Month())), count(t.Year()),
		count(int(t.Weekday())), Boolean(t.IsDST()), count(offset), c.text(name),
	}
}

// clock are nanosecond, second, minute, hour, day, month and year of a moment.
func clock(t time.Time) [7]int64 {
	return [7]int64{int64(t.Nanosecond()), int64(t.Second()), int64(t.Minute()), int64(t.Hour()), int64(t.Day()), int64(t.Month()), int64(t.Year())}
}

// encoded is the moment of nanosecond, second, minute, hour, day, month and year.
func (c *Call) encoded(n [7]int64, zone *Timezone) time.Time {
	c.year(Integer(n[6]))
	for i, limit := range [6][2]int64{{0, 999_999_999}, {0, 59}, {0, 59}, {0, 23}, {1, 31}, {1, 12}} {
		if n[i] < limit[0] || n[i] > limit[1] {
			c.invalidTime()
		}
	}
	if n[4] > daysIn(n[5], n[6]) || n[6] == 0 {
		c.invalidTime()
	}
	return atWall(time.Date(int(n[6]), time.Month(n[5]), int(n[4]), int(n[3]), int(n[2]), int(n[1]), int(n[0]), time.UTC), zone.location)
}

func (c *Call) invalidTime() {
	c.libraryError("LOCAL-TIME:INVALID-TIME-SPECIFICATION", "there is no such date or time")
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
