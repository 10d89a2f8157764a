package tasks_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/sensor/tasks"
)

const agendaText = `#+FILETAGS: :work:
* TODO Plans of my own
SCHEDULED: <2027-03-01 Mon 09:00 +1d>
* TODO Report :agenttask:
SCHEDULED: <2027-03-01 Mon 09:00 +1d>
of the day
`

// other makes a file beside that of the tasks, as the person's agenda has it.
func (h *home) other(name, text string) (path string) {
	h.t.Helper()
	path = filepath.Join(filepath.Dir(h.path), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
	return path
}

// announce has the kernel look at files, as Emacs does.
func (k *kernel) announce(files ...string) {
	k.t.Helper()
	if err := k.sensor.Announce(k.t.Context(), tasks.Watched{Files: files, Tag: tasks.Tag}); err != nil {
		k.t.Fatal(err)
	}
}

// listed returns the tasks, "TITLE STATE" each.
func (k *kernel) listed() string {
	k.t.Helper()
	all, _, err := k.sensor.List(k.t.Context(), 2)
	if err != nil {
		k.t.Fatal(err)
	}
	var lines []string
	for _, p := range all {
		lines = append(lines, strings.TrimSpace(fmt.Sprint(p.Title, " ", p.Arming)))
	}
	return strings.Join(lines, ", ")
}

// arm arms the task with a title, as the list shows it.
func (k *kernel) arm(title string) {
	k.t.Helper()
	all, _, err := k.sensor.List(k.t.Context(), 2)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, p := range all {
		if p.Title != title {
			continue
		}
		if len(p.Next) != 2 {
			k.t.Errorf("the times of %s are %v before it is armed", title, p.Next)
		}
		if _, err := k.sensor.Arm(k.t.Context(), p.Hash, true); err != nil {
			k.t.Fatal(err)
		}
		return
	}
	k.t.Fatalf("there is no task %s", title)
}

// A heading of the agenda is a task if it has the tag, and begins only after it was armed. It stays armed when its repeater
// moves, and by the next kernel, for which no Emacs names the file.
func TestArmed(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 08:00", "", func(h *home) {
		agenda := h.other("agenda.org", agendaText)
		k := h.start(0)
		k.announce(agenda)
		if got := k.listed(); got != "Report not armed" {
			t.Errorf("listed are %s", got)
		}
		k.expect("2027-03-01 10:00", "")
		if _, err := k.sensor.Begin(h.t.Context(), "Report"); protocol.ErrorCode(err) != protocol.CodeConflict {
			t.Errorf("what is not armed begins by hand: %v", err)
		}
		k.arm("Report")
		k.expect("2027-03-01 10:30", "Report at Mon 03-01 10:00 +0000")
		k.expect("2027-03-02 10:00", "Report at Mon 03-01 10:00 +0000, Report at Tue 03-02 09:00 +0000")
		k.end()
		k = h.start(0)
		defer k.end()
		k.expect("2027-03-03 10:00", "Report at Mon 03-01 10:00 +0000, Report at Tue 03-02 09:00 +0000, Report at Wed 03-03 09:00 +0000")
		text, err := os.ReadFile(agenda)
		if err != nil || strings.Count(string(text), "- State") != 3 || !strings.Contains(string(text), "* TODO Plans of my own\nSCHEDULED: <2027-03-01 Mon 09:00 +1d>\n") {
			t.Errorf("the file is\n%s%v", text, err)
		}
		if len(h.told) > 0 {
			t.Errorf("told is %q", h.told)
		}
	})
}

// A change of what would be done disarms a task, which is told once and shown, until the person arms what it is now. What
// it was before has no consent any more.
func TestChangeDisarms(t *testing.T) {
	for name, change := range map[string][2]string{
		"the text":     {"of the day", "of the night"},
		"a property":   {"+1d>\nof", "+1d>\n:PROPERTIES:\n:SKILL: chat\n:END:\nof"},
		"the time":     {"09:00 +1d>\nof", "09:30 +1d>\nof"},
		"the repeater": {"09:00 +1d>\nof", "09:00 ++1d>\nof"},
	} {
		bubble(t, "UTC", "2027-03-01 08:00", "", func(h *home) {
			agenda := h.other("agenda.org", agendaText)
			k := h.start(0)
			k.announce(agenda)
			k.arm("Report")
			h.other("agenda.org", strings.Replace(agendaText, change[0], change[1], 1))
			k.sensor.Reload()
			k.expect("2027-03-01 10:00", "")
			if got := k.listed(); got != "Report changed" {
				t.Errorf("%s: listed are %s", name, got)
			}
			h.other("agenda.org", agendaText)
			k.sensor.Reload()
			k.end()
			k = h.start(0)
			defer k.end()
			k.expect("2027-03-01 11:00", "")
			if len(h.told) != 1 || !strings.Contains(h.told[0], " Report: not armed any more\n") || !strings.Contains(h.told[0], agenda) {
				t.Errorf("%s: told is %q", name, h.told)
			}
			k.arm("Report")
			k.expect("2027-03-01 12:00", "Report at Mon 03-01 11:00 +0000")
		})
	}
}

// A heading that is gone, was renamed or lost its tag is not armed any more, which is told. One that is done is not told.
func TestGoneDisarms(t *testing.T) {
	for text, told := range map[string]int{
		"": 1,
		strings.Replace(agendaText, "Report", "Renamed", 1):          1,
		strings.Replace(agendaText, " :agenttask:", "", 1):           1,
		strings.Replace(agendaText, "TODO Report", "DONE Report", 1): 0,
	} {
		bubble(t, "UTC", "2027-03-01 08:00", "", func(h *home) {
			agenda := h.other("agenda.org", agendaText)
			k := h.start(0)
			defer k.end()
			k.announce(agenda)
			k.arm("Report")
			h.other("agenda.org", text)
			k.sensor.Reload()
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if len(h.told) != told {
				t.Errorf("told is %q after\n%s", h.told, text)
			}
			h.other("agenda.org", agendaText)
			k.sensor.Reload()
			k.expect("2027-03-01 10:00", "")
			if got := k.listed(); got != "Report not armed" {
				t.Errorf("listed are %s", got)
			}
		})
	}
}

