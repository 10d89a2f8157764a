package localtime

import (
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // so that zones have the same rules everywhere

	"org-agent/kernel/lisp"
)

// Timestamp is a moment, as the library local-time has them. Its time is in UTC.
type Timestamp struct{ at time.Time }

// Timezone is a zone of local-time.
type Timezone struct {
	location *time.Location
	name     string
}

var (
	utcZone = &Timezone{location: time.UTC, name: "Coordinated Universal Time"}
	gmtZone = &Timezone{location: time.FixedZone("GMT", 0), name: "Greenwich Mean Time"}
)

// localEpoch is the day that local-time counts from.
var localEpoch = time.Date(2000, 3, 1, 0, 0, 0, 0, time.UTC)

// farthest bounds moments: so many seconds from 1970.
const farthest = 10_000_000_000_000

var (
	kwTimezone  = lisp.Keyword("TIMEZONE")
	kwOffset    = lisp.Keyword("OFFSET")
	kwNsec      = lisp.Keyword("NSEC")
	kwSec       = lisp.Keyword("SEC")
	kwMinute    = lisp.Keyword("MINUTE")
	kwMin       = lisp.Keyword("MIN")
	kwHour      = lisp.Keyword("HOUR")
	kwDay       = lisp.Keyword("DAY")
	kwMonth     = lisp.Keyword("MONTH")
	kwYear      = lisp.Keyword("YEAR")
	kwDayOfWeek = lisp.Keyword("DAY-OF-WEEK")
	kwDayOf     = lisp.Keyword("DAY-OF-MONTH")
	kwSecOfDay  = lisp.Keyword("SEC-OF-DAY")
	kwDaylight  = lisp.Keyword("DAYLIGHT-P")
)

// localTimeFunctions are those of local-time.
func localTimeFunctions() []lisp.Builtin {
	return slices.Concat(momentFunctions(), momentComparisons(), momentParts(), momentReckoning(), momentReading(), momentWriting())
}

