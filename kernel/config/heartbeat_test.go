package config_test

import (
	"strings"
	"testing"
	"time"

	"org-agent/kernel/config"
)

// The heading Heartbeat says when the agent looks whether there is anything to do. With a value that cannot be read it does not.
func TestHeartbeat(t *testing.T) {
	parse := func(drawer string) config.Settings {
		return config.Parse("config.org", "* Heartbeat\n:PROPERTIES:\n"+drawer+"\n:END:\n")
	}
	if b := config.Parse("config.org", "").Beats(); b.Every != 30*time.Minute || b.From != 8*time.Hour || b.To != 22*time.Hour || b.Off || b.Zone != time.Local {
		t.Errorf("without a heading %+v", b)
	}
	s := parse(":EVERY: 90m\n:HOURS: 22:30-06:00\n:QUIET_DAYS: Sat, sunday\n:TZ: Europe/Berlin\n:HEARTBEAT_MODEL: small")
	b := s.Beats()
	if len(s.Diagnostics) > 0 || b.Every != 90*time.Minute || b.From != 22*time.Hour+30*time.Minute || b.To != 30*time.Hour || b.Quiet != [7]bool{0: true, 6: true} || b.Zone.String() != "Europe/Berlin" || b.Model != "small" {
		t.Errorf("%+v, %v", b, s.Diagnostics)
	}
	if b := parse(":EVERY: off").Beats(); !b.Off {
		t.Errorf("%+v", b)
	}
	for drawer, want := range map[string]string{
		":EVERY: often":      `"often" is not a time such as 90s or 2m, or off`,
		":EVERY: 3s":         "is not between 1m0s and 24h0m0s",
		":HOURS: 8-22":       "is not a part of the day such as",
		":HOURS: 24:00-1:00": "is not a part of the day such as",
		":QUIET_DAYS: Su":    "is no day of the week such as Sat",
		":QUIET_DAYS: Mon Tue Wed Thu Fri Sat Sun": "every day is quiet",
		":TZ: Mars": "is no time zone",
		":OFTEN: 3": "there is no setting OFTEN here",
	} {
		s := parse(drawer)
		if len(s.Diagnostics) != 1 || !strings.Contains(s.Diagnostics[0].String(), want) || s.Beats().Off == strings.Contains(drawer, "OFTEN") {
			t.Errorf("%s: %v, %+v", drawer, s.Diagnostics, s.Beats())
		}
	}
}
