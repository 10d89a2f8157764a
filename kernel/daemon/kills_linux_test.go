package daemon_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

var kills = flag.Duration("kills", 0, "how long TestKilledAmidDeeds and TestKilledAmidChats go on with homes; 0 is one small home")

// deeds are what a person asks for in these homes: words alone, a command in the sandbox, a call of a tool of
// an MCP server, and a file that is written. All but the first are asked about.
var deeds = []string{"words", "command", "call", "file"}

// besieged is a home whose kernel is killed again and again while it does what a person allows.
type besieged struct {
	*testing.T
	*instance
	seed         uint64
	random       *rand.Rand
	project      string
	mark         string                     // by which its processes are known
	acknowledged map[string]string          // turns, by event
	allowed      map[string]map[string]bool // approvals that a person allowed or tried to, by event
	told         siege
}

// siege is what was tried and found.
type siege struct {
	Kills, Messages, Acknowledged, Allowed, Denied, Retried, Commands, Calls, Files, Undone, Archived int
}

func (s *siege) add(o siege) {
	for _, pair := range []struct {
		to   *int
		more int
	}{
		{&s.Kills, o.Kills}, {&s.Messages, o.Messages}, {&s.Acknowledged, o.Acknowledged}, {&s.Allowed, o.Allowed}, {&s.Denied, o.Denied}, {&s.Retried, o.Retried},
		{&s.Commands, o.Commands}, {&s.Calls, o.Calls}, {&s.Files, o.Files}, {&s.Undone, o.Undone}, {&s.Archived, o.Archived},
	} {
		*pair.to += pair.more
	}
}

// TestKilledAmidDeeds: a kernel that is killed at any moment, while it runs commands in the sandbox, calls tools
// of MCP servers, writes files, waits for a person, archives and is told what was undone: nothing that was
// acknowledged is lost or answered twice, nothing is done that nobody allowed or more often than that,
// what the journal says was done was done, and nothing stays behind.
func TestKilledAmidDeeds(t *testing.T) {
	var all siege
	for homes, began := 0, time.Now(); homes == 0 || time.Since(began) < *kills; homes++ {
		seed := uint64(time.Now().UnixNano())
		rounds := 3
		if *kills > 0 {
			rounds = 16
		}
		t.Run(fmt.Sprint("seed-", seed), func(t *testing.T) {
			b := newBesieged(t, seed, rounds)
			b.attack(rounds)
			b.settle()
			b.check()
			b.undo()
			all.add(b.told)
		})
		if *kills > 0 && homes%10 == 0 {
			t.Logf("%v, %d homes: %+v", time.Since(began).Round(time.Second), homes+1, all)
		}
	}
	t.Logf("%+v", all)
}

// eventID is the id of a message, which is in all that comes of it.
func eventID(round, message int) string { return fmt.Sprintf("q%dx%d", round, message) }

const messagesOfRound = 3

func newBesieged(t *testing.T, seed uint64, rounds int) *besieged {
	t.Helper()
	b := &besieged{T: t, seed: seed, random: rand.New(rand.NewPCG(seed, 0)), acknowledged: map[string]string{}, allowed: map[string]map[string]bool{},
		mark: fmt.Sprintf("0.0%d", 1_000_000+seed%1_000_000)}
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b.project = project
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	slow := llmtest.Duration(2 * time.Millisecond)
	exchanges := []llmtest.Exchange{{Match: `This is a result`, Reply: insertion(`* Done\none two three four`), Chunk: 16, Delay: slow, Times: -1}}
	for round := range rounds {
		for message := range messagesOfRound {
			id := eventID(round, message)
			reply := insertion(`* Done\nwithout a deed`)
			switch deeds[b.random.IntN(len(deeds))] {
			case "command":
				reply = fmt.Sprintf(`(:type :request :target :tool :action :call :tool "exec" :args (:command "echo %s >>%s; sleep %s" :cwd %q :writes t))`, id, "commands", b.mark, project)
			case "call":
				reply = fmt.Sprintf(`(:type :request :target :tool :action :call :tool "fake_append" :args (:line %q) :digest "0")`, id)
			case "file":
				reply = fmt.Sprintf(`(:type :request :target :tool :action :call :tool "write" :args (:path "%s/file-%s.txt" :content "%s was here\n"))`, project, id, id)
			}
			exchanges = append(exchanges, llmtest.Exchange{Match: "^" + id + "$", Reply: reply, Chunk: 24, Delay: slow, Times: -1})
		}
	}
	b.instance = newInstance(t, exchanges...)
	b.variables[commandsVariable] = "1"
	b.write(t, "config.org", fmt.Sprintf("* Settings\n:PROPERTIES:\n:PROPOSE_AFTER: off\n:KEEP_REQUESTS: 300ms\n:END:\n* MCP\n** Fake\n:PROPERTIES:\n:COMMAND: %q\n:ENVIRONMENT: %s=1\n:ENVIRONMENT+: %s=%s\n:END:\n",
		self, mcpVariable, ledgerVariable, b.ledger()))
	return b
}

