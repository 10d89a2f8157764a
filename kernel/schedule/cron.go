package schedule

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/netresearch/go-cron"
)

// parser reads five fields (minute, hour, day of the month, month, day of the week), six with seconds in front, and
// the descriptors @yearly @monthly @weekly @daily @hourly and @every. As crontab(5) has it, a day fits that fits one of
// the fields for days, where neither is a star.
var parser = cron.MustNewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.DowOrDom | cron.Descriptor)

// Cron is a rule in the notation of cron. Make one with [ParseCron].
type Cron struct {
	spec   *cron.SpecSchedule
	zone   *time.Location
	hourly bool // it is planned in every hour, or every few hours
	every  time.Duration
	anchor time.Time // what every counts from
}

// ParseCron reads a rule in the notation of cron. TZ=ZONE or CRON_TZ=ZONE may stand in front of it and wins over zone.
// The times of @every DURATION count from the anchor. An error says what is wrong; it is also one if the rule can never
// be fulfilled, such as on the 30th of February.
func ParseCron(text string, zone *time.Location, anchor time.Time) (Cron, error) {
	text = strings.TrimSpace(text)
	if name, rest, found := zoneOf(text); found {
		named, err := time.LoadLocation(name)
		if err != nil || name == "" {
			return Cron{}, fmt.Errorf("%q is no time zone: write one such as Europe/Berlin", name)
		}
		zone, text = named, rest
	}
	parsed, err := parser.Parse(text)
	if err != nil {
		return Cron{}, fmt.Errorf("%q is no rule: %w", text, err)
	}
	switch p := parsed.(type) {
	case cron.ConstantDelaySchedule:
		return Cron{zone: zone, every: p.Delay, anchor: anchor.Truncate(time.Second)}, nil
	case *cron.SpecSchedule:
		c := Cron{spec: p, zone: zone, hourly: hourly(text)}
		c.spec.Location = time.UTC
		if c.spec.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
			return Cron{}, fmt.Errorf("%q is never fulfilled: there is no such day", text)
		}
		return c, nil
	}
	return Cron{}, errors.New("the rule cannot be read")
}

// zoneOf cuts the zone off a rule.
func zoneOf(text string) (name, rest string, found bool) {
	for _, mark := range []string{"TZ=", "CRON_TZ="} {
		if name, found = strings.CutPrefix(text, mark); found {
			name, rest, _ = strings.Cut(name, " ")
			return name, strings.TrimSpace(rest), true
		}
	}
	return "", text, false
}

// hourly reports whether the field of the hour is a star, with or without a step.
func hourly(text string) bool {
	fields := strings.Fields(text)
	switch len(fields) {
	case 1:
		return fields[0] == "@hourly"
	case 6:
		return strings.HasPrefix(fields[2], "*")
	}
	return strings.HasPrefix(fields[1], "*")
}

// Next implements [Rule].
func (c Cron) Next(after time.Time) (planned time.Time, ok bool) {
	after = after.In(c.zone)
	if c.every > 0 {
		steps := after.Sub(c.anchor) / c.every
		if after.Before(c.anchor) {
			steps = -1
		}
		return c.anchor.Add((steps + 1) * c.every).In(c.zone), true
	}
	const near = 2 * time.Hour // no clock is changed by more
	next := c.spec.Next(clock(after))
	if next.IsZero() {
		return time.Time{}, false
	}
	planned = moment(next, c.zone)
	if planned.After(after) && sameClock(after.Add(-near), planned.Add(near)) {
		return planned, true
	}
	return c.nextOverChange(after, near)
}

// sameClock reports whether the clock of a zone is the same before and behind a time.
func sameClock(before, behind time.Time) bool {
	_, a := before.Zone()
	_, b := behind.Zone()
	return a == b
}

// nextOverChange returns the first planned time after a moment where a change of the clock may lie between. What the
// clock shows does not grow there, so that all that it shows around is looked at.
func (c Cron) nextOverChange(after time.Time, near time.Duration) (planned time.Time, ok bool) {
	for wall := c.spec.Next(clock(after).Add(-near)); !wall.IsZero(); wall = c.spec.Next(wall) {
		if ok && wall.After(clock(planned).Add(near)) {
			break
		}
		first, second := moments(wall, c.zone)
		for _, at := range []time.Time{first, second} {
			if at.After(after) && (!ok || at.Before(planned)) && (at.Equal(first) || c.hourly) {
				planned, ok = at, true
			}
		}
	}
	return planned, ok
}

// From returns the rule with the times of @every counted from another moment.
func (c Cron) From(anchor time.Time) Cron {
	c.anchor = anchor.Truncate(time.Second)
	return c
}
