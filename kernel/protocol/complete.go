package protocol

// Limits of a completion. A longer text is refused, not cut.
const (
	CompleteBeforeLimit = 32 << 10 // bytes
	CompleteAfterLimit  = 8 << 10  // bytes
)

// CompleteParams asks for the text that a person would write next: Before and After are
// what stands around the place. Name and Mode, of the buffer, say what kind of text it
// is. Model names the model to ask, if it is not to be the standard one. Consent is as in
// an event.
//
// What is asked so is no part of any conversation and stands in no journal; what it took
// is counted. A client has one at a time: the next one gives up the former, and so does
// [MethodCancelRequest].
type CompleteParams struct {
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
	Name    string `json:"name,omitempty"`
	Mode    string `json:"mode,omitempty"`
	Model   string `json:"model,omitempty"`
	Consent string `json:"consent,omitempty"`
}

// CompleteResult is text for a person's eyes, to stand between Before and After; none when
// nothing is missing there. It has no characters that are not seen. The client makes it
// harmless where it would not be, as Org; the kernel does not, because code is exact.
type CompleteResult struct {
	Text  string `json:"text,omitempty"`
	Model string `json:"model,omitempty"`
}
