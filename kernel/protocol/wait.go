package protocol

// WaitReason is why a model's server does not reply yet.
type WaitReason string

const (
	WaitRateLimit   WaitReason = "rate-limit"  // it was asked too often, and is asked again
	WaitServer      WaitReason = "server"      // it is overloaded or broken, and is asked again
	WaitUnreachable WaitReason = "unreachable" // nothing answers, and it is asked again
	WaitSilent      WaitReason = "silent"      // it was asked, and nothing comes
)

// PlistKeyword marks the type as an enum.
func (WaitReason) PlistKeyword() {}

// ModelWait is what a turn waits for while its model's server is slow or refuses. Host is the server, ""
// if it is not known. At is a time of RFC 3339: until when the server is not asked, or for a silent one
// since when nothing has come. Attempt is the number of the next request, from 2, and missing for a
// silent server.
type ModelWait struct {
	Host    string     `json:"host,omitempty"`
	Reason  WaitReason `json:"reason"`
	At      string     `json:"at"`
	Attempt int        `json:"attempt,omitempty"`
}
