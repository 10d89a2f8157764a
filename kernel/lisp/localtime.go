package lisp

import (
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // so that zones have the same rules everywhere
)

// Timestamp is a moment, as the library local-time has them. Its time is in UTC.
type Timestamp struct{ at time.Time }

// Timezone is a zone of local-time.
type Timezone struct {
	location *time.Location
	name     string
}

var (
	symTimestamp = &Symbol{name: "TIMESTAMP", home: "LOCAL-TIME"}
	utcZone      = &Timezone{location: time.UTC, name: "Coordinated Universal Time"}
	gmtZone      = &Timezone{location: time.FixedZone("GMT", 0), name: "Greenwich Mean Time"}
)

// localEpoch is the day that local-time counts from.
var localEpoch = time.Date(2000, 3, 1, 0, 0, 0, 0, time.UTC)

// farthest bounds moments: so many seconds from 1970.
const farthest = 10_000_000_000_000

var (
	kwTimezone  = standardKeyword("TIMEZONE")
	kwOffset    = standardKeyword("OFFSET")
	kwNsec      = standardKeyword("NSEC")
	kwSec       = standardKeyword("SEC")
	kwMinute    = standardKeyword("MINUTE")
	kwMin       = standardKeyword("MIN")
	kwHour      = standardKeyword("HOUR")
	kwDay       = standardKeyword("DAY")
	kwMonth     = standardKeyword("MONTH")
	kwYear      = standardKeyword("YEAR")
	kwDayOfWeek = standardKeyword("DAY-OF-WEEK")
	kwDayOf     = standardKeyword("DAY-OF-MONTH")
	kwSecOfDay  = standardKeyword("SEC-OF-DAY")
	kwDaylight  = standardKeyword("DAYLIGHT-P")
)

// localTimeFunctions are those of local-time.
func localTimeFunctions() []builtin {
	return slices.Concat(momentFunctions(), momentComparisons(), momentParts(), momentReckoning(), momentReading(), momentWriting())
}

// momentFunctions make moments and turn them into numbers, and find zones.
func momentFunctions() []builtin {
	part := func(name, doc string, part func(t time.Time) int64) builtin {
		return builtin{name: name, list: "(timestamp)", doc: doc, one: func(c *Call, a Value) Value { return Integer(part(c.moment(a))) }}
	}
	seconds := func(name, doc string, epoch int64) builtin {
		return builtin{name: name, list: "(seconds &key nsec)", doc: doc, named: func(c *Call, args Args) Value {
			return c.newTimestamp(c.instant(c.fixnum(args.Get("seconds")), epoch, c.nanoseconds(args.Get("nsec"))))
		}}
	}
	return []builtin{
		{name: "local-time:now", list: "()", doc: "This moment.", call: func(c *Call, _ []Value) Value { return c.newTimestamp(c.environment.config.Now()) }},
		{name: "local-time:today", list: "()", doc: "The beginning of this day in UTC.", call: func(c *Call, _ []Value) Value {
			return c.newTimestamp(c.environment.config.Now().UTC().Truncate(24 * time.Hour))
		}},
		seconds("local-time:unix-to-timestamp", "The moment so many seconds after 1970.", 0),
		seconds("local-time:universal-to-timestamp", "The moment of a universal time.", -universalEpoch),
		part("local-time:timestamp-to-unix", "Seconds since 1970.", time.Time.Unix),
		part("local-time:timestamp-to-universal", "Seconds since 1900.", func(t time.Time) int64 { return t.Unix() + universalEpoch }),
		part("local-time:day-of", "Days in UTC since the first of March 2000.", localDay),
		part("local-time:sec-of", "Seconds since the beginning of the day in UTC.", func(t time.Time) int64 { return t.Unix() - localEpoch.Unix() - 86400*localDay(t) }),
		part("local-time:nsec-of", "Nanoseconds since the beginning of the second.", func(t time.Time) int64 { return int64(t.Nanosecond()) }),
		part("local-time:timestamp-millisecond", "Milliseconds since the beginning of the second.", func(t time.Time) int64 { return int64(t.Nanosecond() / 1e6) }),
		part("local-time:timestamp-microsecond", "Microseconds since the beginning of the second.", func(t time.Time) int64 { return int64(t.Nanosecond() / 1e3) }),
		part("local-time:astronomical-julian-date", "Days since the beginning of the Julian period.", func(t time.Time) int64 { return localDay(t) + 2451605 }),
		part("local-time:modified-julian-date", "Days since the 17th of November 1858.", func(t time.Time) int64 { return localDay(t) + 51604 }),
		{name: "local-time:make-timestamp", list: "(&key day sec nsec)", doc: "The moment of a day since the first of March 2000, a second of it and a nanosecond of that.", named: func(c *Call, args Args) Value {
			numbers := [2]int64{}
			for i, v := range []Value{args.Get("day"), args.Get("sec")} {
				if v != nil {
					numbers[i] = c.fixnum(v)
				}
			}
			return c.newTimestamp(c.localMoment(numbers[0], numbers[1], c.nanoseconds(args.Get("nsec"))))
		}},
		{name: "local-time:clone-timestamp", list: "(timestamp)", doc: "A moment like another one.", one: func(c *Call, a Value) Value { return c.newTimestamp(c.moment(a)) }},
		{name: "local-time:find-timezone-by-location-name", list: "(name)", doc: "The zone of a place such as Europe/Paris, and whether there is one.", many: true, one: findTimezone},
		{name: "local-time:zone-name", list: "(zone)", doc: "The name of a zone.", one: func(c *Call, a Value) Value { return c.text(c.timezone(a).name) }},
		{name: "local-time:timestamp-subtimezone", list: "(timestamp zone)", doc: "The seconds that a zone is ahead of UTC at a moment, whether that is summer time, and what it is called.", many: true, two: func(c *Call, a, b Value) Value {
			t := c.moment(a).In(c.timezone(b).location)
			name, offset := t.Zone()
			return c.values(count(offset), Boolean(t.IsDST()), c.text(name))
		}},
	}
}

