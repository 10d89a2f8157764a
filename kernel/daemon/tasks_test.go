package daemon_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/daemon"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

const everySecond = `* TODO Say hello
:PROPERTIES:
:CRON:     * * * * * *
:MAX_RUNS: 3
:ROUTE:    main
:END:
In one word.
* Once more
SCHEDULED: <2026-01-02 Fri 10:00>
:PROPERTIES:
:SESSION: letters
:END:
`

// A task in tasks.org is done at its time, in a conversation of its own, by the model, and its result is in the conversation that it names. The file says what was done, once for each time.
func TestTasks(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Match: "^Say hello\nIn one word.", Reply: "Hello.", Times: -1}, llmtest.Exchange{Match: "^Once more", Reply: "Once."})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	in.write(t, "tasks.org", everySecond)
	see(t, e, "three results", func() bool {
		return strings.Count(e.Text(), "Hello.") == 3 && strings.Count(e.Text(), "Say hello") == 3
	})
	until(t, "the file to say so", func() bool {
		text := in.read(t, "tasks.org")
		return strings.Contains(text, "* DONE Say hello\n") && strings.Contains(text, ":RUNS:     3\n") && strings.Count(text, "Done, planned") == 4 && strings.Contains(text, "* DONE Once more")
	})
	letters := in.editor(t, rpctest.Config{Session: "letters"})
	see(t, letters, "the other result", func() bool { return strings.Contains(letters.Text(), "Once.") })
	if strings.Contains(e.Text(), "Once.") {
		t.Error("what was done in a conversation of the person's is told elsewhere")
	}
}

// What is wrong with tasks.org is told, with the line.
func TestTasksFaults(t *testing.T) {
	in := newInstance(t)
	in.write(t, "tasks.org", "* T\n:PROPERTIES:\n:CRON: 61 * * * *\n:END:\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	noticed(t, e, "tasks.org:3:1: error: :CRON: \"61 * * * *\" is no rule")
}

// TestTasksKilled: a kernel that is killed again and again while a task is due every second. Each planned time that was
// leased is done once, told once in the conversation that the task names, and in the log once. Without a conversation it is in
// the inbox once.
func TestTasksKilled(t *testing.T) {
	t.Run("told", func(t *testing.T) {
		tasksKilled(t, ":ROUTE: main\n", func(in *instance) int {
			return strings.Count(in.conversation(t, "main"), "Hello to you and all of you.")
		})
	})
	t.Run("kept", func(t *testing.T) {
		tasksKilled(t, "", func(in *instance) int {
			j, err := journal.Open(t.Context(), in.paths.Journal)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = j.Close() }()
			items, err := j.Inbox.Items(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range items {
				if item.Text != "Hello to you and all of you." || item.Kind != protocol.InboxResult {
					t.Errorf("%+v", item)
				}
			}
			return len(items)
		})
	})
}

func tasksKilled(t *testing.T, route string, told func(in *instance) int) {
	in := newInstance(t, llmtest.Exchange{Match: "^Say hello", Reply: "Hello to you and all of you.", Chunk: 4, Delay: llmtest.Duration(20 * time.Millisecond), Times: -1})
	in.write(t, "tasks.org", "* TODO Say hello\n:PROPERTIES:\n:CRON: * * * * * *\n"+route+":END:\n")
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	for range 7 {
		p := in.spawn(t)
		time.Sleep(time.Duration(300+random.IntN(1500)) * time.Millisecond)
		p.kill()
	}
	in.write(t, "tasks.org", strings.Replace(in.read(t, "tasks.org"), ":CRON: * * * * * *\n", ":CRON: 0 0 1 1 *\n", 1))
	k := in.start(t)
	var open, leases []journal.Lease
	until(t, "all to be settled", func() bool {
		return !strings.Contains(in.read(t, "tasks.org"), "nothing") && in.openLeases(t, &open, &leases) == 0
	})
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	text := in.read(t, "tasks.org")
	if len(leases) == 0 {
		t.Fatalf("nothing was done:\n%s", text)
	}
	for _, l := range leases {
		if got := strings.Count(text, "planned for "+l.Planned.Local().Format("2006-01-02 15:04:05")); got != 1 && l.Covered.Equal(l.Planned) && l.Planned.Second() != 0 {
			t.Errorf("the log has %v %d times", l.Planned, got)
		}
		if l.State != journal.LeaseDone {
			t.Errorf("%+v", l)
		}
	}
	if entries := strings.Count(text, "- State \"DONE\""); entries != len(leases) {
		t.Errorf("%d entries of the log for %d times", entries, len(leases))
	}
	if n := told(in); n != len(leases) {
		t.Errorf("%d results are told of %d", n, len(leases))
	}
}

// openLeases reads the leases, and returns how many are open.
func (in *instance) openLeases(t *testing.T, open, all *[]journal.Lease) int {
	t.Helper()
	j, err := journal.Open(t.Context(), in.paths.Journal)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = j.Close() }()
	if *open, err = j.Leases.OpenLeases(t.Context()); err != nil {
		t.Fatal(err)
	}
	if *all, err = j.Leases.LeasesOf(t.Context(), in.paths.Tasks+"::Say hello", 1000); err != nil {
		t.Fatal(err)
	}
	return len(*open)
}