func (b *besieged) ledger() string { return filepath.Join(b.project, "calls") }

// attack starts kernels that are killed, and sends messages and decides beside them.
func (b *besieged) attack(rounds int) {
	b.Helper()
	for round := range rounds {
		e, dead := b.doomed(b.T, time.Duration(50+b.random.IntN(900))*time.Millisecond)
		b.told.Kills++
		for message := range messagesOfRound {
			id := eventID(round, message)
			b.told.Messages++
			if sent, err := e.Send(within(b.T), id, id); err == nil {
				b.acknowledged[id] = sent.Turn
				b.told.Acknowledged++
			}
		}
		if b.random.IntN(2) == 0 {
			b.retry(e, false)
		}
		for alive := true; alive; {
			b.decideAll(e)
			select {
			case <-e.Done():
				alive = false
			case <-time.After(10 * time.Millisecond):
			}
		}
		dead()
	}
}

// decideAll decides what waits, mostly with yes.
func (b *besieged) decideAll(e *rpctest.Editor) {
	for _, approval := range e.Approvals() {
		decision := protocol.AllowOnce
		if b.random.IntN(5) == 0 {
			decision = protocol.Deny
		}
		if decision == protocol.AllowOnce {
			if b.allowed[approval.Event] == nil {
				b.allowed[approval.Event] = map[string]bool{}
			}
			b.allowed[approval.Event][approval.ID] = true // the kernel may die before it says that it knows
			b.told.Allowed++
		} else {
			b.told.Denied++
		}
		_ = e.Call(within(b.T), protocol.MethodAskDecide, protocol.AskDecideParams{ID: approval.ID, Decision: decision}, nil)
	}
}

// retry has interrupted turns answered again. With must it fails if the kernel refuses.
func (b *besieged) retry(e *rpctest.Editor, must bool) (some bool) {
	b.Helper()
	j, err := journal.OpenToRead(b.Context(), b.paths.Journal)
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	for id, turn := range b.acknowledged {
		now, err := j.Turns.Turn(b.Context(), turn)
		if err != nil {
			b.Errorf("seed %d: %s was acknowledged and is lost: %v", b.seed, id, err)
			continue
		}
		if now.State != protocol.TurnInterrupted {
			continue
		}
		some = true
		b.told.Retried++
		if err := e.Call(within(b.T), protocol.MethodTurnRetry, protocol.TurnRetryParams{Turn: turn}, nil); err != nil && must {
			b.Errorf("seed %d: %s is not answered again: %v", b.seed, id, err)
		}
	}
	return some
}

// settle runs a kernel until every message is answered. What no kernel had is sent again.
func (b *besieged) settle() {
	b.Helper()
	p := b.spawn(b.T)
	defer p.kill()
	e := b.editor(b.T, rpctest.Config{File: b.mainFile()})
	loaded, _ := e.Loaded()
	for _, id := range loaded.NeverReceived {
		if _, known := b.acknowledged[id]; known {
			b.Errorf("seed %d: %s was acknowledged and is not known", b.seed, id)
		}
		sent, err := e.Send(within(b.T), id, id)
		if err != nil {
			b.Fatal(err)
		}
		b.acknowledged[id] = sent.Turn
	}
	until(b.T, "every turn has ended", func() bool {
		b.decideAll(e)
		if b.retry(e, true) {
			return false
		}
		var status protocol.StatusResult
		if err := e.Call(within(b.T), protocol.MethodStatus, protocol.Empty{}, &status); err != nil {
			b.Fatal(err)
		}
		return status.Running+status.Queued+status.Waiting == 0
	})
	converged(b.T, b.instance, e)
	for id := range b.acknowledged {
		if n := strings.Count(answers(e.Text(), id), "** Done\n"); n != 1 {
			b.Errorf("seed %d: %s has %d answers in\n%s", b.seed, id, n, e.Text())
		}
	}
	if problems := e.Problems(); len(problems) > 0 {
		b.Errorf("seed %d: %q", b.seed, problems)
	}
}

// check compares what was done with what was allowed and with what the journal says.
func (b *besieged) check() {
	b.Helper()
	commands, calls := lines(b.T, filepath.Join(b.project, "commands")), lines(b.T, b.ledger())
	performed := map[string]int{}
	named := regexp.MustCompile(`q\d+x\d+`)
	for _, row := range b.rows(b.T, journal.Query{Kinds: []journal.Kind{journal.KindToolStep}, Limit: 100_000}) {
		var step journal.ToolStep
		if err := json.Unmarshal(row.Data, &step); err != nil {
			b.Fatal(err)
		}
		if step.Verdict == "performed" {
			performed[named.FindString(step.Action)]++
		}
	}
	for id := range b.acknowledged {
		_, missing := os.Stat(b.file(id))
		done := commands[id] + calls[id]
		b.told.Commands += commands[id]
		b.told.Calls += calls[id]
		if missing == nil {
			done++
			b.told.Files++
		}
		if yes := len(b.allowed[id]); done > yes {
			b.Errorf("seed %d: %s was allowed %d times and done %d times", b.seed, id, yes, done)
		}
		if missing != nil && commands[id]+calls[id] < performed[id] || missing == nil && performed[id] == 0 && len(b.allowed[id]) == 0 {
			b.Errorf("seed %d: %s was done %d times, and the journal says %d", b.seed, id, done, performed[id])
		}
	}
	b.clean()
}

