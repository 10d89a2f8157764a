package lisp

import (
	"fmt"
	"time"
)

// universalEpoch is 1900-01-01 in Unix seconds, from where universal time counts.
const universalEpoch = 2208988800

// timeFunctions read the clock of the configuration.
func timeFunctions() []builtin {
	return []builtin{
		{name: "get-universal-time", list: "()", doc: "Seconds since 1900-01-01 00:00 UTC.", call: func(c *Call, _ []Value) Value {
			return Integer(c.environment.config.Now().Unix() + universalEpoch)
		}},
		{name: "get-internal-real-time", list: "()", doc: "Microseconds of the clock.", call: func(c *Call, _ []Value) Value {
			return Integer(c.environment.config.Now().UnixMicro())
		}},
		{name: "get-internal-run-time", list: "()", doc: "Microseconds of the clock.", call: func(c *Call, _ []Value) Value {
			return Integer(c.environment.config.Now().UnixMicro())
		}},
		{name: "sleep", list: "(seconds)", doc: "Wait; the time counts for the call's limit.", one: sleep},
		{name: "decode-universal-time", list: "(time &optional zone)", doc: "Second, minute, hour, day, month, year, weekday (Monday is 0), daylight, zone.", many: true, named: func(c *Call, args Args) Value {
			return c.decodeTime(c.fixnum(args.Get("time")), args.Get("zone"))
		}},
		{name: "get-decoded-time", list: "()", doc: "Like decode-universal-time of now.", many: true, call: func(c *Call, _ []Value) Value {
			return c.decodeTime(c.environment.config.Now().Unix()+universalEpoch, nil)
		}},
		{name: "encode-universal-time", list: "(second minute hour day month year &optional zone)", doc: "The universal time of a date.", call: func(c *Call, args []Value) Value {
			var n [6]int
			for i := range n {
				n[i] = int(c.fixnum(args[i]))
				if bounds := timeBounds[i]; n[i] < bounds[0] || n[i] > bounds[1] {
					c.typeError(args[i], fmt.Sprintf("(INTEGER %d %d)", bounds[0], bounds[1]))
				}
			}
			if n[5] < 100 {
				n[5] = nearYear(n[5], c.environment.config.Now().Year())
			}
			t := time.Date(n[5], time.Month(n[4]), n[3], n[2], n[1], n[0], 0, c.zone(optional(args, 6)))
			universal := t.Unix() + universalEpoch
			if universal < 0 {
				c.typeError(Integer(universal), "UNSIGNED-BYTE")
			}
			return Integer(universal)
		}},
	}
}

// timeBounds are the bounds of what encode-universal-time is given.
var timeBounds = [6][2]int{{0, 59}, {0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 1_000_000}}

// nearYear completes a year of two digits to the one that is nearest.
func nearYear(year, now int) int {
	year += now - now%100
	switch {
	case year > now+50:
		return year - 100
	case year <= now-50:
		return year + 100
	}
	return year
}

// zone takes a time zone as hours west of Greenwich; the local one by default.
func (c *Call) zone(v Value) *time.Location {
	if v == nil || v == Nil {
		return c.environment.config.Now().Location()
	}
	c.realNumber(v)
	west, exact := c.multiply(v, Integer(3600)).(int64)
	if !exact || west < -24*3600 || west > 24*3600 {
		c.typeError(v, "(RATIONAL -24 24)")
	}
	return time.FixedZone("", int(-west))
}

func (c *Call) decodeTime(universal int64, zone Value) Value {
	t := time.Unix(universal-universalEpoch, 0).In(c.zone(zone))
	_, offset := t.Zone()
	west := c.divide(Integer(int64(-offset)), Integer(3600))
	return c.values(count(t.Second()), count(t.Minute()), count(t.Hour()), count(t.Day()), count(int(t.Month())), count(t.Year()),
		count((int(t.Weekday())+6)%7), Boolean(t.IsDST() && zone == nil), west)
}
