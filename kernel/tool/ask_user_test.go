package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/protocol"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

// person answers every form with its content.
type person struct{ declines bool }

func (p person) AskUser(_ context.Context, form protocol.QuestionForm) (string, error) {
	if p.declines {
		return "", tool.Declined{Reason: "not now"}
	}
	text, err := json.Marshal(form)
	return string(text), err
}

// argumentsOf returns the arguments of a call from JSON.
func argumentsOf(t *testing.T, text string) protocol.Object {
	t.Helper()
	var arguments protocol.Arguments
	if err := json.Unmarshal([]byte(text), &arguments); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return protocol.Object(arguments)
}

func TestAskUser(t *testing.T) {
	r, err := tool.BuiltIn(tool.Deps{Skills: func() *skillmd.Set { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	asks := r.For(&tool.Caller{Asker: person{}})
	for _, c := range []struct{ arguments, want string }{
		{`{"questions":{"question":" a\n b ","min":null}}`, `{"title":"a b","fields":[{"name":"answer","kind":"text","question":"a b"}]}`},
		{`{"title":"T","questions":[{"question":"a","options":["x","y"],"default":"Y"},{"question":"b","kind":"yes_no","default":"t","optional":true}]}`,
			`{"title":"T","fields":[{"name":"answer-1","kind":"choice","question":"a","options":["x","y"],"default":"y"},{"name":"answer-2","kind":"yes-no","question":"b","optional":true,"default":"yes"}]}`},
		{`{"questions":[{"question":"a","kind":"number","min":0,"max":1.5,"name":"How_Many"}]}`,
			`{"title":"a","fields":[{"name":"how-many","kind":"number","question":"a","min":0,"max":1.5}]}`},
		{`{"questions":[{"question":"a","kind":"choice","own":true,"options":["x"],"default":"mine"}]}`,
			`{"title":"a","fields":[{"name":"answer","kind":"choice","question":"a","options":["x"],"own":true,"default":"mine"}]}`},
		{`{"questions":5}`, "the argument :questions is a list of plists"},
		{`{"questions":[]}`, "the argument :questions is missing"},
		{`{"questions":[{"question":"a","kind":"number","min":"3"}]}`, "number 1 of :questions: the argument :min is a number"},
		{`{"questions":[{"question":"a","kind":"colour"}]}`, `:kind is one of :text :choice :choices :number :yes-no :secret, not "colour"`},
		{`{"questions":[{"question":" "}]}`, "it asks nothing"},
	} {
		got, _, err := asks.Call(t.Context(), "ask-user", argumentsOf(t, c.arguments))
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) && !(err != nil && strings.Contains(got, c.want)) {
			t.Errorf("%s:\n%s, want\n%s", c.arguments, got, c.want)
		}
	}
	_, _, err = r.For(&tool.Caller{Asker: person{declines: true}}).Call(t.Context(), "ask_user", argumentsOf(t, `{"questions":{"question":"a"}}`))
	if !errors.As(err, new(tool.Declined)) || !strings.Contains(fmt.Sprint(err), "not now") {
		t.Errorf("declined: %v", err)
	}
	for name, r := range map[string]*tool.Registry{"no turn": r, "a turn of nobody": r.For(&tool.Caller{})} {
		if _, _, err := r.Call(t.Context(), "ask_user", argumentsOf(t, `{"questions":{"question":"a"}}`)); err == nil {
			t.Errorf("%s: somebody was asked", name)
		}
	}
	written, effect, _ := r.Find("Ask-User")
	if written != "ask_user" || effect != protocol.ToolAsks {
		t.Errorf("the policy hears of %s, %q", written, effect)
	}
	line := r.Offered()[0].Line()
	if !strings.HasPrefix(line, `ask_user (:questions ((:question S [:kind :text|:choice|:choices|:number|:yes-no|:secret :options (S …) :optional t] …) …) [:title S]): `) {
		t.Errorf("a prompt says %s", line)
	}
}