// A file that is read while an editor writes it, in part or empty, disarms nothing, and nothing begins of it.
func TestReadWhileWritten(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 08:00", "", func(h *home) {
		agenda := h.other("agenda.org", agendaText)
		k := h.start(0)
		defer k.end()
		k.announce(agenda)
		k.arm("Report")
		k.expect("2027-03-01 08:59", "")
		time.Sleep(59*time.Second + 900*time.Millisecond)
		for _, part := range []string{"", strings.TrimSuffix(agendaText, "day\n")} {
			h.other("agenda.org", part)
			k.sensor.Reload()
			time.Sleep(300 * time.Millisecond)
		}
		h.other("agenda.org", agendaText)
		k.sensor.Reload()
		k.expect("2027-03-01 09:10", "Report at Mon 03-01 09:00 +0000")
		if len(h.told) > 0 {
			t.Errorf("told is %q", h.told)
		}
	})
}

// What the person saw is what is armed: not what the heading has become meanwhile.
func TestArmedIsWhatWasSeen(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 08:00", "* TODO Mine\nSCHEDULED: <2027-04-01 Thu 09:00>\n", func(h *home) {
		agenda := h.other("agenda.org", agendaText)
		k := h.start(0)
		defer k.end()
		k.announce(agenda)
		all, _, err := k.sensor.List(h.t.Context(), 1)
		if err != nil || len(all) != 2 {
			t.Fatalf("listed are %v, %v", all, err)
		}
		h.other("agenda.org", strings.Replace(agendaText, "of the day", "of the night", 1))
		if _, err := k.sensor.Arm(h.t.Context(), all[1].Hash, true); protocol.ErrorCode(err) != protocol.CodeNotFound {
			t.Errorf("another text is armed: %v", err)
		}
		if _, err := k.sensor.Arm(h.t.Context(), all[0].Hash, true); protocol.ErrorCode(err) != protocol.CodeConflict {
			t.Errorf("a task of tasks.org is armed: %v", err)
		}
		k.arm("Report")
		all, _, _ = k.sensor.List(h.t.Context(), 1)
		if _, err := k.sensor.Arm(h.t.Context(), all[1].Hash, false); err != nil {
			t.Fatal(err)
		}
		k.expect("2027-03-01 10:00", "")
		if got := k.listed(); got != "Mine, Report not armed" || len(h.told) > 0 {
			t.Errorf("listed are %s, and told is %q", got, h.told)
		}
	})
}

// A copy of an armed heading elsewhere is not armed, nor is one with the :ID: of another task. Conversations hold no tasks.
// A file that cannot be read disarms nothing.
func TestArmedInItsFile(t *testing.T) {
	withID := strings.Replace(agendaText, "+1d>\nof", "+1d>\n:PROPERTIES:\n:ID: report\n:END:\nof", 1)
	bubble(t, "UTC", "2027-03-01 08:00", "* TODO Mine\nSCHEDULED: <2027-04-01 Thu 09:00>\n:PROPERTIES:\n:ID: mine\n:END:\n", func(h *home) {
		agenda := h.other("agenda.org", withID)
		h.others = []string{agenda, h.other("sessions/main.org", agendaText), h.other("forged.org", strings.Replace(withID, "ID: report", "ID: mine", 1))}
		k := h.start(0)
		defer k.end()
		k.sensor.Reload()
		synctest.Wait()
		if got := k.listed(); got != "Mine, Report not armed" {
			t.Errorf("listed are %s", got)
		}
		if got := strings.Join(h.reported, "\n"); !strings.Contains(got, "forged.org:4:1: error: the task has the :ID: of that on line 1 of ") {
			t.Errorf("reported is %s", got)
		}
		k.arm("Report")
		if err := os.Rename(agenda, agenda+".away"); err != nil {
			t.Fatal(err)
		}
		k.sensor.Reload()
		k.expect("2027-03-01 08:30", "")
		if err := os.Rename(agenda+".away", agenda); err != nil {
			t.Fatal(err)
		}
		h.other("second.org", withID)
		h.others = append([]string{filepath.Join(filepath.Dir(h.path), "second.org")}, h.others...)
		k.sensor.Reload()
		k.expect("2027-03-01 09:10", "Report at Mon 03-01 09:00 +0000")
		if len(h.told) > 0 {
			t.Errorf("told is %q", h.told)
		}
	})
}

// A retry of a task that was changed meanwhile is none: the text that it has now has no consent.
func TestRetryOfChanged(t *testing.T) {
	bubble(t, "UTC", "2027-03-01 08:00", "", func(h *home) {
		h.work = func(protocol.Event, time.Time) (time.Duration, protocol.TurnState) {
			return time.Second, protocol.TurnFailed
		}
		agenda := h.other("agenda.org", agendaText)
		k := h.start(0)
		defer k.end()
		k.announce(agenda)
		k.arm("Report")
		k.expect("2027-03-01 09:00", "Report at Mon 03-01 09:00 +0000")
		time.Sleep(2 * time.Second)
		h.other("agenda.org", strings.Replace(agendaText, "of the day", "of the night", 1))
		k.sensor.Reload()
		k.expect("2027-03-01 12:00", "Report at Mon 03-01 09:00 +0000")
	})
}
