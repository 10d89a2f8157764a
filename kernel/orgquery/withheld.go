package orgquery

import (
	"org-agent/kernel/protocol"
	"org-agent/kernel/withheld"
)

// CheckWithheld returns an error if a change of a file's text would alter withheld text, or alter
// what is withheld.
func CheckWithheld(path, before, after string) error {
	if withheld.Keeps(path, before, after) {
		return nil
	}
	return protocol.ToolErrorf(protocol.ToolRefused, "%s has a subtree tagged :noagent:, :@private: or :crypt:, and this would change it or what is in it; only the person does that", path)
}
