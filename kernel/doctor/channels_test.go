package doctor_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"org-agent/kernel/config"
	"org-agent/kernel/doctor"
)

// TestChannels checks that a channel without a key, with a wrong property or with nobody who may talk is found, and so is
// a row of channels.org that cannot be read.
func TestChannels(t *testing.T) {
	c := patient(t, map[string]string{"BOT": "12345:canary"})
	c.Channels = func(one config.Channel) error {
		if one.Properties["WRONG"] != "" {
			return errors.New("there is no property WRONG")
		}
		return nil
	}
	must(t, os.WriteFile(c.Paths.Config, []byte("* Channels\n** telegram\n:PROPERTIES:\n:TOKEN: env:BOT\n:END:\n** lonely\n:PROPERTIES:\n:TOKEN: env:BOT\n:END:\n"+
		"** keyless\n:PROPERTIES:\n:TOKEN: env:UNSET\n:END:\n** odd\n:PROPERTIES:\n:WRONG: x\n:END:\n"), 0o600))
	must(t, os.WriteFile(c.Paths.Channels, []byte("* People\n| channel | id | who | role | since |\n| telegram | 1 | me | owner | |\n| telegram | 2 | | fiend | |\n"), 0o600))
	found := of(doctor.Examine(t.Context(), c, "channels"), "channels")
	want := []string{"channels.org:4: the role is", "nobody may talk on the channel lonely", "the channel keyless cannot be given its TOKEN", "there is no property WRONG"}
	if len(found) != len(want) {
		t.Fatalf("%+v", found)
	}
	for i, f := range found {
		if !strings.Contains(f.Text, want[i]) || f.Advice == "" || strings.Contains(f.Text, "canary") {
			t.Errorf("%+v, wanted %s", f, want[i])
		}
	}
}
