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

// shownFile is the size of the largest file that is looked at to show an edit in its place.
const shownFile = 16 << 20

// describe adds what a person is shown of the action.
func (t *Turn) describe(ctx context.Context, approval *protocol.Ask, asked action.Action) {
	user, _ := os.UserHomeDir() // without one paths are shown whole
	deps := describe.Deps{
		User: user, Read: readRegular, Once: approval.Once,
		Change: func(tool string, arguments sexp.Sexp) describe.Change { return t.changeOf(ctx, tool, arguments) },
	}
	shown := t.Kinds.Describe(asked, deps)
	approval.Summary, approval.Text, approval.Effects = shown.Summary, shown.Text, shown.Effects
	approval.Reason = describe.Visible(deps.ShortIn(approval.Reason))
	approval.Language = protocol.Keyword(shown.Language)
}

// changeOf is what a call of a tool would change, the zero Change if that is not known.
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

// readRegular is the text of a file that is one and is not too large.
func readRegular(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > shownFile {
		return "", fmt.Errorf("%s is no regular file of at most %d bytes", path, shownFile)
	}
	source, err := os.ReadFile(path)
	return string(source), err
}
