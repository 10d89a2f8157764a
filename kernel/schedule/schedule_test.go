package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/cronexpr"
	"pgregory.net/rapid"

	"org-agent/kernel/org"
	"org-agent/kernel/schedule"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	where, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return where
}

// first returns the first planned times of a rule after a moment, as a clock of the zone shows them with its offset.
func first(rule schedule.Rule, after time.Time, count int) []string {
	var all []string
	for planned := range schedule.Planned(rule, after) {
		if all = append(all, planned.Format("Mon 2006-01-02 15:04:05 -0700")); len(all) == count {
			break
		}
	}
	return all
}

// The weeks in which clocks change, in three zones: each time of the wall comes once, what comes hourly goes on, and
// nothing comes twice.
func TestClocksThatChange(t *testing.T) {
	for _, c := range []struct{ zone, rule, after, want string }{
		{"Europe/Berlin", "30 2 * * *", "2027-03-26 12:00", "Sat 2027-03-27 02:30:00 +0100, Sun 2027-03-28 03:30:00 +0200, Mon 2027-03-29 02:30:00 +0200"},
		{"Europe/Berlin", "30 2 * * *", "2027-10-29 12:00", "Sat 2027-10-30 02:30:00 +0200, Sun 2027-10-31 02:30:00 +0200, Mon 2027-11-01 02:30:00 +0100"},
		{"Europe/Berlin", "0 2,3 * * *", "2027-03-28 00:00", "Sun 2027-03-28 03:00:00 +0200, Mon 2027-03-29 02:00:00 +0200, Mon 2027-03-29 03:00:00 +0200"},
		{"Europe/Berlin", "0 * * * *", "2027-03-28 00:30", "Sun 2027-03-28 01:00:00 +0100, Sun 2027-03-28 03:00:00 +0200, Sun 2027-03-28 04:00:00 +0200"},
		{"Europe/Berlin", "0 * * * *", "2027-10-31 01:30", "Sun 2027-10-31 02:00:00 +0200, Sun 2027-10-31 02:00:00 +0100, Sun 2027-10-31 03:00:00 +0100"},
		{"Europe/Berlin", "@every 30m", "2027-10-31 01:50", "Sun 2027-10-31 02:00:00 +0200, Sun 2027-10-31 02:30:00 +0200, Sun 2027-10-31 02:00:00 +0100"},
		{"America/New_York", "15 1 * * 0", "2027-11-01 12:00", "Sun 2027-11-07 01:15:00 -0400, Sun 2027-11-14 01:15:00 -0500"},
		{"America/New_York", "0 9 * * 1-5", "2027-03-12 10:00", "Mon 2027-03-15 09:00:00 -0400, Tue 2027-03-16 09:00:00 -0400"},
		{"Australia/Lord_Howe", "15 2 * * *", "2027-10-02 12:00", "Sun 2027-10-03 02:45:00 +1100, Mon 2027-10-04 02:15:00 +1100"},
		{"Australia/Lord_Howe", "45 1 * * *", "2027-04-03 12:00", "Sun 2027-04-04 01:45:00 +1100, Mon 2027-04-05 01:45:00 +1030"},
		{"Pacific/Apia", "0 9 * * *", "2011-12-29 08:00", "Thu 2011-12-29 09:00:00 -1000, Sat 2011-12-31 09:00:00 +1400"},
		{"Europe/Berlin", "TZ=America/New_York 0 9 * * *", "2027-01-01 00:00", "Fri 2027-01-01 09:00:00 -0500"},
		{"UTC", "0 0 29 2 *", "2027-01-01 00:00", "Tue 2028-02-29 00:00:00 +0000, Sun 2032-02-29 00:00:00 +0000"},
		{"UTC", "0 0 31 * *", "2027-01-31 12:00", "Wed 2027-03-31 00:00:00 +0000, Mon 2027-05-31 00:00:00 +0000"},
		{"UTC", "*/20 30 4 * * *", "2027-01-31 12:00", "Mon 2027-02-01 04:30:00 +0000, Mon 2027-02-01 04:30:20 +0000"},
	} {
		where := zone(t, c.zone)
		after, err := time.ParseInLocation("2006-01-02 15:04", c.after, where)
		if err != nil {
			t.Fatal(err)
		}
		rule, err := schedule.ParseCron(c.rule, where, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(first(rule, after, strings.Count(c.want, ",")+1), ", "); got != c.want {
			t.Errorf("%s in %s after %s:\n%s, not\n%s", c.rule, c.zone, c.after, got, c.want)
		}
	}
}

// Timestamps: times, repeaters, warnings of deadlines, delays, those of the first time, months without a 31st, clocks
// that change, and a timestamp of long ago.
func TestStamps(t *testing.T) {
	for _, c := range []struct {
		stamp    string
		deadline bool
		after    string
		want     string
	}{
		{"<2027-03-01 Mon 09:00>", false, "2027-01-01", "Mon 2027-03-01 09:00:00 +0100"},
		{"<2027-03-01 Mon 09:00>", false, "2027-03-02", ""},
		{"<2027-03-01 Mon>", false, "2027-01-01", "Mon 2027-03-01 08:00:00 +0100"},
		{"<2027-03-01 Mon 09:00-11:00 +1w>", false, "2027-03-02", "Mon 2027-03-08 09:00:00 +0100, Mon 2027-03-15 09:00:00 +0100, Mon 2027-03-22 09:00:00 +0100, Mon 2027-03-29 09:00:00 +0200"},
		{"<2027-03-27 Sat 02:30 ++1d>", false, "2027-03-27", "Sat 2027-03-27 02:30:00 +0100, Sun 2027-03-28 03:30:00 +0200, Mon 2027-03-29 02:30:00 +0200"},
		{"<2027-01-31 Sun 09:00 .+1m>", false, "2027-01-01", "Sun 2027-01-31 09:00:00 +0100, Wed 2027-03-03 09:00:00 +0100, Sat 2027-04-03 09:00:00 +0200"},
		{"<2028-02-29 Tue 09:00 +1y>", false, "2028-01-01", "Tue 2028-02-29 09:00:00 +0100, Thu 2029-03-01 09:00:00 +0100"},
		{"<2027-03-10 Wed 09:00 +1m -2d>", true, "2027-01-01", "Mon 2027-03-08 09:00:00 +0100, Thu 2027-04-08 09:00:00 +0200"},
		{"<2027-03-10 Wed 09:00 +1m --2d>", true, "2027-01-01", "Mon 2027-03-08 09:00:00 +0100, Sat 2027-04-10 09:00:00 +0200"},
		{"<2027-03-10 Wed -2d>", false, "2027-01-01", "Fri 2027-03-12 08:00:00 +0100"},
		{"<2010-01-01 Fri 00:30 +1h>", false, "2027-01-01", "Fri 2027-01-01 00:30:00 +0100, Fri 2027-01-01 01:30:00 +0100"},
		{"<2010-01-01 Fri 00:30 +5d -500d>", false, "2027-01-01", "Sat 2027-01-02 00:30:00 +0100, Thu 2027-01-07 00:30:00 +0100"},
		{"<2027-03-10 Wed +1h>", false, "2027-03-11", ""},
		{"<9998-03-10 Sun 09:00 +1y>", false, "9999-01-01", "Wed 9999-03-10 09:00:00 +0100"},
	} {
		where := zone(t, "Europe/Berlin")
		after, err := time.ParseInLocation(time.DateOnly, c.after, where)
		if err != nil {
			t.Fatal(err)
		}
		stamp, ok := org.ParseTimestamp(c.stamp)
		if !ok {
			t.Fatal(c.stamp)
		}
		rule := schedule.Stamp{Timestamp: stamp, Deadline: c.deadline, Zone: where, Hour: 8 * time.Hour}
		if got := strings.Join(first(rule, after, strings.Count(c.want, ",")+1), ", "); got != c.want {
			t.Errorf("%s after %s:\n%s, not\n%s", c.stamp, c.after, got, c.want)
		}
	}
}

// Rules that cannot be read, or never come, are refused with a reason.
func TestFaults(t *testing.T) {
	for rule, want := range map[string]string{
		"":                           "is no rule",
		"* * *":                      "is no rule",
		"61 * * * *":                 "is no rule",
		"0 0 30 2 *":                 "there is no such day",
		"TZ=Europe/Berlim 0 9 * * *": `"Europe/Berlim" is no time zone`,
		"@every 1ms":                 "is no rule",
		"@reboot":                    "is no rule",
		strings.Repeat("1,", 50_000) + "1 * * * *": "is no rule",
	} {
		if _, err := schedule.ParseCron(rule, time.UTC, time.Time{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v", rule, err)
		}
	}
}

// field draws a field of a rule.
func field(t *rapid.T, lowest, highest int, name string) string {
	number := rapid.IntRange(lowest, highest)
	switch rapid.IntRange(0, 4).Draw(t, name) {
	case 0, 1:
		return "*"
	case 2:
		return fmt.Sprint(number.Draw(t, name))
	case 3:
		low := rapid.IntRange(lowest, highest-1).Draw(t, name)
		return fmt.Sprintf("%d-%d", low, rapid.IntRange(low+1, highest).Draw(t, name)) // cronexpr takes 0-0 for a star
	}
	return fmt.Sprintf("*/%d", rapid.IntRange(2, highest/2).Draw(t, name))
}

// Without changes of the clock a rule is fulfilled when another program's reading of it is.
func TestAgreesWithCronexpr(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join([]string{field(t, 0, 59, "minute"), field(t, 0, 23, "hour"), field(t, 1, 31, "day"), field(t, 1, 12, "month"), field(t, 0, 6, "weekday")}, " ")
		other, err := cronexpr.Parse(text)
		if err != nil {
			t.Skip(err)
		}
		after := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "after"), 0).UTC()
		rule, err := schedule.ParseCron(text, time.UTC, after)
		if never := other.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero(); err != nil || never {
			if (err != nil) != never {
				t.Fatalf("%s: %v", text, err)
			}
			return
		}
		want := other.NextN(after, 4)
		var got []time.Time
		for planned := range schedule.Planned(rule, after) {
			if got = append(got, planned); len(got) == len(want) {
				break
			}
		}
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Fatalf("%s after %s: %v, and cronexpr says %v", text, after, got, want)
		}
	})
}

