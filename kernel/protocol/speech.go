package protocol

// SpeechLimit is the largest recording or sound that goes over the wire, in bytes; the
// frame that holds it in base64 is larger.
const SpeechLimit = 5 << 20

// SpeechTextLimit is the longest text of one request to speak, in bytes.
const SpeechTextLimit = 4096

// SpeechTranscribeParams asks for the text of a recording. Data is a WAV file in base64.
type SpeechTranscribeParams struct {
	Data string `json:"data"`
	// Language is the language of the recording, as "en"; "" is the one of config.org.
	Language string `json:"language,omitempty"`
}

// SpeechTranscribeResult is the text: one line, inert in Org. It is "" for a recording without
// words.
type SpeechTranscribeResult struct {
	Text string `json:"text,omitempty"`
}

// SpeechSpeakParams asks for a text as speech, in the voice that config.org names.
type SpeechSpeakParams struct {
	Text string `json:"text"`
}

// SpeechSpeakResult is a WAV file in base64.
type SpeechSpeakResult struct {
	Data string `json:"data"`
}
