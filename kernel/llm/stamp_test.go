package llm_test

import (
	"testing"
	"testing/quick"
	"time"

	"org-agent/kernel/llm"
)

func TestStamped(t *testing.T) {
	for zone, cases := range map[string]map[string]string{
		"Europe/Berlin": { // an hour occurs twice in autumn and not at all in spring
			"2026-10-25T00:30:00Z": "[2026-10-25 Sun 02:30 +02:00]", "2026-10-25T01:30:00Z": "[2026-10-25 Sun 02:30 +01:00]",
			"2026-03-29T00:59:00Z": "[2026-03-29 Sun 01:59 +01:00]", "2026-03-29T01:00:00Z": "[2026-03-29 Sun 03:00 +02:00]",
			"2026-12-31T22:59:59Z": "[2026-12-31 Thu 23:59 +01:00]", "2026-12-31T23:00:00Z": "[2027-01-01 Fri 00:00 +01:00]",
		},
		"America/St_Johns": {
			"2026-03-08T05:29:00Z": "[2026-03-08 Sun 01:59 -03:30]", "2026-03-08T05:30:00Z": "[2026-03-08 Sun 03:00 -02:30]",
			"2026-11-01T04:29:00Z": "[2026-11-01 Sun 01:59 -02:30]", "2026-11-01T04:30:00Z": "[2026-11-01 Sun 01:00 -03:30]",
		},
		"Australia/Lord_Howe": { // half an hour
			"2026-04-04T14:59:00Z": "[2026-04-05 Sun 01:59 +11:00]", "2026-04-04T15:00:00Z": "[2026-04-05 Sun 01:30 +10:30]",
			"2026-10-03T15:29:00Z": "[2026-10-04 Sun 01:59 +10:30]", "2026-10-03T15:30:00Z": "[2026-10-04 Sun 02:30 +11:00]",
		},
		"UTC": {"2026-02-28T23:59:59Z": "[2026-02-28 Sat 23:59 +00:00]"},
	} {
		place, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		for at, want := range cases {
			moment, err := time.Parse(time.RFC3339, at)
			if err != nil {
				t.Fatal(err)
			}
			if got := llm.Stamped(moment.In(place), "words"); got != want+"\nwords" {
				t.Errorf("%s in %s is %q, want %q", at, zone, got, want)
			}
		}
	}
	if got := llm.Stamped(time.Time{}, "words"); got != "words" {
		t.Errorf("an unknown time is %q", got)
	}
}

func TestUnstamped(t *testing.T) {
	property := func(seconds int64, offset int16, message string) bool {
		at := time.Unix(seconds%(1<<36), 0).In(time.FixedZone("", int(offset)%840*60))
		return at.Year() < 1000 || llm.Unstamped(llm.Stamped(at, message)) == message
	}
	if err := quick.Check(property, nil); err != nil {
		t.Error(err)
	}
	for _, message := range []string{"", "\n", "[2026-10-25 Sun] lunch", "[2026-10-25 Sun 02:30 +02:00] on its line", "see\n[2026-10-25 Sun 02:30 +02:00]\n"} {
		if got := llm.Unstamped(message); got != message {
			t.Errorf("%q became %q", message, got)
		}
	}
	if got := llm.Unstamped("[2026-10-25 Sun 02:30 +02:00]\n[2026-10-25 Sun 02:30 +02:00]\nx"); got != "[2026-10-25 Sun 02:30 +02:00]\nx" {
		t.Errorf("a stamp that was said became %q", got)
	}
}
