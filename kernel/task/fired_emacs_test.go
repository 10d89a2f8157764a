package task_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/task"
)

var (
	logNotePattern   = regexp.MustCompile(` \\\\\n *Done, planned for [^\n]*`)
	lastMinute       = regexp.MustCompile(`\[\d{4}-\d\d-\d\d \w+ \d\d:\d\d\]`)
	logbookOfOneDone = regexp.MustCompile(`(?s):LOGBOOK:\n- State [^\n]*\n:END:\n`)
)

// An entry whose task was done is what org-todo makes of it: keyword, repeaters, properties and the drawer for the log,
// in their places. The log has a note besides. What does not repeat gets an entry of the log, which Org makes on request
// only.
func TestFiredMatchesOrg(t *testing.T) {
	if testing.Short() {
		t.Skip("-short starts no Emacs")
	}
	random := rand.New(rand.NewPCG(5, 7))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	var entries, want []string
	for i := range 150 {
		day := time.Date(2025, 1, 1+random.IntN(1000), 0, 0, 0, 0, time.UTC)
		stamp := func(repeater string) string {
			return "<" + day.Format("2006-01-02 Mon") + pick("", " 09:30", " 09:30-10:00") + repeater + pick("", " -2d") + ">"
		}
		repeater := pick("", " +1d", " ++1w", " .+2m", " ++3d", " +1y")
		text := pick("* TODO ", "* ", "* TODO [#A] ") + fmt.Sprint("Task ", i) + pick("", " :tag:") + "\n"
		switch pick("scheduled", "deadline", "deadline only", "both", "closed") {
		case "scheduled":
			text += "SCHEDULED: " + stamp(repeater) + "\n"
		case "deadline":
			text += "DEADLINE: " + stamp(repeater) + "\n"
		case "deadline only":
			text += "SCHEDULED: " + stamp("") + " DEADLINE: " + stamp(repeater) + "\n"
		case "both":
			text += "DEADLINE: " + stamp(repeater) + " SCHEDULED: " + stamp(repeater) + "\n"
		default:
			text += "SCHEDULED: " + stamp(repeater) + " DEADLINE: " + stamp("") + "\n"
		}
		text += pick("", "", ":PROPERTIES:\n:STYLE:    habit\n:END:\n", ":PROPERTIES:\n:LAST_REPEAT: [2024-01-01 Mon 10:00]\n:REPEAT_TO_STATE: TODO\n:END:\n")
		text += pick("", ":LOGBOOK:\n- Note taken on [2024-01-01 Mon 10:00] \\\\\n  old\n:END:\n")
		text += pick("", "What to do.\n", "\n- one\n- two\n")
		f := task.Read(task.Source{Path: "x.org", Text: text, Zone: time.UTC})
		if len(f.Tasks) != 1 {
			t.Fatalf("%s\n%s", faults(f), text)
		}
		due, _ := f.Tasks[0].Due()
		ended := due.Add(time.Duration(random.IntN(20*24*60)) * time.Minute)
		after, err := f.Fired(f.Tasks[0].ID, task.Outcome{Result: task.Done, Planned: due, Ended: ended})
		if err != nil {
			t.Fatal(err)
		}
		entries, want = append(entries, fmt.Sprintf("%d\n%s", ended.Unix(), text)), append(want, after)
	}
	refused := 0
	for i, got := range firedInEmacs(t, entries) {
		how, text, _ := strings.Cut(got, "\n")
		if how == "refused" {
			refused++
			continue
		}
		ours := logNotePattern.ReplaceAllString(want[i], "")
		if !strings.Contains(text, "State \"DONE\"") {
			ours = logbookOfOneDone.ReplaceAllString(ours, "")
			ours = strings.Replace(ours, ":LOGBOOK:\n- State \"DONE\"       from \"TODO\"       ", ":LOGBOOK:\n- State", 1)
			ours = regexp.MustCompile(`- State[^\n]*\n`).ReplaceAllString(ours, "")
		}
		blank := func(s string) string { return lastMinute.ReplaceAllString(s, "[then]") }
		if blank(ours) != blank(text) {
			t.Errorf("of\n%s\nbecomes\n%s\nand Org makes of it\n%s", entries[i], ours, text)
		}
	}
	if refused > len(want)/10 {
		t.Errorf("Org refused %d of %d entries", refused, len(want))
	}
}

// firedInEmacs returns what Org makes of the entries.
func firedInEmacs(t *testing.T, entries []string) []string {
	t.Helper()
	directory := t.TempDir()
	in, out := filepath.Join(directory, "in"), filepath.Join(directory, "out")
	if err := os.WriteFile(in, []byte(strings.Join(entries, "\f")), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	emacs := exec.CommandContext(ctx, "emacs", "-Q", "--batch", "-l", filepath.Join("testdata", "fired.el"))
	emacs.Env = append(os.Environ(), "TZ=UTC", "LC_ALL=C", "FIRED_IN="+in, "FIRED_OUT="+out)
	if message, err := emacs.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, message)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(string(data), "\f")
	if len(all) != len(entries) {
		t.Fatalf("%d results for %d entries:\n%s", len(all), len(entries), data)
	}
	return all
}