func localDay(t time.Time) int64 {
	seconds := t.Unix() - localEpoch.Unix()
	day := seconds / 86400
	if seconds%86400 < 0 {
		day--
	}
	return day
}

// localMoment is the moment of a day, a second and a nanosecond as local-time counts.
func (c *Call) localMoment(day, second, nanosecond int64) time.Time {
	if day > farthest/86400 || day < -farthest/86400 {
		c.tooFar()
	}
	return c.instant(second, localEpoch.Unix()+86400*day, nanosecond)
}

// instant is the moment a number of seconds after another one.
func (c *Call) instant(seconds, after, nanosecond int64) time.Time {
	if seconds > farthest || seconds < -farthest {
		c.tooFar()
	}
	return time.Unix(after+seconds, nanosecond)
}

func (c *Call) tooFar() {
	c.fail(simpleError, "the moment is too far away: years from about -300000 to 300000 can be told")
}

func (c *Call) nanoseconds(v Value) int64 {
	if v == nil {
		return 0
	}
	n := c.fixnum(v)
	if n < 0 || n > 999_999_999 {
		c.typeError(v, "(INTEGER 0 999999999)")
	}
	return n
}

func (c *Call) newTimestamp(t time.Time) Value {
	c.charge(closureBytes)
	if seconds := t.Unix(); seconds > farthest || seconds < -farthest {
		c.tooFar()
	}
	return &Timestamp{at: t.UTC()}
}

// moment takes a timestamp.
func (c *Call) moment(v Value) time.Time {
	t, ok := v.(*Timestamp)
	if !ok {
		c.typeError(v, "LOCAL-TIME:TIMESTAMP")
	}
	return t.at
}

// timezone takes a zone; nil is the default one, which is that of the environment's clock
// unless the note says otherwise.
func (c *Call) timezone(v Value) *Timezone {
	if !given(v) {
		v = c.symbolValue(c.environment.language.symbol("LOCAL-TIME:*DEFAULT-TIMEZONE*"))
	}
	switch x := v.(type) {
	case *Timezone:
		return x
	case *Symbol:
		if x == Nil {
			location := c.environment.config.Now().Location()
			return &Timezone{location: location, name: location.String()}
		}
	}
	c.typeError(v, "LOCAL-TIME:TIMEZONE")
	return nil
}

// fixedZone is a zone that is an offset from UTC, or the given one without an offset.
func (c *Call) fixedZone(zone, offset Value) *Timezone {
	if !given(offset) {
		return c.timezone(zone)
	}
	seconds := c.fixnum(offset)
	if seconds > 86400 || seconds < -86400 {
		c.typeError(offset, "(INTEGER -86400 86400)")
	}
	return &Timezone{location: time.FixedZone("NONE", int(seconds)), name: "Explicit Offset Given"}
}

// findTimezone looks into the system's database of zones, or else into our own copy.
func findTimezone(c *Call, a Value) Value {
	name := c.str(a).String()
	if len(name) > 100 || name == "" || name == "Local" || strings.Contains(name, "..") {
		return c.values(Nil, Nil)
	}
	c.charge(16 * 1024)
	c.work(1000)
	location, err := time.LoadLocation(name)
	if err != nil {
		return c.values(Nil, Nil)
	}
	return c.values(&Timezone{location: location, name: name}, T)
}

// momentComparisons compare any number of moments.
func momentComparisons() []builtin {
	chain := func(name, doc string, test func(order int) bool) builtin {
		return builtin{name: name, list: "(timestamp &rest more)", doc: doc, call: func(c *Call, args []Value) Value {
			c.moment(args[0])
			result := true
			for i := 1; i < len(args); i++ {
				result = test(c.moment(args[i-1]).Compare(c.moment(args[i]))) && result
			}
			return Boolean(result)
		}}
	}
	extreme := func(name, doc string, order int) builtin {
		return builtin{name: name, list: "(timestamp &rest more)", doc: doc, call: func(c *Call, args []Value) Value {
			best := args[0]
			c.moment(best)
			for _, arg := range args[1:] {
				if c.moment(arg).Compare(c.moment(best)) == order {
					best = arg
				}
			}
			return best
		}}
	}
	return []builtin{
		chain("local-time:timestamp<", "True if each moment is before the next.", func(o int) bool { return o < 0 }),
		chain("local-time:timestamp>", "True if each moment is after the next.", func(o int) bool { return o > 0 }),
		chain("local-time:timestamp<=", "True if no moment is after the next.", func(o int) bool { return o <= 0 }),
		chain("local-time:timestamp>=", "True if no moment is before the next.", func(o int) bool { return o >= 0 }),
		chain("local-time:timestamp=", "True if all are the same moment.", func(o int) bool { return o == 0 }),
		{name: "local-time:timestamp/=", list: "(&rest timestamps)", doc: "True if no two are the same moment.", call: func(c *Call, args []Value) Value {
			seen := map[time.Time]bool{}
			for _, arg := range args {
				c.charge(entryBytes)
				t := c.moment(arg)
				if seen[t] {
					return Nil
				}
				seen[t] = true
			}
			return T
		}},
		extreme("local-time:timestamp-minimum", "The earliest moment.", -1), extreme("local-time:timestamp-maximum", "The latest moment.", 1),
	}
}
