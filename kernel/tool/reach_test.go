package tool_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

type reachArguments struct {
	Path   string   `doc:"where" required:"true"`
	Count  int      `doc:"how many"`
	Whole  bool     `doc:"all of it"`
	Names  []string `doc:"which"`
	Weight *float64 `doc:"how much"`
	Places []struct {
		Name string `doc:"which"`
	} `doc:"where else"`
}

// reacher returns a registry with one tool, which resolves names and records its arguments.
func reacher(t *testing.T, called *reachArguments) *tool.Registry {
	t.Helper()
	r, err := tool.NewRegistry(echo("echo_it"), tool.New(tool.Definition[reachArguments]{
		Name: "reach_it", Manual: "Reaches.",
		Reach: func(_ context.Context, _ *tool.Caller, a *reachArguments) ([]protocol.Reach, error) {
			if a.Path == "nowhere" {
				return nil, errors.New("there is no such place: name another")
			}
			if a.Path[0] != '/' {
				a.Path = "/root/" + a.Path
			}
			return []protocol.Reach{{Kind: protocol.ReachReads, Path: a.Path}}, nil
		},
		Perform: func(_ context.Context, _ *tool.Caller, a reachArguments) (string, error) {
			*called = a
			return "", nil
		},
	}))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReach checks that the arguments that Reach leaves are performed, that a second call of Reach
// does not change them, and that the original spelling of the arguments does not matter.
func TestReach(t *testing.T) {
	var called reachArguments
	r := reacher(t, &called)
	rapid.Check(t, func(t *rapid.T) {
		weight := rapid.Float64Range(-5, 5).Draw(t, "weight")
		given := protocol.Object{
			{Key: rapid.SampledFrom([]string{"path", "PATH"}).Draw(t, "key"), Value: rapid.StringMatching(`[a-z"\\é\n ]{1,5}x`).Draw(t, "path")},
			{Key: "count", Value: int64(rapid.IntRange(-3, 3).Draw(t, "count"))},
			{Key: "whole", Value: rapid.Bool().Draw(t, "whole")},
			{Key: "weight", Value: weight},
			{Key: "names", Value: []any{"a", "", "b"}},
			{Key: "places", Value: []any{protocol.Object{{Key: "name", Value: "x"}}, protocol.Object{}}},
		}
		resolved, reach, err := r.Reach(t.Context(), "Reach-It", given)
		if err != nil || len(reach) != 1 || reach[0].Path != "/root/"+given[0].Value.(string) {
			t.Fatalf("%v, %v", reach, err)
		}
		again, same, err := r.Reach(t.Context(), "reach_it", resolved)
		if err != nil || !reflect.DeepEqual(again, resolved) || !reflect.DeepEqual(same, reach) {
			t.Fatalf("asked again: %v, %v, %v; before: %v", again, same, err, resolved)
		}
		if _, _, err := r.Call(t.Context(), "reach_it", resolved); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint("/root/"+given[0].Value.(string), given[1].Value, given[2].Value, weight, "[a  b]", "[{x} {}]")
		if got := fmt.Sprint(called.Path, called.Count, called.Whole, *called.Weight, fmt.Sprint(called.Names), fmt.Sprint(called.Places)); got != want {
			t.Fatalf("performed: %s, want %s", got, want)
		}
	})
}

func TestReachOfUndeclaredTool(t *testing.T) {
	r := reacher(t, &reachArguments{})
	given := protocol.Object{{Key: "PATH", Value: "x"}}
	if got, reach, err := r.Reach(t.Context(), "echo_it", given); err != nil || reach != nil || !reflect.DeepEqual(got, given) {
		t.Errorf("a tool that does not say: %v, %v, %v", got, reach, err)
	}
	for _, arguments := range []protocol.Object{{{Key: "path", Value: "nowhere"}}, {{Key: "pth", Value: "x"}}, nil} {
		if _, _, err := r.Reach(t.Context(), "reach_it", arguments); err == nil {
			t.Errorf("%v: no error", arguments)
		}
	}
	if _, _, err := r.Reach(t.Context(), "no_such", nil); err == nil {
		t.Error("a tool that does not exist: no error")
	}
}
