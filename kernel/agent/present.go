package agent

import (
	"context"
	"fmt"
	"os"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/presentation"
	"org-agent/kernel/protocol"
)

// shownFile is the size of the largest file that is looked at to show an edit in its place.
const shownFile = 16 << 20

// describeApproval adds what a person is shown of the action.
func (r *run) describeApproval(ctx context.Context, approval *protocol.Approval, action sexp.List) {
	user, _ := os.UserHomeDir() // without one paths are shown whole
	shown := presentation.Of(action, presentation.World{
		Home: r.agent.config.Policy.Home, User: user, Read: readRegular, Once: approval.Once,
		Change: func(tool string, arguments sexp.List) presentation.Change { return r.changeOf(ctx, tool, arguments) },
	})
	approval.Summary, approval.Text, approval.Effects = shown.Summary, shown.Text, shown.Effects
	approval.Reason = presentation.Visible(approval.Reason)
	approval.Language = protocol.Keyword(shown.Language)
}

// changeOf is what a call of a tool would change, the zero Change if that is not known.
func (r *run) changeOf(ctx context.Context, tool string, arguments sexp.List) presentation.Change {
	var given protocol.Object
	if err := plist.Unmarshal(arguments, &given); err != nil || r.agent.config.Tools == nil {
		return presentation.Change{}
	}
	p, known, err := r.agent.config.Tools.Preview(ctx, tool, given)
	if err != nil || !known {
		return presentation.Change{}
	}
	return presentation.Change(p)
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
