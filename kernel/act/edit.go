package act

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"org-agent/kernel/action"
	"org-agent/kernel/autorun"
	"org-agent/kernel/describe"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// editName is the name of [edit].
const editName = "edit"

// Edit returns the act by which an editor changes a text in a file.
func Edit(file, old, new string) protocol.Act {
	return actOf(editName, protocol.Field{Key: "file", Value: file}, protocol.Field{Key: "old", Value: old}, protocol.Field{Key: "new", Value: new})
}

// edit changes a text in place: in a file, or in the entry with an :ID:.
func edit(d Deps) kind.Kind {
	return InEditor(d, kind.Kind{
		Spec: action.Spec{Target: emacs, Name: editName, Tool: "edit", Does: "to change a text where it stands, :old being there exactly once", OneOf: []string{"file", "id"}, Fields: []action.Field{
			{Name: "file", Kind: action.Text, Example: plist.String("<path>")}, {Name: "id", Kind: action.Text, Example: plist.String("<the :ID: of an entry>")},
			{Name: "old", Kind: action.AnyText, Required: true, Example: plist.String("<the text there>")}, {Name: "new", Kind: action.AnyText, Required: true, Example: plist.String("<what takes its place>")}}},
		Judge: func(_ context.Context, turn *policy.Turn, a action.Action) policy.Verdict {
			if a.Text("file") == "" {
				return policy.Verdict{Kind: policy.Ask, Reason: "it changes a note"}
			}
			path, err := turn.File(a.Text("file"))
			if err != nil {
				return policy.Refused("%v", err)
			}
			// An edit that fails says what is there.
			reach := []protocol.Reach{{Kind: protocol.ReachReads, Path: path}, {Kind: protocol.ReachWrites, Path: path}}
			if setsVariables(path, a.Text("old"), a.Text("new")) {
				reach = append(reach, protocol.Reach{Kind: protocol.ReachSets, Path: path})
			}
			v := turn.Reach(reach...)
			v.Action = a.With("file", plist.String(path))
			return v
		},
		Describe: describeEdit,
		Subagent: func(action.Action) ([]string, string) { return []string{"edit"}, "" },
		Undo: func(a action.Action, receipt protocol.Receipt) ([]protocol.Change, []string) {
			change := changed(a, receipt)
			change.Old, change.New = a.Text("old"), a.Text("new")
			return []protocol.Change{change}, nil
		},
	}, true)
}

// editedLimit is the size of a file up to which the text that an edit leaves is looked at.
const editedLimit = 16 << 20

// setsVariables reports whether the file may have other file variables once new stands for old. Several edits, each
// with a part of them, make them together, so the text that comes out is judged. Where Emacs has another text than
// the disk, what comes out is not known.
func setsVariables(path, old, new string) bool {
	if old, new := strings.ToLower(old), strings.ToLower(new); autorun.SetsVariables(old, new) || strings.Contains(new, "ariables:") && !strings.Contains(old, "ariables:") {
		return true
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(path), ".#"+filepath.Base(path))); err == nil {
		return true // Emacs's sign of changes that are not saved
	}
	info, err := os.Stat(path)
	switch {
	case err != nil || !info.Mode().IsRegular():
		return false // there is nothing to join
	case info.Size() > editedLimit:
		return true
	}
	source, err := os.ReadFile(path)
	if err != nil || old == "" || strings.Count(string(source), old) != 1 {
		return false // nothing is changed then
	}
	return autorun.SetsVariables(string(source), strings.Replace(string(source), old, new, 1))
}

// describeEdit shows an edit as a diff. If the old text occurs once in the file, the diff shows
// lines of the file; otherwise it compares the two texts alone.
func describeEdit(a action.Action, deps describe.Deps) describe.Description {
	path := a.Text("file")
	name := deps.Short(path)
	if path == "" {
		name = "the entry " + a.ID()
	}
	text, found := deps.Edit(path, name, a.Text("old"), a.Text("new"))
	effects := []string{fmt.Sprintf("it changes %s in its buffer in Emacs, where one undo takes that back, and saves it unless you have unsaved changes there", name)}
	return describe.Description{
		Summary: "Change " + name, Language: "diff", Text: text,
		Effects: append(append(effects, found...), "it runs nothing and sends nothing over the network"),
	}
}

// changed returns the change that an editor made, from its receipt.
func changed(a action.Action, receipt protocol.Receipt) protocol.Change {
	change := protocol.Change{
		Entry: a.ID(), File: a.Text("file"),
		Before: receipt.Before, After: receipt.After, Former: receipt.Former,
	}
	if receipt.File != "" {
		change.File = receipt.File
	}
	return change
}