// Around a change of the clock the planned times are those of the definition: of every minute that a wall clock could
// show and that fits, its first moment, for an hourly rule both, and for one that is left out that of a clock that was
// not moved.
func TestAgreesWithTheDefinition(t *testing.T) {
	changes := map[string][]string{
		"Europe/Berlin": {"2027-03-28", "2027-10-31"}, "America/New_York": {"2027-03-14", "2027-11-07"}, "Australia/Lord_Howe": {"2027-10-03", "2027-04-04"},
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe"}).Draw(t, "zone")
		where, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		day, _ := time.Parse(time.DateOnly, rapid.SampledFrom(changes[name]).Draw(t, "day"))
		minute, hour := field(t, 0, 59, "minute"), field(t, 0, 23, "hour")
		rule, err := schedule.ParseCron(minute+" "+hour+" * * *", where, day)
		if err != nil {
			t.Fatal(err)
		}
		fits := func(part string, n int) bool {
			var low, high int
			switch {
			case part == "*":
				return true
			case strings.HasPrefix(part, "*/"):
				fmt.Sscanf(part, "*/%d", &low)
				return n%low == 0
			case strings.Contains(part, "-"):
				fmt.Sscanf(part, "%d-%d", &low, &high)
				return low <= n && n <= high
			}
			fmt.Sscan(part, &low)
			return n == low
		}
		from := time.Date(day.Year(), day.Month(), day.Day()-1, rapid.IntRange(0, 23).Draw(t, "from"), rapid.IntRange(0, 59).Draw(t, "minute"), 0, 0, where)
		until := from.Add(26 * time.Hour)
		shown := map[int64][]time.Time{} // by what the clock shows, in seconds since 1970
		for at := from.Add(-48 * time.Hour); at.Before(until.Add(48 * time.Hour)); at = at.Add(time.Minute) {
			_, offset := at.In(where).Zone()
			clock := at.Unix() + int64(offset)
			shown[clock] = append(shown[clock], at)
		}
		var want []time.Time
		_, offset := from.Add(-24 * time.Hour).Zone()
		for wall := time.Date(day.Year(), day.Month(), day.Day()-3, 0, 0, 0, 0, time.UTC); wall.Before(day.AddDate(0, 0, 4)); wall = wall.Add(time.Minute) {
			if !fits(minute, wall.Minute()) || !fits(hour, wall.Hour()) {
				continue
			}
			moments := shown[wall.Unix()]
			if len(moments) == 0 {
				moments = []time.Time{wall.Add(-time.Duration(offset) * time.Second)}
			}
			if !strings.HasPrefix(hour, "*") {
				moments = moments[:1]
			}
			for _, at := range moments {
				if at.After(from) && at.Before(until) {
					want = append(want, at)
				}
			}
		}
		slices.SortFunc(want, time.Time.Compare)
		want = slices.CompactFunc(want, time.Time.Equal)
		var got []time.Time
		for planned := range schedule.Planned(rule, from) {
			if !planned.Before(until) {
				break
			}
			got = append(got, planned)
		}
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || !got[i].Equal(want[i]) {
					t.Fatalf("%s %s in %s after %s: from the %d. on %v, not %v", minute, hour, name, from, i, got[min(i, len(got)):min(i+3, len(got))], want[min(i, len(want)):min(i+3, len(want))])
				}
			}
		}
	})
}

