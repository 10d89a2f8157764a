package person

import (
	"context"
	"fmt"
	"os"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// displayFileLimit is the size in bytes of the largest file that is read to show an edit in its
// context.
const displayFileLimit = 16 << 20

// describe adds the description of the action to the approval.
func (t *Turn) describe(ctx context.Context, approval *protocol.Ask, asked action.Action) {
	user, _ := os.UserHomeDir() // without it, paths are shown in full
	deps := describe.Deps{
		User: user, Read: readRegular, Once: approval.Once,
		Change: func(tool string, arguments sexp.Sexp) describe.Change { return t.changeOf(ctx, tool, arguments) },
	}
	shown := t.Kinds.Describe(asked, deps)
	approval.Summary, approval.Text, approval.Effects = shown.Summary, shown.Text, shown.Effects
	approval.Reason = describe.Visible(deps.ShortIn(approval.Reason))
	approval.Language = protocol.Keyword(shown.Language)
}

// changeOf returns what a call of a tool would change, the zero Change if that is unknown.
func (t *Turn) changeOf(ctx context.Context, name string, arguments sexp.Sexp) describe.Change {
	var given protocol.Object
	if !plist.IsNil(arguments) {
		if err := plist.Unmarshal(arguments, &given); err != nil {
			return describe.Change{}
		}
	}
	p, known, err := t.Tools.Preview(ctx, name, given)
	if err != nil || !known {
		return describe.Change{}
	}
	return describe.Change(p)
}

// readRegular returns the text of a regular file of at most displayFileLimit bytes.
func readRegular(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > displayFileLimit {
		return "", fmt.Errorf("%s is no regular file of at most %d bytes", path, displayFileLimit)
	}
	source, err := os.ReadFile(path)
	return string(source), err
}
