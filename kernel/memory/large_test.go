package memory_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/memory"
)

// TestOtherEncoding checks that a file in another encoding is added to byte for byte, and that its
// ASCII text is found.
func TestOtherEncoding(t *testing.T) {
	s := newStore(t)
	const theirs = "* Caf\xe9\nau lait\n"
	put(t, s.Home, "MEMORY.org", theirs)
	r, _, err := s.Save(t.Context(), "t-1", memory.Record{Text: "The samovar hums."}, true)
	if err != nil || !strings.HasPrefix(written(t, s, "MEMORY.org"), theirs+"* The") {
		t.Fatalf("%v\n%q", err, written(t, s, "MEMORY.org"))
	}
	if found, _, err := s.Record(r.ID); err != nil || !found.Own {
		t.Errorf("%+v %v", found, err)
	}
	x, _, _ := newIndex(t)
	x.Roots = []memory.Root{{Path: s.Home, Memory: true}}
	refreshed(t, x, 1)
	if got := places(t, x, "lait"); got == "" {
		t.Error("what is ASCII was not found")
	}
	if _, err := s.Forget(t.Context(), "t-1", r.ID); err != nil || written(t, s, "MEMORY.org") != theirs {
		t.Errorf("forgotten: %v\n%q", err, written(t, s, "MEMORY.org"))
	}
}

// TestMidnight checks that a record is in the note of the day at the person's place, and is found
// there whatever the clock does later.
func TestMidnight(t *testing.T) {
	s := newStore(t)
	berlin, auckland := zone(t, "Europe/Berlin"), zone(t, "Pacific/Auckland")
	for _, c := range []struct {
		now  time.Time
		name string
	}{
		{time.Date(2026, 11, 22, 23, 59, 59, 999_999_999, berlin), "2026-11-22"},
		{time.Date(2026, 11, 23, 0, 0, 0, 0, berlin), "2026-11-23"},
		{time.Date(2026, 11, 22, 23, 59, 59, 0, berlin).In(auckland), "2026-11-23"},
		{time.Date(2026, 10, 25, 2, 30, 0, 0, berlin), "2026-10-25"}, // an hour that occurs twice
		{time.Date(2026, 3, 29, 2, 30, 0, 0, berlin), "2026-03-29"},  // an hour that does not exist
		{time.Date(2026, 11, 21, 0, 30, 0, 0, berlin), "2026-11-21"}, // the clock went back
	} {
		s.Now = func() time.Time { return c.now }
		r, change, err := s.Save(t.Context(), "t-1", memory.Record{Text: "kept at " + c.now.String()}, false)
		if err != nil || !strings.HasSuffix(change.Path, "memory/"+c.name+".org") {
			t.Errorf("at %v it was kept in %s: %v", c.now, change.Path, err)
		}
		if found, _, err := s.Record(r.ID); err != nil || !found.Own || !found.Created.Equal(r.Created) && c.name != "2026-10-25" {
			t.Errorf("at %v: %+v, %v", c.now, found, err)
		}
		if _, err := s.Undo(t.Context(), change.ID); err != nil {
			t.Errorf("at %v: %v", c.now, err)
		}
	}
}

// TestRecall checks what a message recalls, and what it does not.
func TestRecall(t *testing.T) {
	x, home, notes := newIndex(t)
	put(t, home, "memory/2026-11-01.org", "* Anna\nlikes black tea from Samarkand.\n* The dentist\nis on Hauptstraße 5\n* For the club\n:PROPERTIES:\n:SCOPE: club\n:END:\nThe samovar is the club's.\n* Secret :@private:\nsamovar canary\n* 妹妹\n生日是五月三日\n")
	put(t, notes, "n.org", "* A trip\nTwo days in Bukhara\n"+strings.Repeat("* Log\nit rained again today\n", 40))
	refreshed(t, x, 2)
	for _, c := range []struct{ message, scope, want string }{
		{"Which tea does Anna like?", "", "Anna"},
		{"What does ANNA drink? (:type :request) \"quote * AND NOT", "", "Anna"},
		{"Wann muss ich zum Zahnarzt in der Hauptstrasse?", "", ""},
		{"Wann muss ich in die Hauptstraße?", "", "The dentist"},
		{"tell me of the samovar", "", ""},
		{"tell me of the samovar", "club", "For the club"},
		{"which tea does Anna like", "club", ""},
		{"Was it raining?", "", ""},
		{"Thanks, that is all", "", ""},
		{"", "", ""},
		{"* ( \" :::", "", ""},
		{"妹妹的生日是什么时候", "", "妹妹"},
		{"a trip to Bukhara in spring", "", "A trip"},
	} {
		found, err := x.Recall(t.Context(), c.message, []string{c.scope}, 6)
		var titles []string
		for _, f := range found {
			titles = append(titles, f.Title)
		}
		if got := strings.Join(titles, "|"); err != nil || got != c.want {
			t.Errorf("%q in %q brings up %q (%v), want %q", c.message, c.scope, got, err, c.want)
		}
	}
}

// TestRecallFollows checks that a recall returns the present content of the files, for several
// parts of one file and for those of others.
func TestRecallFollows(t *testing.T) {
	x, home, notes := newIndex(t)
	put(t, home, "MEMORY.org", "* Anna\nlikes tea\n* Bert\nlikes tea as well\n")
	other := put(t, notes, "n.org", "* Carla\nnever drinks tea\n")
	refreshed(t, x, 2)
	recalled := func() string {
		t.Helper()
		found, err := x.Recall(t.Context(), "tea?", []string{""}, 6)
		var lines []string
		for _, f := range found {
			if f.Snippet != f.Text {
				t.Errorf("the line of %s is %q", f.Title, f.Snippet)
			}
			lines = append(lines, f.Title+" "+f.Text)
		}
		if err != nil {
			t.Error(err)
		}
		slices.Sort(lines)
		return strings.Join(lines, "|")
	}
	if got, want := recalled(), "Anna likes tea|Bert likes tea as well|Carla never drinks tea"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	put(t, home, "MEMORY.org", "* Anna\nlikes coffee now\n* Bert\nlikes green tea\n* Dora\ngrows tea\n")
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	if got, want := recalled(), "Bert likes green tea|Dora grows tea"; got != want {
		t.Errorf("after an edit: got %q, want %q", got, want)
	}
}
