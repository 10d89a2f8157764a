package llm_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/llm"
)

// unshown are the texts of a request that are not content: names, and words from a fixed list.
var unshown = []string{
	".Model", ".Sections[0].Notation", ".Messages[0].Role", ".Messages[0].Images[0].Media", ".Messages[0].Calls[0].ID", ".Messages[0].Calls[0].Function.ID", ".Messages[0].Original.Writer",
	".Messages[0].Outcome.Results[0].Call.ID", ".Messages[0].Outcome.Results[0].Call.Function.ID", ".Messages[0].Outcome.Results[0].Verdict", ".Messages[0].Outcome.Results[0].Failure.Code",
	".Messages[0].Outcome.Results[0].Parts[0].ID", ".Messages[0].Outcome.Results[0].Parts[0].Verdict", ".Messages[0].Outcome.Results[0].Parts[0].Failure.Code", ".GrammarField",
}

// TestMapReachesEveryText checks that a function that hides secrets is applied to all that a model
// may be shown. It also finds a text that is added to a request later.
func TestMapReachesEveryText(t *testing.T) {
	var request, before llm.Request
	for _, r := range []*llm.Request{&request, &before} {
		each(reflect.ValueOf(r).Elem(), "", func(text reflect.Value, _ string) { text.SetString("a secret") })
	}
	mapped := request.Map(func(s string) string { return strings.ReplaceAll(s, "secret", "REDACTED") })
	var left []string
	each(reflect.ValueOf(&mapped).Elem(), "", func(text reflect.Value, path string) {
		if strings.Contains(text.String(), "secret") {
			left = append(left, path)
		}
	})
	if !slices.Equal(left, unshown) {
		t.Errorf("a secret is left in\n%q, and may be in\n%q", left, unshown)
	}
	if mapped.Messages[0].Original != nil && strings.Contains(string(mapped.Messages[0].Original.Data), "REDACTED") {
		t.Error("an original was changed, and is no original any more")
	}
	if !reflect.DeepEqual(request, before) {
		t.Errorf("the request itself was changed: %+v", request)
	}
}

// each calls f for every text below a value. Empty lists and nil pointers get an item first.
func each(v reflect.Value, path string, f func(text reflect.Value, path string)) {
	switch v.Kind() {
	case reflect.String:
		f(v, path)
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		each(v.Elem(), path, f)
	case reflect.Slice:
		if v.Len() == 0 {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			each(v.Index(i), fmt.Sprintf("%s[%d]", path, i), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			each(v.Field(i), path+"."+v.Type().Field(i).Name, f)
		}
	}
}

// TestMapShares checks that unchanged parts are shared, and not copied for every request of a long
// conversation.
func TestMapShares(t *testing.T) {
	request := llm.Request{Messages: []llm.Message{{Text: "a"}, {Outcome: &llm.Outcome{Results: []llm.Result{{Text: "b"}}}}, {Text: "c"}}}
	same := request.Map(func(s string) string { return s })
	if &same.Messages[0] != &request.Messages[0] {
		t.Error("all is copied though nothing changed")
	}
	other := request.Map(func(s string) string { return strings.ReplaceAll(s, "c", "d") })
	if other.Messages[1].Outcome != request.Messages[1].Outcome || other.Messages[2].Text != "d" || request.Messages[2].Text != "c" {
		t.Errorf("%+v of %+v", other, request)
	}
}

// TestNeedsDialect checks that a message with calls, results or additions, or in the kernel's role,
// is for a dialect, and a message with text and images is not.
func TestNeedsDialect(t *testing.T) {
	for _, c := range []struct {
		message llm.Message
		want    bool
	}{
		{llm.Message{Role: llm.RoleUser, Text: "a", Images: []llm.Image{{Name: "i"}}}, false},
		{llm.Message{Role: llm.RoleAssistant, Text: "a"}, false},
		{llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{{ID: "1"}}}, true},
		{llm.Message{Role: llm.RoleKernel, Text: "a"}, true},
		{llm.Message{Role: llm.RoleUser, Outcome: &llm.Outcome{Results: make([]llm.Result, 1)}}, true},
		{llm.Message{Role: llm.RoleUser, Outcome: &llm.Outcome{Added: []llm.Addition{{Text: "a"}}}}, true},
	} {
		if got := c.message.NeedsDialect(); got != c.want {
			t.Errorf("%+v: %v", c.message, got)
		}
	}
}