// A heading of a file that Emacs announces begins after it was armed, and its outcome is written there. When its text is
// changed it is not armed any more, and the conversation says so.
func TestTasksArmed(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Match: "^Say hello\nIn one word.", Reply: "Hello.", Times: -1}, llmtest.Exchange{Match: "^Are you there", Reply: "Yes."})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	if _, err := e.Ask(within(t), "there", "Are you there?"); err != nil {
		t.Fatal(err)
	}
	agenda := filepath.Join(t.TempDir(), "agenda.org")
	text := "* Mine\n* TODO Say hello :agenttask:\n:PROPERTIES:\n:CRON:     * * * * * *\n:MAX_RUNS: 2\n:END:\nIn one word.\n"
	write := func(text string) {
		if err := os.WriteFile(agenda, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	if err := e.Call(within(t), protocol.MethodScheduleWatch, protocol.ScheduleWatchParams{Files: []string{agenda}}, &protocol.Empty{}); err != nil {
		t.Fatal(err)
	}
	var list protocol.ScheduleListResult
	if err := e.Call(within(t), protocol.MethodScheduleList, protocol.ScheduleListParams{Text: true}, &list); err != nil || len(list.Tasks) != 1 {
		t.Fatalf("listed are %+v, %v", list, err)
	}
	task := list.Tasks[0]
	if task.State != "not armed" || task.Text != "Say hello\nIn one word." || !task.Other || task.Next == "" {
		t.Errorf("listed is %+v", task)
	}
	if err := e.Call(within(t), protocol.MethodScheduleArm, protocol.ScheduleArmParams{Hash: task.Hash}, &task); err != nil || task.State != "planned" {
		t.Fatalf("armed is %+v, %v", task, err)
	}
	see(t, e, "two results", func() bool { return strings.Count(e.Text(), "Hello.") == 2 })
	until(t, "the file to say so", func() bool {
		content, err := os.ReadFile(agenda)
		return err == nil && strings.Contains(string(content), "* DONE Say hello") && strings.Count(string(content), "Done, planned") == 2
	})
	listed := func(count int) bool {
		return e.Call(within(t), protocol.MethodScheduleList, protocol.ScheduleListParams{}, &list) == nil && len(list.Tasks) == count
	}
	until(t, "it to be listed no more", func() bool { return listed(0) })
	write(text) // it is another plan, which is not armed
	until(t, "it to be listed", func() bool { return listed(1) && list.Tasks[0].State == "not armed" })
	write(strings.Replace(text, "* * * * * *", "0 9 * * *", 1))
	until(t, "it to be read", func() bool { return listed(1) && list.Tasks[0].When == "0 9 * * *" })
	if err := e.Call(within(t), protocol.MethodScheduleArm, protocol.ScheduleArmParams{Hash: list.Tasks[0].Hash}, &task); err != nil {
		t.Fatal(err)
	}
	write(strings.Replace(text, "* * * * * *", "0 10 * * *", 1))
	see(t, e, "that it is not armed any more", func() bool {
		return strings.Contains(e.Text(), "Say hello: not armed any more") && strings.Contains(e.Text(), agenda)
	})
}

// A model plans a task: the person is asked, once only, on the difference and the next times, and it is done at its time. A
// bad rule is refused before anybody is asked.
func TestTasksByAsking(t *testing.T) {
	in := newInstance(t,
		llmtest.Exchange{Match: "is no rule", Reply: calling("schedule_create", `:title "Water the roses" :cron "* * * * * *" :runs 1`).Reply, Times: 1},
		llmtest.Exchange{Match: "Planned|It plans the task", Reply: insertion("* It is planned"), Times: 1},
		llmtest.Exchange{Match: "remind me", Reply: calling("schedule_create", `:title "Water the roses" :cron "every second"`).Reply, Times: 1},
		llmtest.Exchange{Match: "^Water the roses", Reply: insertion("* They are dry"), Times: 1},
	)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	_, approval := asked(t, e, "q1", "remind me")
	if !strings.Contains(approval.Text, "+* Water the roses\n") || !strings.Contains(approval.Text, ":CRON:     * * * * * *\n") || approval.Always {
		t.Errorf("the person was shown %+v", approval)
	}
	if effects := strings.Join(approval.Effects, "\n"); strings.Count(effects, " 20") != 5 || !strings.Contains(effects, "it is done on ") {
		t.Errorf("the times are %q", effects)
	}
	if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the result", func() bool {
		return strings.Contains(e.Text(), "It is planned") && strings.Contains(e.Text(), "They are dry")
	})
}

// A kernel that lingers stays for a task that is due within a day, and ends when it is done. One that is due later does not
// hold it.
func TestTasksLinger(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Match: "^Say hello", Reply: "Hello."})
	at := time.Now().Add(3 * time.Second)
	in.write(t, "tasks.org", fmt.Sprintf("* Say hello\n:PROPERTIES:\n:CRON:     %d %d %d * * *\n:MAX_RUNS: 1\n:END:\n* TODO Later\nSCHEDULED: <%s>\n",
		at.Second(), at.Minute(), at.Hour(), at.AddDate(0, 0, 3).Format("2006-01-02 Mon 15:04")))
	k, err := in.tryStart(daemon.Config{Linger: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	<-k.ended
	if text := in.read(t, "tasks.org"); !strings.Contains(text, "* DONE Say hello\n") || !strings.Contains(text, "* TODO Later\n") {
		t.Errorf("the kernel ended, and the file is\n%s", text)
	}
}
