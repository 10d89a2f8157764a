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

type arguments struct {
	Path       string   `doc:"where" required:"true"`
	MaxResults int      `doc:"how many"`
	Whole      bool     `doc:"all of it"`
	Names      []string `doc:"which"`
}

func echo(name string) tool.Tool {
	return tool.New(tool.Definition[arguments]{Name: name, Manual: "# x\n\nEchoes what\nit gets.\n\nMore.\n", Perform: func(_ context.Context, _ *tool.Caller, a arguments) (string, error) {
		return fmt.Sprintf("%+v", a), nil
	}})
}

func TestArguments(t *testing.T) {
	r, err := tool.NewRegistry(echo("echo_it"))
	if err != nil {
		t.Fatal(err)
	}
	o := func(pairs ...any) (object protocol.Object) {
		for i := 0; i < len(pairs); i += 2 {
			object = append(object, protocol.Field{Key: pairs[i].(string), Value: pairs[i+1]})
		}
		return object
	}
	cases := []struct {
		arguments protocol.Object
		want      string
	}{
		{o("path", "a"), "{Path:a MaxResults:0 Whole:false Names:[]}"},
		{o("PATH", "a", "max-results", int64(3), "whole", true, "names", []any{"x", "y"}), "{Path:a MaxResults:3 Whole:true Names:[x y]}"},
		{o("path", protocol.Keyword("a"), "max_results", int64(3), "names", "x"), "{Path:a MaxResults:3 Whole:false Names:[x]}"},
		{o("path", "5", "maxresults", nil, "whole", nil, "names", nil), "{Path:5 MaxResults:0 Whole:false Names:[]}"},
		{nil, "the argument :path is missing: where"},
		{o("path", ""), "the argument :path is missing"},
		{o("path", "a", "max-result", int64(1)), "did you mean :max-results?"},
		{o("path", "a", "zzzzzzzz", "b"), "there is no argument :zzzzzzzz; it is called as echo_it (:path S [:max-results N :whole t :names (S …)])"},
		{o("path", "a", "pa-th", "b"), ":path and :pa-th are the same"},
		{o("path", int64(5)), ":path is a string"},
		{o("path", "a", "max-results", "3"), ":max-results is an integer"},
		{o("path", "a", "max-results", 1.5), ":max-results is an integer"},
		{o("path", "a", "whole", "yes"), ":whole is t or nil"},
		{o("path", "a", "names", []any{"x", int64(1)}), ":names is a list of strings"},
		{o("path", o("x", "y")), ":path is a string"},
	}
	for _, c := range cases {
		got, _, err := r.Call(t.Context(), "Echo-It", c.arguments)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%v: %s, want %s", c.arguments, got, c.want)
		}
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := r.Call(ended, "echo_it", o("path", "a")); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was cancelled: %v", err)
	}
}

func TestToolDescription(t *testing.T) {
	it := echo("echo_it")
	if got := it.Line(); got != `echo_it (:path S [:max-results N :whole t :names (S …)]): Echoes what it gets.` {
		t.Error(got)
	}
	schema, err := json.Marshal(it.Schema())
	const want = `{"type":"object","properties":{"path":{"type":"string","description":"where"},"max-results":{"type":"integer","description":"how many"},"whole":{"type":"boolean","description":"all of it"},"names":{"type":"array","items":{"type":"string"},"description":"which"}},"required":["path"]}`
	if err != nil || string(schema) != want {
		t.Errorf("%s, %v", schema, err)
	}
}

func TestWrongDefinitions(t *testing.T) {
	type unexplained struct{ Path string }
	type wrongKind struct {
		Path map[string]string `doc:"x"`
	}
	for name, tools := range map[string][]tool.Tool{
		"twice":        {echo("a_b"), echo("a-b")},
		"no name":      {echo("")},
		"no manual":    {tool.New(tool.Definition[arguments]{Name: "a", Perform: func(context.Context, *tool.Caller, arguments) (string, error) { return "", nil }})},
		"does nothing": {tool.New(tool.Definition[arguments]{Name: "a", Manual: "x"})},
		"no doc":       {tool.New(tool.Definition[unexplained]{Name: "a", Manual: "x", Perform: func(context.Context, *tool.Caller, unexplained) (string, error) { return "", nil }})},
		"wrong kind":   {tool.New(tool.Definition[wrongKind]{Name: "a", Manual: "x", Perform: func(context.Context, *tool.Caller, wrongKind) (string, error) { return "", nil }})},
		"no struct":    {tool.New(tool.Definition[int]{Name: "a", Manual: "x", Perform: func(context.Context, *tool.Caller, int) (string, error) { return "", nil }})},
	} {
		if _, err := tool.NewRegistry(tools...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestBuiltIn checks that the built-in tools are in order, and that those which say when they are
// offered are not offered if they have nothing to do.
func TestBuiltIn(t *testing.T) {
	r, err := tool.BuiltIn(tool.Deps{Skills: func() *skillmd.Set { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range r.Offered() {
		if !one.Always() {
			t.Errorf("%s has nothing to do and is offered", one.Name())
		}
	}
	if near := r.Nearest("use_skill"); near != "" {
		t.Errorf("near use_skill, which is not offered, is %s", near)
	}
	if _, _, found := r.Find("use_skill"); found {
		t.Error("a tool that is not offered is found")
	}
	if _, _, err := r.Call(t.Context(), "use_skill", nil); err == nil {
		t.Error("a tool that is not offered is called")
	}
	var none *tool.Registry
	if len(none.Offered()) != 0 {
		t.Error("no registry offers tools")
	}
}

// TestFormerNames checks that a tool is found by its former name too, in every spelling.
func TestFormerNames(t *testing.T) {
	r, err := tool.BuiltIn(tool.Deps{Skills: func() *skillmd.Set { return nil }, Subagents: func() bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"list_subagents": "list_subagents", "sessions_list": "list_subagents", "Sessions-List": "list_subagents", "sessions-spawn": "start_subagent"} {
		if written, _, found := r.Find(name); !found || written != want {
			t.Errorf("%s is found as %q", name, written)
		}
	}
}
