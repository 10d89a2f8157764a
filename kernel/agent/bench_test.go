package agent_test

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"org-agent/kernel/act"
	"org-agent/kernel/agent"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/channel"
	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/dialect"
	"org-agent/kernel/memory"
	"org-agent/kernel/policy"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
	"org-agent/skills"
)

// What a prompt is made of in BenchmarkPrompt.
const (
	promptSkills = 100 // that the model is told of, and as many notes whose triggers are asked
	promptTools  = 50
	promptTurns  = 200
)

// household is an agent with all that it works with, and one conversation.
type household struct {
	t       testing.TB
	home    string
	journal *journal.Journal
	config  agent.Config
	turns   int
}

func newHousehold(t testing.TB) *household {
	t.Helper()
	return newHouse(t, true)
}

// newHouse is a household whose home is empty, and which has no notes that come with the kernel, unless it
// is furnished.
func newHouse(t testing.TB, furnished bool) *household {
	t.Helper()
	h := &household{t: t, home: t.TempDir()}
	log := slog.New(slog.DiscardHandler)
	var shipped fs.FS
	if furnished {
		h.writeHome()
		shipped = skills.Notes()
	}
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"))
	h.must(err)
	h.journal = j
	t.Cleanup(func() { _ = j.Close() })
	files, _, err := journal.OpenFiles(t.Context(), filepath.Join(t.TempDir(), "index.db"))
	h.must(err)
	t.Cleanup(func() { _ = files.Close() })
	index := &memory.Index{Files: files, Logger: log, Roots: []memory.Root{{Path: filepath.Join(h.home, "MEMORY.org"), Memory: true}}}
	_, err = index.Refresh(t.Context())
	h.must(err)
	notes := skill.New(skill.Config{Shipped: shipped, Specs: kind.New(append(act.Kinds(act.Deps{}), channel.Known()...)...).Specs, Home: filepath.Join(h.home, "skills"), Logger: log})
	notes.Load(t.Context())
	prompts := skillmd.New(skillmd.Config{Home: filepath.Join(h.home, "skills"), Logger: log})
	prompts.Load(t.Context())
	tools := h.tools(prompts)
	library, faults := prompt.Load("")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	home := &memory.Home{Directory: h.home}
	now := func() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) }
	kinds := kind.New(act.Kinds(act.Deps{Catalog: tools, Logger: log})...)
	h.config = agent.Config{
		Sources: composer.Sources{
			Skills: notes, Tools: tools, Prompts: prompts, Library: func() *prompt.Library { return library }, Runtime: [][2]string{{"os", "linux"}},
			Dialect:     dialect.NewPlist(),
			DisplayPath: func(path string) string { return path }, Logger: log,
		},
		Persona: func(string) (memory.Persona, error) { return home.Persona(now()), nil },
		Policy:  &policy.Policy{Home: h.home, Tools: tools, Kinds: kinds}, Kinds: func() *kind.Set { return kinds }, Journal: answering(j),
		NewID: func() string { return "id" }, Now: now, Model: func() string { return "test-model" }, SummaryModel: func() string { return "" }, HistoryTurns: func() int { return 0 },
		Window: func(context.Context, string, bool) llm.Window { return llm.Window{Tokens: 1_000_000} },
		Index:  index,
	}
	return h
}

