package daemon_test

import (
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// TestHugeMemory: of a file of 5 MB a model is told as much as there is room for, its beginning
// and its end, with a mark where something is left out.
func TestHugeMemory(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	in.write(t, "MEMORY.org", "* The first\n"+strings.Repeat("Words {{name}} and så videre, every day.\n", 5<<20/42)+"* The last\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	if got := ask(t, e, "q1", "hi"); got.state != "answered" {
		t.Errorf("the turn is %+v", got)
	}
	told, _ := systems(model)
	if len(told) != 1 || prompt.Tokens(told[0]) > 12_000 || !strings.Contains(told[0], "** The first\n") || !strings.Contains(told[0], "\n** The last\n") || !strings.Contains(told[0], "bytes are left out here") {
		t.Errorf("the model was told %d bytes: %.300s", len(told[0]), told[0])
	}
}

// TestBracesAndBrokenFiles: braces in files are text; a file that cannot be read takes nothing
// else with it, and is told of with what to do; of two files for one role Org's counts.
func TestBracesAndBrokenFiles(t *testing.T) {
	const braces = "{{name}} {{include:safety}} {{file:SOUL}} {{ {{{{ }} \\{{days}} {{tool:exec}}"
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	clock := &handClock{}
	in.clock = clock.now
	clock.set(moment(t, "2026-06-01T12:00:00Z"))
	for _, role := range prompt.Roles() {
		in.write(t, role+".org", braces+"\n{{\n")
	}
	in.write(t, "IDENTITY.md", "# Another\n")
	in.write(t, "memory/2026-06-01.org", "B\xe4cker\n")
	in.write(t, "memory/2026-05-31.org", braces+"\n")
	in.write(t, "WORKSPACE.org", "\xff\xfew\x00o\x00")
	in.write(t, "skills/odd/SKILL.md", "---\nname: odd\ndescription: \""+strings.ReplaceAll(braces, `\`, "")+" \xff\"\n---\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", braces)
	told, lasts := systems(model)
	// TOOLS, PROFILES, SOUL, USER, MEMORY, IDENTITY and the note of yesterday; HEARTBEAT is for another kind.
	if n := strings.Count(told[0], braces); n != 7 || lasts[0] != braces || strings.Count(told[0], "You have no aims of your own.") != 1 || strings.Contains(told[0], "Another") {
		t.Errorf("braces stand there %d times in\n%s\nand the message is %s", n, told[0], lasts[0])
	}
	var found protocol.DoctorResult
	if err := e.Call(within(t), protocol.MethodDoctor, protocol.DoctorParams{Only: []string{"persona"}}, &found); err != nil {
		t.Fatal(err)
	}
	all := fmt.Sprint(found.Findings)
	for _, fault := range []string{"IDENTITY.md: it is not read, because IDENTITY.org is there", "WORKSPACE.org: it is not UTF-8 in line 1; save it as UTF-8"} {
		if !strings.Contains(all, fault) {
			t.Errorf("the doctor does not tell that %s: %s", fault, all)
		}
	}
}

// TestDaysAreThePersons: which notes are of today and yesterday is decided where the person is,
// on both sides of midnight, and when the clock is set back; the rest of the prompt is the same.
func TestDaysAreThePersons(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Yes"), Times: -1})
	clock := &handClock{}
	in.clock = clock.now
	clock.set(moment(t, "2026-03-29T12:00:00Z"))
	for _, day := range []string{"2026-03-27", "2026-03-28", "2026-03-29", "2026-03-30", "2026-03-31"} {
		in.write(t, "memory/"+day+".org", "Of "+day+".\n")
	}
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	for i, c := range []struct{ now, zone, days string }{
		{"2026-03-29T21:59:00Z", "Europe/Berlin", "Of 2026-03-29. Of 2026-03-28."}, // the clock was changed that night
		{"2026-03-29T22:01:00Z", "Europe/Berlin", "Of 2026-03-30. Of 2026-03-29."},
		{"2026-03-30T09:59:00Z", "Pacific/Kiritimati", "Of 2026-03-30. Of 2026-03-29."},
		{"2026-03-30T10:01:00Z", "Pacific/Kiritimati", "Of 2026-03-31. Of 2026-03-30."},
		{"2026-03-30T06:59:00Z", "America/Los_Angeles", "Of 2026-03-29. Of 2026-03-28."},
		{"2026-03-30T07:01:00Z", "America/Los_Angeles", "Of 2026-03-30. Of 2026-03-29."},
		{"2026-03-28T07:01:00Z", "America/Los_Angeles", "Of 2026-03-28. Of 2026-03-27."},
	} {
		clock.set(moment(t, c.now))
		in.write(t, "USER.org", "- Timezone :: "+c.zone+"\n")
		ask(t, e, "q"+string(rune('a'+i)), "hi")
		told, _ := systems(model)
		var days []string
		for line := range strings.Lines(told[len(told)-1]) {
			if strings.HasPrefix(line, "Of 2026-") {
				days = append(days, strings.TrimSpace(line))
			}
		}
		if got := strings.Join(days, " "); got != c.days {
			t.Errorf("at %s in %s it is told %s, want %s", c.now, c.zone, got, c.days)
		}
		if strings.Contains(told[len(told)-1], c.now[11:16]) {
			t.Errorf("there is a clock in\n%s", told[len(told)-1])
		}
	}
}
