package orgquery

import (
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/withheld"
)

// CheckWithheld returns an error if a change of a file's text would alter withheld text, or alter
// what is withheld.
func CheckWithheld(path, before, after string) error {
	if withheldText(path, before) == withheldText(path, after) {
		return nil
	}
	return protocol.ToolErrorf(protocol.ToolRefused, "%s has a subtree tagged :noagent:, :@private: or :crypt:, and this would change it or what is in it; only the person does that", path)
}

// withheldText returns all withheld parts of a text.
func withheldText(path, text string) string {
	var b strings.Builder
	for _, p := range withheld.File(path, text).Parts {
		b.WriteString(text[p.Start:p.End])
	}
	return b.String()
}