func (h *household) must(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// writeHome writes what a person has there after a while.
func (h *household) writeHome() {
	long := time.Now().Add(-time.Hour)
	write := func(name, text string) {
		path := filepath.Join(h.home, name)
		h.must(os.MkdirAll(filepath.Dir(path), 0o755))
		h.must(os.WriteFile(path, []byte(text), 0o644))
		h.must(os.Chtimes(path, long, long)) // a file that was just written is read again and again
	}
	starters, err := config.Starters()
	h.must(err)
	for name, text := range starters {
		write(name, strings.Replace(text, "# Write below this line.", "It is said here at some length what holds, who is who and what is wanted.\n", 1))
	}
	var kept strings.Builder
	for i := range 60 {
		fmt.Fprintf(&kept, "* Fact %d\n:PROPERTIES:\n:ID: fact-%d\n:END:\nThe samovar number %d stands in Samarkand, and nobody knows why.\n", i, i, i)
	}
	write("MEMORY.org", kept.String())
	for i := range promptSkills {
		name := fmt.Sprintf("skill-%d", i)
		write("skills/"+name+"/SKILL.md", fmt.Sprintf("---\nname: %s\ndescription: What the skill number %d is for, and when it is of use.\n---\n# How\nDo it.\n", name, i))
		name = fmt.Sprintf("note-%d", i)
		write("skills/"+name+".org", fmt.Sprintf("#+TITLE: %s\n* How\n#+begin_src lisp :tangle yes\n"+
			"(defun asked-for (c) (and (eq (getf (getf c :payload) :sensor) :chat-message) (search \"%s\" (getf (getf c :payload) :text))))\n"+
			"(defun think (c) (list :type :response :text \"yes\"))\n(defskill :%s :priority 60 :trigger #'asked-for :neuro #'think)\n#+end_src\n", name, name, name))
	}
}

// tools are many, each with a manual.
func (h *household) tools(prompts *skillmd.Registry) *tool.Registry {
	type arguments struct {
		Query string `doc:"what is looked for" required:"true"`
	}
	var all []tool.Tool
	built, err := tool.BuiltIn(tool.Deps{Skills: prompts.Current, Memory: tool.Memory{Store: &memory.Store{}, Index: &memory.Index{}}})
	h.must(err)
	all = append(all, built.All()...)
	for i := range promptTools - len(built.Offered()) {
		all = append(all, tool.New(tool.Definition[arguments]{
			Name: fmt.Sprintf("look_up_%d", i), Manual: fmt.Sprintf("# Look up %d\n\nLooks up what is known of a thing in the place number %d.\n", i, i),
			Perform: func(context.Context, *tool.Caller, arguments) (string, error) { return "", nil },
		}))
	}
	registry, err := tool.NewRegistry(all...)
	h.must(err)
	return registry
}

// answering is what an agent reads of a journal and writes into it.
func answering(j *journal.Journal) agent.Journal {
	return agent.Journal{
		Records: j.Records, Turns: j.Turns, Acts: j.Acts, Asks: j.Asks, Models: j.Sessions, Transcripts: j.Transcripts, Subagents: j.Subagents, Usage: j.Usage,
	}
}

// alone is the same without notes of the person's own to choose among, and with nothing to be
// reminded of.
func (h *household) alone() agent.Config {
	c := h.config
	c.Index = nil
	c.Sources.Skills = skill.New(skill.Config{Shipped: skills.Notes(), Specs: kind.New(append(act.Kinds(act.Deps{}), channel.Known()...)...).Specs, Logger: c.Sources.Logger})
	c.Sources.Skills.Load(h.t.Context())
	return c
}

// forgetful is the same on a journal that nobody has read from yet.
func (h *household) forgetful() agent.Config {
	h.t.Helper()
	j, err := journal.OpenToRead(h.t.Context(), h.journal.Path())
	h.must(err)
	h.t.Cleanup(func() { _ = j.Close() })
	c := h.config
	c.Journal = answering(j)
	return c
}

// say has a turn in the conversation; every fourth calls a tool.
func (h *household) say() {
	h.t.Helper()
	h.turns++
	i := h.turns
	ctx, j := h.t.Context(), h.journal
	question, turn, answer := fmt.Sprintf("q%d", i), fmt.Sprintf("turn-%d", i), fmt.Sprintf("a%d", i)
	_, _, err := j.Turns.Accept(ctx, protocol.Event{ID: question, Session: "main", Sensor: protocol.SensorChatMessage, Level: 1, Stamp: h.config.Now(),
		Text: strings.Repeat("which notes mention Samarkand? ", 5)}, turn)
	h.must(err)
	if i%4 == 0 {
		_, err := j.Records.Append(ctx, journal.Entry{Kind: journal.KindToolStep, Session: "main", Turn: turn, ID: answer, Data: []byte(
			`{"action":"(:type :request :target :tool :action :call :tool \"look_up_1\" :args (:query \"x\"))","verdict":"performed","text":"` + strings.Repeat(`- a line that was \"found\"\n`, 100) + `"}`)})
		h.must(err)
	}
	h.must(j.Acts.PutAct(ctx, journal.Act{ID: answer, Session: "main", Turn: turn, Event: question, Kind: journal.ActAnswer, Raw: strings.Repeat("Both are from *April*, and more. ", 20), Final: true}))
	_, err = j.Turns.SetTurn(ctx, journal.TurnChange{ID: turn, State: protocol.TurnAnswered})
	h.must(err)
}

// BenchmarkPrompt is what a turn takes to find what its model is sent: a prompt of 100 skills,
// 50 tools, the person's files and 200 earlier turns in the journal, of which every fourth
// called a tool and the last has come since. "composed" is that alone; "later" is all of it,
// with the choice among 100 notes and what a turn is reminded of; "first" is the same where
// nothing was read before.
func BenchmarkPrompt(b *testing.B) {
	h := newHousehold(b)
	for range promptTurns {
		h.say()
	}
	look := func(a *agent.Agent) {
		shown := a.Prompt(b.Context(), protocol.Event{ID: "now", Session: "main", Sensor: protocol.SensorChatMessage, Route: protocol.LocalRoute(protocol.ChannelEmacs),
			Text: "where does the samovar number 17 stand?", Level: 1, Stamp: h.config.Now()}, "", "")
		if shown.Note != "" || shown.History.Turns < promptTurns || len(h.config.Sources.Tools.Offered()) != promptTools || !strings.Contains(shown.Parts[0].Text, "- look_up_1 ") || !strings.Contains(shown.Parts[0].Text, "skill-99") {
			b.Fatalf("%s %+v\n%s", shown.Note, shown.History, shown.Parts[0].Text)
		}
	}
	b.Run("first", func(b *testing.B) {
		for range b.N {
			b.StopTimer()
			a := agent.New(h.forgetful())
			b.StartTimer()
			look(a)
		}
	})
	for _, c := range []struct {
		name   string
		config agent.Config
	}{{"composed", h.alone()}, {"later", h.config}} {
		b.Run(c.name, func(b *testing.B) {
			a := agent.New(c.config)
			look(a)
			b.ReportAllocs()
			b.ResetTimer()
			var spent time.Duration
			for range b.N {
				b.StopTimer()
				h.say()
				b.StartTimer()
				before := processorTime(b)
				look(a)
				spent += processorTime(b) - before
			}
			b.ReportMetric(float64(spent.Microseconds())/float64(b.N)/1000, "cpu-ms/op")
		})
	}
}

// processorTime is what this process has taken of the processors.
func processorTime(t testing.TB) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
