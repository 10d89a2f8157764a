package config

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"org-agent/kernel/org"
)

// Heartbeat is the heading "Heartbeat": when the agent looks whether there is anything to do.
type Heartbeat struct {
	Off   bool
	Every time.Duration
	// From and To are the active hours, since midnight. To is later than From, and beyond midnight if the hours end on
	// the next day.
	From, To time.Duration
	Quiet    [7]bool // the days of the week on which it is quiet, from Sunday
	Zone     *time.Location
	Model    string // that is asked; "" for the usual one
}

// The settings of a heartbeat that the file does not set, and the limits of its interval.
const (
	heartbeatEvery = 30 * time.Minute
	heartbeatFrom  = 8 * time.Hour
	heartbeatTo    = 22 * time.Hour
	shortestBeat   = time.Minute
	longestBeat    = 24 * time.Hour
)

// Beats returns the settings of the heartbeat, with the defaults for what the file does not set.
func (s Settings) Beats() Heartbeat {
	if s.Heartbeat == nil {
		return Heartbeat{Every: heartbeatEvery, From: heartbeatFrom, To: heartbeatTo, Zone: time.Local}
	}
	return *s.Heartbeat
}

// heartbeat reads the heading "Heartbeat". With a fault there is none, because it might beat when it is to be quiet.
func (p *settingsParser) heartbeat(h *org.Heading) {
	if p.settings.Heartbeat != nil {
		p.fault(h.Line, "the heading %s occurs twice", h.Title)
		return
	}
	beats := Settings{}.Beats()
	whole := p.drawer(h, []property{
		{"EVERY", func(value string) error {
			if beats.Off = strings.EqualFold(value, "off"); beats.Off {
				return nil
			}
			if err := setDuration(&beats.Every, value); err != nil {
				return fmt.Errorf("%w, or off", err)
			}
			if beats.Every < shortestBeat || beats.Every > longestBeat {
				return fmt.Errorf("%q is not between %v and %v", value, shortestBeat, longestBeat)
			}
			return nil
		}},
		{"HOURS", beats.setHours},
		{"QUIET_DAYS", beats.setQuiet},
		{"TZ", func(value string) error {
			zone, err := time.LoadLocation(value)
			if err != nil || value == "" || strings.EqualFold(value, "local") {
				return fmt.Errorf("%q is no time zone: write one such as Europe/Berlin", value)
			}
			beats.Zone = zone
			return nil
		}},
		{"HEARTBEAT_MODEL", func(value string) error { beats.Model = value; return nil }},
	})
	beats.Off = beats.Off || !whole
	p.settings.Heartbeat = &beats
}

// setHours reads "08:00-22:00".
func (b *Heartbeat) setHours(value string) error {
	from, to, ok := strings.Cut(value, "-")
	var err error
	if b.From, err = timeOfDay(from); err == nil {
		b.To, err = timeOfDay(to)
	}
	if err != nil || !ok || b.From == 24*time.Hour {
		return fmt.Errorf("%q is not a part of the day such as 08:00-22:00; 00:00-24:00 is all of it", value)
	}
	if b.To <= b.From {
		b.To += 24 * time.Hour
	}
	return nil
}

// timeOfDay reads "8:00" to "24:00".
func timeOfDay(value string) (time.Duration, error) {
	if value = strings.TrimSpace(value); value == "24:00" {
		return 24 * time.Hour, nil
	}
	t, err := time.Parse("15:04", value)
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute, err
}

// setQuiet reads names of days of the week.
func (b *Heartbeat) setQuiet(value string) error {
	var names []string
	if err := setNames(&names, value); err != nil {
		return err
	}
	for _, name := range names {
		found := false
		for day := time.Sunday; day <= time.Saturday; day++ {
			if len(name) >= 3 && len(name) <= len(day.String()) && strings.EqualFold(name, day.String()[:len(name)]) {
				b.Quiet[day], found = true, true
			}
		}
		if !found {
			return fmt.Errorf("%q is no day of the week such as Sat", name)
		}
	}
	if b.Quiet == [7]bool{true, true, true, true, true, true, true} {
		return errors.New("every day is quiet: write :EVERY: off")
	}
	return nil
}
