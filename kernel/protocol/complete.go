package protocol

// Limits of a completion. A longer text is refused, not cut.
const (
	CompleteBeforeLimit = 32 << 10 // bytes
	CompleteAfterLimit  = 8 << 10  // bytes
)

// CompleteParams asks for the text that a person would write next, between Before and After.
// Name and Mode, of the buffer, tell the model the kind of text. Model is the model to ask, ""
// for the standard one. Consent is as in an event.
//
// A completion belongs to no conversation. The journal does not have its texts but counts its
// tokens. A client has one completion at a time: the next one cancels it, and so does
// [MethodCancelRequest].
type CompleteParams struct {
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
	Name    string `json:"name,omitempty"`
	Mode    string `json:"mode,omitempty"`
	Model   string `json:"model,omitempty"`
	Consent string `json:"consent,omitempty"`
}

// CompleteResult is the text that a client proposes between Before and After, "" if nothing is
// missing there. It has no invisible characters. In an Org buffer the client makes it inert. The
// kernel does not, because code has to be exact.
type CompleteResult struct {
	Text  string `json:"text,omitempty"`
	Model string `json:"model,omitempty"`
}
