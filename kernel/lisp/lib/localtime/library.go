// Package localtime is the library local-time for Lisp: moments, their parts, and how they are written.
package localtime

import (
	"time"

	"org-agent/kernel/lisp"
)

// Library is the package LOCAL-TIME.
func Library() lisp.Library {
	return lisp.Library{
		Package: "LOCAL-TIME", Title: "Moments by the library local-time",
		Functions: localTimeFunctions(), Macros: localTimeMacros(), Variables: variables(), Classes: []string{"TIMESTAMP"},
		Conditions: []lisp.ConditionClass{
			{Name: "INVALID-TIME-SPECIFICATION", Supers: []string{"ERROR"}},
			{Name: "INVALID-TIMESTRING", Supers: []string{"ERROR"}, Slots: []string{"TIMESTRING", "FAILURE"}},
		},
	}
}

func variables() []lisp.Variable {
	return []lisp.Variable{
		{Name: "*DEFAULT-TIMEZONE*", Value: lisp.Nil, Doc: "The zone that moments are told in; nil for that of the clock."},
		{Name: "+UTC-ZONE+", Value: utcZone, Doc: "Coordinated Universal Time."},
		{Name: "+GMT-ZONE+", Value: gmtZone, Doc: "Greenwich Mean Time."},
		{Name: "+ISO-8601-FORMAT+", Value: isoFormat, Doc: "The format of 2026-11-22T10:30:05.000000Z."},
		{Name: "+ISO-8601-DATE-FORMAT+", Value: dateFormat, Doc: "The format of 2026-11-22."},
		{Name: "+ISO-8601-TIME-FORMAT+", Value: timeOfDay, Doc: "The format of 10:30:05.000000."},
		{Name: "+RFC3339-FORMAT+", Value: isoFormat, Doc: "The format of 2026-11-22T10:30:05.000000Z."},
		{Name: "+RFC3339-FORMAT/DATE-ONLY+", Value: dateFormat, Doc: "The format of 2026-11-22."},
		{Name: "+RFC-1123-FORMAT+", Value: rfc1123Format, Doc: "The format of Sun, 22 Nov 2026 10:30:05 +0000."},
		{Name: "+ASCTIME-FORMAT+", Value: asctimeFormat, Doc: "The format of Sun Nov 22 10:30:05 2026."},
		{Name: "+ISO-WEEK-DATE-FORMAT+", Value: isoWeekFormat, Doc: "The format of 2026-W47-7."},
		{Name: "+MONTH-NAMES+", Value: namesOf(monthNames(99)), Doc: "The names of the months, from 1."},
		{Name: "+SHORT-MONTH-NAMES+", Value: namesOf(monthNames(3)), Doc: "The short names of the months, from 1."},
		{Name: "+DAY-NAMES+", Value: namesOf(dayNames(99)), Doc: "The names of the days of the week, from Sunday."},
		{Name: "+SHORT-DAY-NAMES+", Value: namesOf(dayNames(3)), Doc: "The short names of the days of the week, from Sunday."},
		{Name: "+SECONDS-PER-DAY+", Value: lisp.Integer(86400), Doc: "Seconds of a day."},
		{Name: "+SECONDS-PER-HOUR+", Value: lisp.Integer(3600), Doc: "Seconds of an hour."},
		{Name: "+SECONDS-PER-MINUTE+", Value: lisp.Integer(60), Doc: "Seconds of a minute."},
		{Name: "+MINUTES-PER-DAY+", Value: lisp.Integer(1440), Doc: "Minutes of a day."},
		{Name: "+MINUTES-PER-HOUR+", Value: lisp.Integer(60), Doc: "Minutes of an hour."},
		{Name: "+HOURS-PER-DAY+", Value: lisp.Integer(24), Doc: "Hours of a day."},
		{Name: "+DAYS-PER-WEEK+", Value: lisp.Integer(7), Doc: "Days of a week."},
		{Name: "+MONTHS-PER-YEAR+", Value: lisp.Integer(12), Doc: "Months of a year."},
	}
}

// namesOf is a vector of names.
func namesOf(names []string) lisp.Value {
	var elements []lisp.Value
	for _, name := range names {
		elements = append(elements, lisp.NewString(name))
	}
	return lisp.NewVector(elements)
}

// monthNames are the names of months from 1, at most length letters of each.
func monthNames(length int) []string {
	names := []string{""}
	for month := time.January; month <= time.December; month++ {
		names = append(names, month.String()[:min(length, len(month.String()))])
	}
	return names
}

// dayNames are those of the days of the week from Sunday.
func dayNames(length int) []string {
	var names []string
	for day := time.Sunday; day <= time.Saturday; day++ {
		names = append(names, day.String()[:min(length, len(day.String()))])
	}
	return names
}
