package protocol

// SpeechLimit is the largest recording or sound that goes over the wire, in bytes; the
// frame that holds it in base64 is larger.
const SpeechLimit = 5 << 20

// SpeechTextLimit is the longest text that is spoken at once, in bytes.
const SpeechTextLimit = 4096

// SpeechTranscribeParams asks what is said in a recording. Data is a WAV file in base64.
type SpeechTranscribeParams struct {
	Data string `json:"data"`
	// Language is what is spoken, as "en", where it is not what config.org says.
	Language string `json:"language,omitempty"`
}

// SpeechTranscribeResult is what is said: one line of plain text, with nothing in it that
// Org would act on. Empty: nothing is said.
type SpeechTranscribeResult struct {
	Text string `json:"text,omitempty"`
}

// SpeechSpeakParams asks for a text in the voice that config.org names.
type SpeechSpeakParams struct {
	Text string `json:"text"`
}

// SpeechSpeakResult is a WAV file in base64.
type SpeechSpeakResult struct {
	Data string `json:"data"`
}