// A timestamp's planned times are its own and those of what Org makes of it each time.
func TestStampsFollowOrg(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		where, err := time.LoadLocation(rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/New_York"}).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		day := time.Date(2020, 1, rapid.IntRange(1, 3000).Draw(t, "day"), rapid.IntRange(0, 23).Draw(t, "hour"), rapid.IntRange(0, 59).Draw(t, "minute"), 0, 0, time.UTC)
		text := day.Format("<2006-01-02 Mon 15:04 ") + rapid.SampledFrom([]string{"+", "++", ".+"}).Draw(t, "repeater") +
			fmt.Sprint(rapid.IntRange(1, 40).Draw(t, "every")) + rapid.SampledFrom([]string{"h", "d", "w", "m", "y"}).Draw(t, "unit") + ">"
		stamp, _ := org.ParseTimestamp(text)
		if where != time.UTC && stamp.Unit == 'h' && strings.HasPrefix(stamp.Repeater, ".") {
			t.Skip("what is counted from the minute in which a task was done moves with the clock")
		}
		rule := schedule.Stamp{Timestamp: stamp, Zone: where}
		left := 60
		for planned := range schedule.Planned(rule, rule.Due().Add(-time.Second)) {
			if due := rule.Due(); !due.Equal(planned) {
				t.Fatalf("%s: planned is %s, and due is %s", text, planned, due)
			}
			next, ok := rule.Repeated(planned)
			if !ok || !next.Due().After(planned) {
				break
			}
			if left--; left == 0 {
				break
			}
			rule = next
		}
	})
}

// BenchmarkNext finds the next time of each of ten thousand tasks.
func BenchmarkNext(b *testing.B) {
	where := zone(b, "Europe/Berlin")
	var rules []schedule.Rule
	for i := range 10_000 {
		if i%2 == 0 {
			rule, err := schedule.ParseCron(fmt.Sprintf("%d %d * * 1-5", i%60, i%24), where, time.Time{})
			if err != nil {
				b.Fatal(err)
			}
			rules = append(rules, rule)
			continue
		}
		stamp, _ := org.ParseTimestamp(fmt.Sprintf("<2020-01-%02d %02d:00 +1d>", i%28+1, i%24))
		rules = append(rules, schedule.Stamp{Timestamp: stamp, Zone: where})
	}
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, where)
	for b.Loop() {
		for _, r := range rules {
			if _, ok := r.Next(now); !ok {
				b.Fatal(r)
			}
		}
	}
}
