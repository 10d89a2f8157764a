package heartbeat

import (
	"time"

	"org-agent/kernel/config"
)

// next returns the first planned time after a moment, zero if there is none. The times of a day are counted from the beginning of
// its active hours, by the clock on the wall. One that the clock leaves out is left out, and one that the clock shows twice is
// planned once.
func next(b config.Heartbeat, after time.Time) time.Time {
	if b.Off {
		return time.Time{}
	}
	after = after.In(b.Zone)
	for day := -1; day <= 8; day++ { // hours that began yesterday may go on; a day of the week comes again after seven
		year, month, date := after.Date()
		midnight := time.Date(year, month, date+day, 0, 0, 0, 0, b.Zone)
		if quiet(b, year, month, date+day) || midnight.Add(b.To+24*time.Hour).Before(after) {
			continue
		}
		for offset := b.From; offset < b.To; offset += b.Every {
			at := time.Date(year, month, date+day, 0, 0, int(offset/time.Second), 0, b.Zone)
			if at.After(after) && onWall(at) == offset%(24*time.Hour) {
				return at
			}
		}
	}
	return time.Time{}
}

// active reports whether a moment is in the active hours of a day that is not quiet.
func active(b config.Heartbeat, at time.Time) bool {
	at = at.In(b.Zone)
	year, month, date := at.Date()
	wall := onWall(at)
	return !quiet(b, year, month, date) && wall >= b.From && wall < b.To ||
		!quiet(b, year, month, date-1) && wall+24*time.Hour >= b.From && wall+24*time.Hour < b.To
}

// onWall returns what the clock shows, since midnight.
func onWall(at time.Time) time.Duration {
	hour, minute, second := at.Clock()
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
}

// quiet reports whether a day is quiet. Noon exists on every day.
func quiet(b config.Heartbeat, year int, month time.Month, date int) bool {
	return b.Quiet[time.Date(year, month, date, 12, 0, 0, 0, b.Zone).Weekday()]
}
