package task

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"org-agent/kernel/org"
	"org-agent/kernel/orgquery"
	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
	"org-agent/kernel/text"
)

// Misfire says what becomes of planned times that have passed when they are noticed, because nothing ran or the machine
// slept.
type Misfire string

// The policies for times that have passed.
const (
	MisfireOnce Misfire = "once" // the task is done once for all of them
	MisfireSkip Misfire = "skip" // they are left out
	MisfireAll  Misfire = "all"  // each is made up for
)

// Overlap says what becomes of a planned time at which the task is still at work.
type Overlap string

// The policies for times at which the task is at work.
const (
	OverlapWait Overlap = "wait" // it is done once more afterwards, once for all that have come meanwhile
	OverlapSkip Overlap = "skip" // the time is left out
	OverlapBoth Overlap = "both" // it begins beside the other
)

// Settings are how a task is done.
type Settings struct {
	Skill   string // that does it; "" for the best
	Session string // the conversation in which it is done; "" for one of its own each time
	Route   string // where the result goes; "" for where the owner is
	MaxRuns int    // 0 for no limit
	Runs    int    // that were counted so far
	Misfire Misfire
	Overlap Overlap
	Retries int           // how often a failure is tried again
	Backoff time.Duration // before the first time; it doubles
	Silent  bool          // the result is kept in the conversation and told nobody
	Enabled bool
	Zone    *time.Location
}

// The defaults, and what can be asked for.
const (
	defaultRetries = 2
	retryLimit     = 20
	defaultBackoff = time.Minute
	backoffLimit   = 24 * time.Hour
	runLimit       = 1_000_000
	newSession     = "new" // the value of SESSION for a conversation each time
)

// properties are the names that a task can have.
var properties = [...]string{"CRON", "SKILL", "SESSION", "ROUTE", "MAX_RUNS", "RUNS", "MISFIRE", "OVERLAP", "RETRY", "SILENT", "ENABLED", "TZ"}

// compared returns the settings that decide what is done, without those that change as it is done.
func (s Settings) compared() Settings {
	zone := s.Zone.String()
	s.Runs, s.Zone, s.Session = 0, nil, s.Session+"\x00"+zone
	return s
}

// settings reads how a task is done. ok is false if there is a fault.
func (f *File) settings(e orgquery.Entry) (s Settings, ok bool) {
	s = Settings{Misfire: MisfireOnce, Overlap: OverlapWait, Retries: defaultRetries, Backoff: defaultBackoff, Enabled: true, Zone: f.Zone}
	ok = true
	for _, p := range e.Properties {
		value := strings.TrimSpace(p.Value)
		name := strings.ToUpper(p.Key)
		if !slices.Contains(properties[:], name) {
			if near := suggest.Of(name, properties[:]); near != "" && suggest.Distance(name, near) <= 1+len(near)/6 {
				f.fault(p.Line, org.Warning, ":%s: means nothing to a task; did you mean :%s:?", clipped(name), near)
			}
			continue
		}
		if value == "" {
			continue
		}
		if err := s.set(name, value, f.zone); err != nil {
			f.fault(p.Line, org.Error, ":%s: %v", name, err)
			ok = false
		}
	}
	return s, ok
}

// zone returns a time zone. A text that is being read names few of them, many times.
func (f *File) zone(name string) (*time.Location, error) {
	if zone := f.zones[name]; zone != nil {
		return zone, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || strings.EqualFold(name, "local") {
		return nil, fmt.Errorf("%q is no time zone: write one such as Europe/Berlin", clipped(name))
	}
	if f.zones != nil {
		f.zones[name] = zone
	}
	return zone, nil
}

// set sets one property.
func (s *Settings) set(name, value string, zone func(string) (*time.Location, error)) (err error) {
	switch name {
	case "SKILL":
		s.Skill = value
	case "ROUTE":
		s.Route = value
	case "SESSION":
		if strings.EqualFold(value, newSession) {
			return nil
		}
		if s.Session = value; !protocol.ValidSession(value) {
			return fmt.Errorf("%q names no conversation: use letters, digits, blanks and . _ -", clipped(value))
		}
	case "MAX_RUNS":
		s.MaxRuns, err = number(value, 1, runLimit)
	case "RUNS":
		s.Runs, err = number(value, 0, runLimit)
	case "MISFIRE":
		s.Misfire, err = oneOf(value, MisfireOnce, MisfireSkip, MisfireAll)
	case "OVERLAP":
		s.Overlap, err = oneOf(value, OverlapWait, OverlapSkip, OverlapBoth)
	case "RETRY":
		return s.setRetry(value)
	case "SILENT":
		s.Silent, err = yes(value)
	case "ENABLED":
		s.Enabled, err = yes(value)
	case "TZ":
		named, err := zone(value)
		if err == nil {
			s.Zone = named
		}
		return err
	}
	return err
}

// setRetry reads how often a failure is tried again, and how long that waits: 3, or 3 5m.
func (s *Settings) setRetry(value string) (err error) {
	count, pause, paused := strings.Cut(value, " ")
	if s.Retries, err = number(count, 0, retryLimit); err != nil {
		return fmt.Errorf("%w, and a pause may follow, as in 3 5m", err)
	}
	if paused {
		s.Backoff, err = time.ParseDuration(strings.TrimSpace(pause))
		if err != nil || s.Backoff < time.Second || s.Backoff > backoffLimit {
			return fmt.Errorf("%q is no pause: write one from 1s to %v, such as 5m", clipped(pause), backoffLimit)
		}
	}
	return nil
}

// Pause returns how long a task waits after its attempts have failed so many times in a row, at least once.
func (s Settings) Pause(failed int) time.Duration {
	pause := s.Backoff
	for ; failed > 1 && pause < time.Hour; failed-- {
		pause = min(2*pause, max(time.Hour, s.Backoff))
	}
	return pause
}

func number(value string, lowest, highest int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < lowest || n > highest {
		return lowest, fmt.Errorf("%q is no number from %d to %d", clipped(value), lowest, highest)
	}
	return n, nil
}

func oneOf[W ~string](value string, words ...W) (W, error) {
	if word := W(strings.ToLower(value)); slices.Contains(words, word) {
		return word, nil
	}
	return words[0], fmt.Errorf("%q is not one of %s, %s and %s", clipped(value), words[0], words[1], words[2])
}

func yes(value string) (bool, error) {
	switch strings.ToLower(value) {
	case "t", "yes", "true", "on":
		return true, nil
	case "nil", "no", "false", "off":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither t nor nil", clipped(value))
}

// clipped returns what a person wrote as far as a message needs it.
func clipped(value string) string { return text.PlainLine(value, 60) }
