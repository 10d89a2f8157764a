package lisp

import (
	"fmt"
	"time"
)

// sleep waits as long as the note says, at most until the call's own time is over or its
// context ends: a note that sleeps too long ends as one that computes too long does.
func sleep(c *Call, seconds Value) Value {
	if c.number(seconds); c.compare(seconds, Integer(0)) < 0 {
		c.TypeError(seconds, "UNSIGNED-BYTE")
	}
	left := time.Until(c.deadline) + time.Millisecond
	if wanted := c.double(seconds); wanted < left.Seconds() {
		left = time.Duration(wanted * float64(time.Second))
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done():
	}
	c.poll()
	return Nil
}

// UniversalEpoch is 1900-01-01 in Unix seconds, from where universal time counts.
const UniversalEpoch = 2208988800

// timeFunctions read the clock of the configuration.
func timeFunctions() []Builtin {
	return []Builtin{
		{Name: "get-universal-time", LambdaList: "()", Doc: "Seconds since 1900-01-01 00:00 UTC.", Call: func(c *Call, _ []Value) Value {
			return Integer(c.environment.config.Now().Unix() + UniversalEpoch)
		}},
		{Name: "get-internal-real-time", LambdaList: "()", Doc: "Microseconds of the clock.", Call: func(c *Call, _ []Value) Value {
			return Integer(c.environment.config.Now().UnixMicro())
		}},
		{Name: "get-internal-run-time", LambdaList: "()", Doc: "Microseconds of the clock.", Call: func(c *Call, _ []Value) Value {
			return Integer(c.environment.config.Now().UnixMicro())
		}},
		{Name: "sleep", LambdaList: "(seconds)", Doc: "Wait; the time counts for the call's limit.", One: sleep},
		{Name: "decode-universal-time", LambdaList: "(time &optional zone)", Doc: "Second, minute, hour, day, month, year, weekday (Monday is 0), daylight, zone.", Many: true, Named: func(c *Call, args Args) Value {
			return c.decodeTime(c.Fixnum(args.Get("time")), args.Get("zone"))
		}},
		{Name: "get-decoded-time", LambdaList: "()", Doc: "Like decode-universal-time of now.", Many: true, Call: func(c *Call, _ []Value) Value {
			return c.decodeTime(c.environment.config.Now().Unix()+UniversalEpoch, nil)
		}},
		{Name: "encode-universal-time", LambdaList: "(second minute hour day month year &optional zone)", Doc: "The universal time of a date.", Named: func(c *Call, args Args) Value {
			var n [6]int
			for i := range n {
				n[i] = int(c.Fixnum(args.At(i)))
				if bounds := timeBounds[i]; n[i] < bounds[0] || n[i] > bounds[1] {
					c.TypeError(args.At(i), fmt.Sprintf("(INTEGER %d %d)", bounds[0], bounds[1]))
				}
			}
			if n[5] < 100 {
				n[5] = nearYear(n[5], c.environment.config.Now().Year())
			}
			t := time.Date(n[5], time.Month(n[4]), n[3], n[2], n[1], n[0], 0, c.zone(args.Get("zone")))
			universal := t.Unix() + UniversalEpoch
			if universal < 0 {
				c.TypeError(Integer(universal), "UNSIGNED-BYTE")
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
		c.TypeError(v, "(RATIONAL -24 24)")
	}
	return time.FixedZone("", int(-west))
}

func (c *Call) decodeTime(universal int64, zone Value) Value {
	t := time.Unix(universal-UniversalEpoch, 0).In(c.zone(zone))
	_, offset := t.Zone()
	west := c.divide(Integer(int64(-offset)), Integer(3600))
	return c.Values(Count(t.Second()), Count(t.Minute()), Count(t.Hour()), Count(t.Day()), Count(int(t.Month())), Count(t.Year()),
		Count((int(t.Weekday())+6)%7), Boolean(t.IsDST() && zone == nil), west)
}

// surroundingFunctions tell what a note runs in: this evaluator, and nothing about the
// machine, which is not the note's business.
func surroundingFunctions() []Builtin {
	unknown := func(name, what string) Builtin {
		return Builtin{Name: name, LambdaList: "()", Doc: "Nil: a note is told nothing about " + what + ".", Call: func(*Call, []Value) Value { return Nil }}
	}
	return []Builtin{
		{Name: "lisp-implementation-type", LambdaList: "()", Doc: "The name of this Lisp.", Call: func(c *Call, _ []Value) Value { return c.Text("org-agent") }},
		unknown("lisp-implementation-version", "the version"),
		unknown("machine-instance", "the machine"),
		unknown("machine-type", "the machine"),
		unknown("machine-version", "the machine"),
		unknown("software-type", "the system"),
		unknown("software-version", "the system"),
		unknown("short-site-name", "the site"),
		unknown("long-site-name", "the site"),
		{Name: "function-lambda-expression", LambdaList: "(function)", Doc: "Nil for the source, which is not kept; whether variables are closed over; and the name.", Many: true, One: func(c *Call, a Value) Value {
			fn, ok := a.(*Function)
			if !ok {
				c.TypeError(a, "FUNCTION")
			}
			return c.Values(Nil, T, c.functionNameOf(fn))
		}},
	}
}

// functionNameOf is the symbol that a function was defined as, nil for one without a name.
func (c *Call) functionNameOf(fn *Function) Value {
	if fn.name == "" {
		return Nil
	}
	if symbol, ok := c.CurrentPackage().Find(fn.name); ok {
		return symbol
	}
	return c.Text(fn.name)
}

// surroundingMacros are about compilation, of which nothing here comes in units.
func surroundingMacros() []Macro {
	return []Macro{
		{"with-compilation-unit", "((&key override) &body body)", "Evaluate body.", func(cp *Compiler, form *Cons) Value {
			cp.Forms(cp.Arguments(form, 1, -1)[0])
			return progn(form.Cdr.(*Cons).Cdr)
		}},
	}
}