func (b *besieged) file(id string) string { return filepath.Join(b.project, "file-"+id+".txt") }

// clean checks that nothing was left behind, and that the journal and its archive are whole.
func (b *besieged) clean() {
	b.Helper()
	until(b.T, "no process is left", func() bool { return sleeping(b.mark) == 0 })
	j, err := journal.OpenToRead(b.Context(), b.paths.Journal)
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	if told, err := j.Incidents(b.Context(), time.Time{}); err != nil || len(told) > 0 {
		b.Errorf("seed %d: a person is told %v, %v", b.seed, told, err)
	}
	faults, err := j.Check(b.Context())
	if err != nil || len(faults) > 0 {
		b.Errorf("seed %d: the journal has %v, %v", b.seed, faults, err)
	}
	faults, err = j.Archive.Check(b.Context())
	state, unread := j.Archive.State(b.Context())
	if err != nil || unread != nil || len(faults) > 0 {
		b.Errorf("seed %d: the archive has %v, %v, %v", b.seed, faults, err, unread)
	}
	b.told.Archived += state.Rows
	for after := int64(0); ; {
		rows, err := j.Records.Entries(b.Context(), journal.Query{After: after})
		if err != nil {
			b.Fatal(err)
		}
		if len(rows) == 0 {
			return
		}
		for _, row := range rows {
			after = row.Seq
			if strings.Contains(string(row.Data), `"Missing":"it was moved`) {
				b.Errorf("seed %d: row %d was archived and is lost: %s", b.seed, row.Seq, row.Data)
			}
		}
	}
}

// left returns what was left in the project. A kernel that starts removes what a killed one left; unfinished files
// it removes when they are an hour old.
func (b *besieged) left() (names []string) {
	b.Helper()
	entries, err := os.ReadDir(b.project)
	if err != nil {
		b.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); name != "commands" && name != "calls" && !strings.HasPrefix(name, "file-") && !strings.HasSuffix(name, ".new~") {
			names = append(names, name)
		}
	}
	return names
}

// undo takes files back, as an Emacs does, while the kernel that is told of it is killed. What it acknowledged is
// known to the next one.
func (b *besieged) undo() {
	b.Helper()
	e, dead := b.doomed(b.T, time.Duration(50+b.random.IntN(300))*time.Millisecond)
	b.told.Kills++
	acknowledged := map[string]string{} // turns, by act
	for id, turn := range b.acknowledged {
		var told protocol.TurnChangesResult
		if e.Call(within(b.T), protocol.MethodTurnChanges, protocol.TurnChangesParams{ID: id}, &told) != nil {
			break
		}
		for _, change := range told.Changes {
			if text, err := os.ReadFile(b.file(id)); change.File != b.file(id) || err == nil && string(text) != id+" was here\n" {
				b.Errorf("seed %d: %s changed %+v, and it is %q", b.seed, id, change, text)
			}
			if err := os.Remove(b.file(id)); err != nil && !change.Unsure && !os.IsNotExist(err) {
				b.Error(err)
			}
			if e.Call(within(b.T), protocol.MethodTurnUndone, protocol.TurnUndoneParams{Turn: turn, Acts: []string{change.Act}}, nil) == nil {
				acknowledged[change.Act] = turn
			}
		}
	}
	dead()
	p := b.spawn(b.T)
	defer p.kill()
	until(b.T, fmt.Sprintf("seed %d: the removal of %v", b.seed, b.left()), func() bool { return len(b.left()) == 0 })
	again := b.editor(b.T, rpctest.Config{File: b.mainFile()})
	for act, turn := range acknowledged {
		var told protocol.TurnChangesResult
		if err := again.Call(within(b.T), protocol.MethodTurnChanges, protocol.TurnChangesParams{ID: turn}, &told); err != nil {
			b.Fatal(err)
		}
		for _, change := range told.Changes {
			if change.Act == act && change.Undone == "" {
				b.Errorf("seed %d: %s was undone, and the next kernel does not know it", b.seed, act)
			}
		}
		b.told.Undone++
	}
}

// lines counts the lines of a file.
func lines(t *testing.T, path string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		counts[strings.TrimSpace(line)]++
	}
	return counts
}