// momentFunctions make moments and turn them into numbers, and find zones.
func momentFunctions() []lisp.Builtin {
	part := func(name, doc string, part func(t time.Time) int64) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(timestamp)", Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value { return lisp.Integer(part(moment(c, a))) }}
	}
	seconds := func(name, doc string, epoch int64) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(seconds &key nsec)", Doc: doc, Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return newTimestamp(c, instant(c, c.Fixnum(args.Get("seconds")), epoch, nanoseconds(c, args.Get("nsec"))))
		}}
	}
	return []lisp.Builtin{
		{Name: "now", LambdaList: "()", Doc: "This moment.", Call: func(c *lisp.Call, _ []lisp.Value) lisp.Value { return newTimestamp(c, c.Now()) }},
		{Name: "today", LambdaList: "()", Doc: "The beginning of this day in UTC.", Call: func(c *lisp.Call, _ []lisp.Value) lisp.Value {
			return newTimestamp(c, c.Now().UTC().Truncate(24*time.Hour))
		}},
		seconds("unix-to-timestamp", "The moment so many seconds after 1970.", 0),
		seconds("universal-to-timestamp", "The moment of a universal time.", -lisp.UniversalEpoch),
		part("timestamp-to-unix", "Seconds since 1970.", time.Time.Unix),
		part("timestamp-to-universal", "Seconds since 1900.", func(t time.Time) int64 { return t.Unix() + lisp.UniversalEpoch }),
		part("day-of", "Days in UTC since the first of March 2000.", localDay),
		part("sec-of", "Seconds since the beginning of the day in UTC.", func(t time.Time) int64 { return t.Unix() - localEpoch.Unix() - 86400*localDay(t) }),
		part("nsec-of", "Nanoseconds since the beginning of the second.", func(t time.Time) int64 { return int64(t.Nanosecond()) }),
		part("timestamp-millisecond", "Milliseconds since the beginning of the second.", func(t time.Time) int64 { return int64(t.Nanosecond() / 1e6) }),
		part("timestamp-microsecond", "Microseconds since the beginning of the second.", func(t time.Time) int64 { return int64(t.Nanosecond() / 1e3) }),
		part("astronomical-julian-date", "Days since the beginning of the Julian period.", func(t time.Time) int64 { return localDay(t) + 2451605 }),
		part("modified-julian-date", "Days since the 17th of November 1858.", func(t time.Time) int64 { return localDay(t) + 51604 }),
		{Name: "make-timestamp", LambdaList: "(&key day sec nsec)", Doc: "The moment of a day since the first of March 2000, a second of it and a nanosecond of that.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			numbers := [2]int64{}
			for i, v := range []lisp.Value{args.Get("day"), args.Get("sec")} {
				if v != nil {
					numbers[i] = c.Fixnum(v)
				}
			}
			return newTimestamp(c, localMoment(c, numbers[0], numbers[1], nanoseconds(c, args.Get("nsec"))))
		}},
		{Name: "clone-timestamp", LambdaList: "(timestamp)", Doc: "A moment like another one.", One: func(c *lisp.Call, a lisp.Value) lisp.Value { return newTimestamp(c, moment(c, a)) }},
		{Name: "find-timezone-by-location-name", LambdaList: "(name)", Doc: "The zone of a place such as Europe/Paris, and whether there is one.", Many: true, One: findTimezone},
		{Name: "zone-name", LambdaList: "(zone)", Doc: "The name of a zone.", One: func(c *lisp.Call, a lisp.Value) lisp.Value { return c.Text(timezone(c, a).name) }},
		{Name: "timestamp-subtimezone", LambdaList: "(timestamp zone)", Doc: "The seconds that a zone is ahead of UTC at a moment, whether that is summer time, and what it is called.", Many: true, Two: func(c *lisp.Call, a, b lisp.Value) lisp.Value {
			t := moment(c, a).In(timezone(c, b).location)
			name, offset := t.Zone()
			return c.Values(lisp.Count(offset), lisp.Boolean(t.IsDST()), c.Text(name))
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
func localMoment(c *lisp.Call, day, second, nanosecond int64) time.Time {
	if day > farthest/86400 || day < -farthest/86400 {
		tooFar(c)
	}
	return instant(c, second, localEpoch.Unix()+86400*day, nanosecond)
}

// instant is the moment a number of seconds after another one.
func instant(c *lisp.Call, seconds, after, nanosecond int64) time.Time {
	if seconds > farthest || seconds < -farthest {
		tooFar(c)
	}
	return time.Unix(after+seconds, nanosecond)
}

func tooFar(c *lisp.Call) {
	c.Fail(lisp.SimpleError, "the moment is too far away: years from about -300000 to 300000 can be told")
}

func nanoseconds(c *lisp.Call, v lisp.Value) int64 {
	if v == nil {
		return 0
	}
	n := c.Fixnum(v)
	if n < 0 || n > 999_999_999 {
		c.TypeError(v, "(INTEGER 0 999999999)")
	}
	return n
}

func newTimestamp(c *lisp.Call, t time.Time) lisp.Value {
	if seconds := t.Unix(); seconds > farthest || seconds < -farthest {
		tooFar(c)
	}
	return lisp.Allocate(c, Timestamp{at: t.UTC()})
}

// moment takes a timestamp.
func moment(c *lisp.Call, v lisp.Value) time.Time {
	t, ok := v.(*Timestamp)
	if !ok {
		c.TypeError(v, "LOCAL-TIME:TIMESTAMP")
	}
	return t.at
}

// timezone takes a zone; nil is the default one, which is that of the environment's clock
// unless the note says otherwise.
func timezone(c *lisp.Call, v lisp.Value) *Timezone {
	if !lisp.Given(v) {
		v = c.Variable(c.Lookup("LOCAL-TIME:*DEFAULT-TIMEZONE*"))
	}
	switch x := v.(type) {
	case *Timezone:
		return x
	case *lisp.Symbol:
		if x == lisp.Nil {
			location := c.Now().Location()
			return &Timezone{location: location, name: location.String()}
		}
	}
	c.TypeError(v, "LOCAL-TIME:TIMEZONE")
	return nil
}

// fixedZone is a zone that is an offset from UTC, or the given one without an offset.
func fixedZone(c *lisp.Call, zone, offset lisp.Value) *Timezone {
	if !lisp.Given(offset) {
		return timezone(c, zone)
	}
	seconds := c.Fixnum(offset)
	if seconds > 86400 || seconds < -86400 {
		c.TypeError(offset, "(INTEGER -86400 86400)")
	}
	return &Timezone{location: time.FixedZone("NONE", int(seconds)), name: "Explicit Offset Given"}
}

// findTimezone looks into the system's database of zones, or else into our own copy.
func findTimezone(c *lisp.Call, a lisp.Value) lisp.Value {
	name := c.TakeText(a)
	if len(name) > 100 || name == "" || name == "Local" || strings.Contains(name, "..") {
		return c.Values(lisp.Nil, lisp.Nil)
	}
	c.Work(1000)
	c.Charge(zoneBytes)
	location, err := time.LoadLocation(name)
	if err != nil {
		return c.Values(lisp.Nil, lisp.Nil)
	}
	return c.Values(lisp.Allocate(c, Timezone{location: location, name: name}), lisp.T)
}

// zoneBytes is what the rules of a zone take.
const zoneBytes = 16 << 10

// momentComparisons compare any number of moments.
func momentComparisons() []lisp.Builtin {
	chain := func(name, doc string, test func(order int) bool) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(timestamp &rest more)", Doc: doc, Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
			moment(c, args[0])
			result := true
			for i := 1; i < len(args); i++ {
				result = test(moment(c, args[i-1]).Compare(moment(c, args[i]))) && result
			}
			return lisp.Boolean(result)
		}}
	}
	extreme := func(name, doc string, order int) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(timestamp &rest more)", Doc: doc, Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
			best := args[0]
			moment(c, best)
			for _, arg := range args[1:] {
				if moment(c, arg).Compare(moment(c, best)) == order {
					best = arg
				}
			}
			return best
		}}
	}
	return []lisp.Builtin{
		chain("timestamp<", "True if each moment is before the next.", func(o int) bool { return o < 0 }),
		chain("timestamp>", "True if each moment is after the next.", func(o int) bool { return o > 0 }),
		chain("timestamp<=", "True if no moment is after the next.", func(o int) bool { return o <= 0 }),
		chain("timestamp>=", "True if no moment is before the next.", func(o int) bool { return o >= 0 }),
		chain("timestamp=", "True if all are the same moment.", func(o int) bool { return o == 0 }),
		{Name: "timestamp/=", LambdaList: "(&rest timestamps)", Doc: "True if no two are the same moment.", Call: func(c *lisp.Call, args []lisp.Value) lisp.Value {
			seen := map[time.Time]bool{}
			for _, arg := range args {
				t := moment(c, arg)
				if seen[t] {
					return lisp.Nil
				}
				lisp.Insert(c, seen, t, true)
			}
			return lisp.T
		}},
		extreme("timestamp-minimum", "The earliest moment.", -1), extreme("timestamp-maximum", "The latest moment.", 1),
	}
}
