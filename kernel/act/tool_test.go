package act_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/files"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// TestCallReportsChanges checks that the receipt has the change of a tool in a file, and that Changed is
// called once with the file's name. A call that fails or changes nothing does neither.
func TestCallReportsChanges(t *testing.T) {
	failure := errors.New("the disk is full")
	for name, c := range map[string]struct {
		tool    tool.Definition[numbered]
		changed []string
		err     error
	}{
		"changes": {tool.Definition[numbered]{Change: func(context.Context, *tool.Caller, numbered) (string, files.Change, error) {
			return "done", files.Change{Path: "/a", Before: []byte("one\ntwo\n"), After: []byte("one\n2\n")}, nil
		}}, []string{"/a"}, nil},
		"fails": {tool.Definition[numbered]{Change: func(context.Context, *tool.Caller, numbered) (string, files.Change, error) {
			return "", files.Change{Path: "/a"}, failure
		}}, nil, failure},
		"changes no file": {tool.Definition[numbered]{Perform: func(context.Context, *tool.Caller, numbered) (string, error) { return "done", nil }}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.tool.Name, c.tool.Manual = "change", "Changes a file."
			tools, err := tool.NewRegistry(tool.New(c.tool))
			if err != nil {
				t.Fatal(err)
			}
			var reports []protocol.FileChanged
			kinds := kind.New(act.Kinds(act.Deps{Catalog: tools, Changed: func(changed protocol.FileChanged) { reports = append(reports, changed) }})...)
			judge := &policy.Policy{Home: t.TempDir(), Tools: tools, Kinds: kinds}
			proposed, err := action.Read(`(:type :request :target :tool :action :call :tool "change" :args (:n 1))`)
			if err != nil {
				t.Fatal(err)
			}
			where := policy.Where{Session: "main"}
			where.Granted = judge.Judge(t.Context(), proposed.Action(), where).Action.Hash()
			verified, verdict, err := judge.Verify(t.Context(), proposed.Action(), where)
			if err != nil || !verified.Valid() {
				t.Fatalf("%v %+v", err, verdict)
			}
			result, err := kinds.Perform(t.Context(), kind.Order{ID: "a", Session: "main", Turn: "t1", Action: verified, Tools: tools})
			if !errors.Is(err, c.err) {
				t.Errorf("the error is %v, not %v", err, c.err)
			}
			var recorded, names []string
			for _, f := range result.Receipt.Files {
				recorded = append(recorded, f.File)
			}
			for _, one := range reports {
				names = append(names, one.Files...)
				if one.Turn != "t1" {
					t.Errorf("the report is of the turn %q", one.Turn)
				}
			}
			if !slices.Equal(recorded, c.changed) || !slices.Equal(names, c.changed) || len(reports) > 1 {
				t.Errorf("the receipt has %v, the reports are %v", recorded, reports)
			}
		})
	}
}
