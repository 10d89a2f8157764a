package daemon_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/rpc/rpctest"
)

// A model that goes round in a circle of one to four calls is warned, stopped, and said to be;
// one that answers then has its answer shown with the reason.
func TestCirclesEnd(t *testing.T) {
	for period, requests := range map[int]int{1: 7, 2: 11, 3: 13, 4: 17} {
		for _, answers := range []bool{true, false} {
			t.Run(fmt.Sprint(period, answers), func(t *testing.T) {
				t.Parallel()
				var exchanges []llmtest.Exchange
				if answers {
					exchanges = append(exchanges, llmtest.Exchange{Match: "nothing more is done", Reply: insertion("* I found nothing"), Times: -1})
				}
				for i := range 20 {
					exchanges = append(exchanges, calling("memory_search", fmt.Sprintf(`:query "zebra %d"`, i%period)))
				}
				in, model := newInstanceAndModel(t, exchanges...)
				in.write(t, "config.org", "* Settings\n:PROPERTIES:\n:BUDGET_ROUNDS: 50\n:END:\n")
				in.start(t)
				e := in.editor(t, rpctest.Config{})
				got := ask(t, e, "q1", "hi")
				want := map[bool]string{true: "answered", false: "interrupted"}[answers]
				if got.state != want || !strings.Contains(got.notice, "This was stopped: it did the same ") {
					t.Errorf("the turn ended %+v", got)
				}
				if text := e.Text(); answers != strings.Contains(text, "- Stopped :: This was stopped: it did the same ") || answers != strings.Contains(text, "I found nothing") {
					t.Errorf("the answer is\n%s", text)
				}
				_, lasts := systems(model)
				if len(lasts) != requests {
					t.Errorf("the model was asked %d times, not %d", len(lasts), requests)
				}
				warned := 0
				for _, last := range lasts {
					warned += strings.Count(last, "once more will not give another")
				}
				if warned != 1 {
					t.Errorf("it was warned %d times", warned)
				}
			})
		}
	}
}

// A model that says the same again and again is not heard any longer, and its server is told so:
// what it said once is kept.
func TestModelThatIsStuck(t *testing.T) {
	const again = "I will look once more, and then tell you. "
	endless := strings.Repeat(again, 20_000)
	for _, c := range []struct {
		name, state, text, notice string
		exchange                  llmtest.Exchange
	}{
		{"in an answer", "answered", "Well", "; the answer is incomplete",
			llmtest.Exchange{Reply: `(:type :request :target :emacs :action :insert-at-end :text "* Well\n` + endless + `")`}},
		{"in prose", "answered", "Well", "; the answer is incomplete", llmtest.Exchange{Reply: "Well.\n\n" + endless}},
		{"in its thoughts", "failed", "No answer", "", llmtest.Exchange{Reasoning: endless, Reply: insertion("* Well")}},
		{"in a call", "failed", "No answer", "", llmtest.Exchange{Reply: `(:type :request :target :tool :action :call :tool "memory_save" :args (:text "` + endless}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.exchange.Chunk, c.exchange.Delay, c.exchange.Times = 120, llmtest.Duration(10*time.Millisecond), -1
			in, model := newInstanceAndModel(t, c.exchange)
			if len(c.exchange.Calls) > 0 {
				in.write(t, "config.org", native(model))
				delete(in.variables, "ORG_AGENT_LLM")
			}
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			got := ask(t, e, "q1", "hi")
			if got.state != c.state || !strings.HasPrefix(got.notice, "the model repeated the same text endlessly and was stopped") || !strings.HasSuffix(got.notice, c.notice) {
				t.Errorf("the turn ended %+v", got)
			}
			if text := e.Text(); !strings.Contains(text, c.text) || !strings.Contains(text, ":THOUGHTS:") && strings.Count(text, "I will look once more") > 2 {
				t.Errorf("the answer is\n%.600s", text)
			}
			until(t, "the server to be left", func() bool { return model.Abandoned() == 1 })
			if len(model.Requests()) != 1 {
				t.Errorf("the model was asked %d times", len(model.Requests()))
			}
		})
	}
}

// When the time is up, what is being done is stopped, and what was found is told. Time that a
// person takes is none.
func TestTimeIsUp(t *testing.T) {
	settings := "* Settings\n:PROPERTIES:\n:BUDGET_TIME: 3s\n:END:\n"
	t.Run("a model that hangs", func(t *testing.T) {
		t.Parallel()
		in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("* Some words that come and then no more come"), Fault: llmtest.Fault{HangAfter: 4}})
		in.write(t, "config.org", settings)
		in.start(t)
		got := ask(t, in.editor(t, rpctest.Config{}), "q1", "hi")
		if !strings.Contains(got.notice, "What this may take is used up: 3s (BUDGET_TIME)") {
			t.Errorf("the turn ended %+v", got)
		}
		until(t, "the server to be left", func() bool { return model.Abandoned() == 1 })
	})
	t.Run("a person who takes their time", func(t *testing.T) {
		t.Parallel()
		in, _ := newInstanceAndModel(t, calling("ask_user", `:questions ((:question "Tea?" :kind :yes-no :name "tea"))`), llmtest.Exchange{Reply: insertion("* Tea"), Times: -1})
		in.write(t, "config.org", strings.Replace(settings, "3s", "5m", 1))
		in.start(t)
		e := in.editor(t, rpctest.Config{})
		begun := time.Now()
		if _, err := e.Send(within(t), "q1", "hi"); err != nil {
			t.Fatal(err)
		}
		see(t, e, "the question", func() bool { return len(e.Questions()) == 1 })
		before := e.Progress()
		time.Sleep(300 * time.Millisecond)
		if err := answer(t, e, e.Questions()[0].ID, "tea", "yes"); err != nil {
			t.Fatal(err)
		}
		see(t, e, "the answer", func() bool { return strings.Contains(e.Text(), "** Tea") })
		idle(t, e)
		after := e.Progress()
		whole := time.Since(begun).Seconds()
		if spent := after[len(after)-1].Seconds; spent <= before[0].Seconds || spent > whole-0.3 {
			t.Errorf("it took %g of %g seconds, of which a person took 0.3", spent, whole)
		}
	})
}
