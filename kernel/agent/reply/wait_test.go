package reply_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/skill"
)

// Why a reply does not come is told while it does not come, and no longer.
func TestWaiting(t *testing.T) {
	asked := func(_ context.Context, request llm.Request, _ llmtest.Emit) error {
		request.Asking("api.example.org")
		return nil
	}
	limit := func(pause time.Duration) llmtest.Step {
		return llmtest.Fail(&llm.Error{Class: llm.ClassRateLimit, RetryAfter: pause})
	}
	for name, c := range map[string]struct {
		turns []llmtest.Turn
		lines []string // all that is told of waiting
	}{
		"a quick reply": {[]llmtest.Turn{{asked, llmtest.Pause(9 * time.Second), llmtest.Text("Hi"), llmtest.Pause(9 * time.Second), llmtest.Finish(llm.FinishStop)}}, nil},
		"a slow one": {[]llmtest.Turn{{asked, llmtest.Pause(40 * time.Second), llmtest.Text("Hi"), llmtest.Pause(12 * time.Second), llmtest.Finish(llm.FinishStop)}},
			[]string{"waits for api.example.org, silent, at 00:00:00Z, attempt 0", "goes on", "waits for api.example.org, silent, at 00:00:40Z, attempt 0", "goes on"}},
		"a limit": {[]llmtest.Turn{{asked, limit(12 * time.Second)}, {asked, limit(20 * time.Second)}, {asked, llmtest.Text("Hi"), llmtest.Finish(llm.FinishStop)}},
			[]string{"waits for api.example.org, rate-limit, at 00:00:12Z, attempt 2", "goes on", "waits for api.example.org, rate-limit, at 00:00:32Z, attempt 3", "goes on"}},
		"a limit, and then silence": {[]llmtest.Turn{{asked, limit(30 * time.Second)}, {asked, llmtest.Pause(11 * time.Second), llmtest.Text("Hi"), llmtest.Finish(llm.FinishStop)}},
			[]string{"waits for api.example.org, rate-limit, at 00:00:30Z, attempt 2", "goes on", "waits for api.example.org, silent, at 00:00:30Z, attempt 0", "goes on"}},
		"broken and gone": {[]llmtest.Turn{{asked, llmtest.Fail(&llm.Error{Class: llm.ClassServer, RetryAfter: 5 * time.Second})},
			{asked, llmtest.Fail(&llm.Error{Class: llm.ClassUnreachable, RetryAfter: 5 * time.Second})}, {asked, llmtest.FailAs(llm.ClassAuth)}},
			[]string{"waits for api.example.org, server, at 00:00:05Z, attempt 2", "goes on", "waits for api.example.org, unreachable, at 00:00:10Z, attempt 3", "goes on"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, c.turns...)
				s.provider(llm.Retry{Next: s.script})
				_, _ = s.asker.Ask(t.Context(), skill.Ask{Text: "hello"})
				var lines []string
				for _, line := range s.lines {
					if line == "goes on" || len(line) > 5 && line[:6] == "waits " {
						lines = append(lines, line)
					}
				}
				s.lines = lines
				s.said(c.lines...)
			})
		})
	}
}
