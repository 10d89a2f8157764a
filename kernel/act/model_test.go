//go:build model

package act_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/action"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/openai"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// replyTokens is the limit of a reply here. A small model that repeats itself reaches it within a text, which a
// grammar does not bound: such a reply is cut off, and is never taken for an action. What was written of a text for
// the person is shown.
const replyTokens = 100

// TestRealEngineHoldsToTheGrammar gives llama.cpp's own engine the grammar of each kind of action and of each tool
// alone, and of all of them together, with and without prose, with two models that could not write an action by
// themselves. Every reply that ends is a usable one, and of those that do not, none is performed.
func TestRealEngineHoldsToTheGrammar(t *testing.T) {
	for _, model := range []string{"smollm2", "gemma3"} {
		t.Run(model, func(t *testing.T) {
			server := llmtest.StartLlamaCpp(t, model, "--ctx-size", "4096").Wait(t)
			provider, err := openai.New(llm.ServerConfig{Name: model, BaseURL: server.URL(), Model: model, GrammarField: "grammar"})
			if err != nil {
				t.Fatal(err)
			}
			defer provider.Close()
			ended, cut := 0, 0
			number := 0
			for name, grammar := range realGrammars(t) {
				number++
				times := 1
				if strings.HasPrefix(name, "all") {
					times = 9
				}
				for seed := range times {
					warm := []float64{0, 0.8, 1.5}[(number+seed)%3]
					provider, err := openai.New(llm.ServerConfig{Name: model, BaseURL: server.URL(), Model: model, GrammarField: "grammar", Body: map[string]any{"seed": number*100 + seed}})
					if err != nil {
						t.Fatal(err)
					}
					reply, err := llm.Collect(provider.Stream(t.Context(), llm.Request{
						Sections: llm.System("You work in Org mode. Do what the user asks with one action."), Grammar: grammar, Temperature: &warm, MaxTokens: replyTokens,
						Messages: []llm.Message{{Role: llm.RoleUser, Text: questions[(number+seed)%len(questions)]}},
					}))
					provider.Close()
					_, unfinished := action.Read(reply.Text) // the last token that fits may be the one that ends it
					switch {
					case err != nil:
						t.Errorf("%s: %v", name, err)
					case reply.Finish == llm.FinishLength && unfinished != nil:
						cut++
						if done := performed(reply.Text); done != "" {
							t.Errorf("%s was cut off, and would be performed: %s", name, done)
						}
					default:
						ended++
						if err := usable(reply.Text); err != nil {
							t.Errorf("%s, %q: %v", name, reply.Text, err)
						}
					}
				}
			}
			t.Logf("%s: %d of %d replies ended and were usable, %d were cut off at %d tokens", model, ended, ended+cut, cut, replyTokens)
			if ended == 0 {
				t.Error("no reply ended")
			}
		})
	}
}

// questions are what the models are asked.
var questions = []string{"Show me the file notes.org.", "What is the capital of France?", "Search my notes for the word garden.", "Write 'milk' into the shopping list.", "Hello!"}

// realGrammars returns grammars by their names.
func realGrammars(t *testing.T) map[string]string {
	registry, err := tool.BuiltIn(tool.Deps{})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	var tools []action.GrammarTool
	var calls []action.Form
	forms := builtIn().Specs().Forms(protocol.Route{Channel: "emacs"})
	for _, form := range forms {
		if form.CallsTools() {
			calls = append(calls, form)
		}
	}
	for _, one := range registry.All() {
		called := action.GrammarTool{Name: one.Name(), Reads: one.Effect() == protocol.ToolReads, Arguments: one.Grammar}
		tools = append(tools, called)
		all["tool "+one.Name()] = action.Grammar(calls[:1], []action.GrammarTool{called}, false)
	}
	for i, form := range forms {
		all[fmt.Sprintf("form %d, %s %s", i+1, form.Target, form.Name)] = action.Grammar([]action.Form{form}, tools, false)
	}
	all["all"] = action.Grammar(forms, tools, true)
	all["all without prose"] = action.Grammar(forms, tools, false)
	all["all calls"] = action.Grammar(calls, tools, false)
	return all
}

// performed returns the action that would be performed for a reply that was cut off, "" if there is none. A text for
// the person is no such action.
func performed(text string) string {
	kinds := builtIn()
	got := plist.Recover(text, plist.RecoverOptions{IsReply: kinds.IsReply})
	if got.Proposal == nil || kinds.IsReply(got.Proposal) {
		return ""
	}
	return action.Propose(got.Proposal).String()
}

// usable returns why a reply cannot be used as an answer in words or as an action.
func usable(text string) error {
	got := plist.Recover(text, plist.RecoverOptions{Finished: true})
	if !strings.HasPrefix(text, "(") {
		if strings.TrimSpace(text) == "" || got.Err != nil {
			return fmt.Errorf("no answer: %w", got.Err)
		}
		return nil
	}
	if got.Err != nil || got.Proposal == nil {
		return fmt.Errorf("not read: %v", got.Err)
	}
	proposed, err := builtIn().Specs().Usable(action.Propose(got.Proposal))
	if err != nil {
		return err
	}
	registry, err := tool.BuiltIn(tool.Deps{})
	if err != nil {
		return err
	}
	for _, call := range proposed.Action().Calls() {
		for _, one := range registry.All() {
			if why := unfit(one.Schema(), call); one.Name() == call.Tool && why != "" {
				return errors.New("the arguments: " + why)
			}
		}
	}
	return nil
}
