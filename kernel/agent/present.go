package agent

import (
	"fmt"
	"os"

	"github.com/chewxy/sexp"

	"org-agent/kernel/presentation"
	"org-agent/kernel/protocol"
)

// shownFile is the size of the largest file that is looked at to show an edit in its place.
const shownFile = 16 << 20

// describeApproval adds what a person is shown of the action.
func (r *run) describeApproval(approval *protocol.Approval, action sexp.List) {
	user, _ := os.UserHomeDir() // without one paths are shown whole
	shown := presentation.Of(action, presentation.World{
		Home: r.agent.config.Policy.Home, User: user, Read: readRegular, Once: approval.Once,
	})
	approval.Summary, approval.Text, approval.Effects = shown.Summary, shown.Text, shown.Effects
	approval.Reason = presentation.Visible(approval.Reason)
	approval.Language = protocol.Keyword(shown.Language)
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
