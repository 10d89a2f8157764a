package memory_test

import (
	"testing"
	"time"

	"org-agent/kernel/memory"
)

const scoped = `#+TITLE: Memory
:PROPERTIES:
:ID: file
:END:
At the top.
* Open
:PROPERTIES:
:ID: a
:CREATED: [2026-11-22 Sun 10:00]
:END:
Anybody alone with me.
** Below it, with a drawer
:LOGBOOK:
- said
:END:
* Mine :@private:
SECRET-1
** Deeper
SECRET-2
* COMMENT Not yet
SECRET-3
* Old :ARCHIVE:
SECRET-4
* Locked :crypt:
SECRET-5
* Never :noagent:
SECRET-6
- Name :: SECRET-7
* For the garden
:PROPERTIES:
:SCOPE: garden
:END:
Roses.
** Still the garden
Tulips.
*** For another within
:PROPERTIES:
:SCOPE: party
:END:
Balloons.
* After
- Voice :: dry
`

// TestWithin checks that text that is withheld from models is never returned, and that text with a
// scope is returned only in that scope.
func TestWithin(t *testing.T) {
	home := t.TempDir()
	put(t, home, "MEMORY.org", scoped)
	put(t, home, "USER.org", "#+FILETAGS: :home:noagent:\n- Name :: SECRET\n* Ida\n")
	h := memory.Home{Directory: home}
	p := h.Persona(time.Now())
	file := p.File("MEMORY")
	const open = "At the top.\n* Open\nAnybody alone with me.\n** Below it, with a drawer\n:LOGBOOK:\n- said\n:END:\n"
	for _, c := range []struct {
		name, scope string
		alone       bool
		want        string
	}{
		{"alone", "main", true, open + "* After\n- Voice :: dry"},
		{"in a conversation with a scope", "garden", true, open + "* For the garden\nRoses.\n** Still the garden\nTulips.\n* After\n- Voice :: dry"},
		{"in a group", "garden", false, "* For the garden\nRoses.\n** Still the garden\nTulips."},
		{"in another group", "party", false, "*** For another within\nBalloons."},
		{"in a group of which nothing is kept", "street", false, ""},
		{"in a group without a name", "", false, ""},
	} {
		if got := file.Within(c.scope, c.alone); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
	if file.Text != file.Within("", true) || file.Field("voice") != "dry" || file.Field("name") != "" {
		t.Errorf("the file is %+v", file)
	}
	if user := p.File("USER"); user.Text != "" || user.Field("name") != "" || user.Size == 0 {
		t.Errorf("a file that is to be kept from models says %+v", user)
	}
}
