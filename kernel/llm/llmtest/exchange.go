package llmtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// ServerScript is what a Server does. It can be read from JSON.
type ServerScript struct {
	// Models are the models that GET /models lists, by default one called test-model.
	Models []string `json:"models"`
	// Exchanges answer completion requests: the first that is not used up and whose Match fits
	// the last message. If there is none the server answers 400.
	Exchanges []Exchange `json:"exchanges"`
	// Transcriptions answer recordings in the same way; Match is for "NAME MODEL LANGUAGE".
	// Voices answer texts that are to be spoken; Match is for the text.
	Transcriptions []Exchange `json:"transcriptions"`
	Voices         []Exchange `json:"voices"`
	// Embeddings answer requests for vectors; Match is for the texts, one on each line. If none
	// matches, the server answers with real vectors, in which the words of one list of Alike count
	// as one word; see [Vector].
	Embeddings []Exchange `json:"embeddings"`
	Alike      [][]string `json:"alike"`
	// Thinks refuses calls without the reasoning that came before them, as DeepSeek does.
	Thinks bool `json:"thinks"`
	// Bound refuses thoughts if anything before them has changed, as Anthropic does.
	Bound bool `json:"bound"`
	// Ollama makes it a server of Ollama's. Its Models then have tags.
	Ollama *Ollama `json:"ollama"`
}

// StampPlace is where a time goes, see [Exchange].Stamp. It is as long as the time.
const StampPlace = "0000000000000"

// Exchange is the answer to a request. Its zero value is an empty reply that ends correctly. In JSON the
// fields of Framing, Fault and Ending stand beside the others.
type Exchange struct {
	// Match is a regular expression for the last message, without its time; empty fits all.
	Match string `json:"match"`
	// After is a regular expression for what the model said last in the request; empty fits all. A result does
	// not repeat the call.
	After string `json:"after"`
	// Times is how often the exchange is used; 0 is once, negative for ever.
	Times int `json:"times"`

	// A Status other than 0 and 200 is answered with Headers and Body.
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	// Body, if set, is sent as it is; BodySize makes it longer, with blanks.
	Body     string `json:"body"`
	BodySize int    `json:"body_size"`

	// Reply is the text that is streamed. ReplyFile is a file beside the script that contains it.
	// Echo makes it the last message. Replace has pairs of strings: in the reply each first one
	// becomes the second. Repeat repeats the reply that many times.
	Reply     string   `json:"reply"`
	ReplyFile string   `json:"reply_file"`
	Echo      bool     `json:"echo"`
	Repeat    int      `json:"repeat"`
	Replace   []string `json:"replace"`
	// Reasoning is streamed before the reply.
	Reasoning string `json:"reasoning"`
	// Redacted sends the reasoning so that only the server can read it, and Unshown only its signature.
	// Refusal is why the model refuses, beside the finish "refusal". They are for Anthropic's Messages.
	Redacted bool   `json:"redacted"`
	Unshown  bool   `json:"unshown"`
	Refusal  string `json:"refusal"`
	// Refused sends the reply as a refusal, and Unknown is an event of a kind that nobody knows. They are for
	// OpenAI's Responses.
	Refused bool   `json:"refused"`
	Unknown string `json:"unknown"`
	// Calls are calls of functions, which follow the reply. CallStyle is how they are written.
	Calls     []Call    `json:"calls"`
	CallStyle CallStyle `json:"call_style"`

	// Chunk is the number of characters of a delta, 16 if it is 0. FirstDelay passes before the first
	// byte of the answer, Delay before each delta.
	Chunk      int      `json:"chunk"`
	FirstDelay Duration `json:"first_delay"`
	Delay      Duration `json:"delay"`
	// Stamp puts the time at which a delta is sent in the place of each [StampPlace] in it, in
	// milliseconds since 1970.
	Stamp bool `json:"stamp"`

	Framing
	Fault
	Ending

	match *regexp.Regexp
	after *regexp.Regexp
	used  int
}

// Framing is how an answer is written to the connection. Real servers differ in all of it.
type Framing struct {
	// ReasoningField is the field of the reasoning; "" means reasoning_content.
	ReasoningField string `json:"reasoning_field"`
	// ChunkBytes cuts deltas at bytes instead of characters. Half a character is sent raw.
	ChunkBytes int `json:"chunk_bytes"`
	// WireChunk is the number of bytes that are written at a time.
	WireChunk int `json:"wire_chunk"`
	// KeepAlives is the number of comments before the first delta, BlankLines that of blank lines.
	KeepAlives int `json:"keep_alives"`
	BlankLines int `json:"blank_lines"`
	// CRLF ends lines with a carriage return and a newline. NoBlank leaves out the line between
	// events.
	CRLF    bool `json:"crlf"`
	NoBlank bool `json:"no_blank"`
}

// Fault is what goes wrong in a stream.
type Fault struct {
	// CutAfter closes the connection after that many deltas. HangAfter sends nothing more until the
	// client leaves. In both, -1 is before the first delta. Until names a file beside the script:
	// when the file exists, the stream continues.
	CutAfter  int    `json:"cut_after"`
	HangAfter int    `json:"hang_after"`
	Until     string `json:"until"`
	// Error is sent as an event in place of the end.
	Error json.RawMessage `json:"error"`
}

// Ending is what follows the text.
type Ending struct {
	// Finish is the finish reason, "stop" if it is empty, "none" for none.
	Finish string `json:"finish"`
	// Usage is the usage; it is counted from the texts if it is empty. NoUsage leaves it out.
	Usage   json.RawMessage `json:"usage"`
	NoUsage bool            `json:"no_usage"`
	// NoDone leaves [DONE] out. HangAtEnd keeps the connection open after it.
	NoDone    bool `json:"no_done"`
	HangAtEnd bool `json:"hang_at_end"`
	// Whole answers with one JSON object instead of a stream.
	Whole bool `json:"whole"`
}

// Duration is a time.Duration that JSON has as a string such as "150ms".
type Duration time.Duration

// UnmarshalJSON reads what time.ParseDuration reads.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("a duration is a string such as \"150ms\": %w", err)
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	*d = Duration(parsed)
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads.
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).String())
}

// LoadScript reads a script from a JSON file, and the reply files from the same directory. An unknown
// key is an error.
func LoadScript(path string) (ServerScript, error) {
	var script ServerScript
	file, err := os.Open(path)
	if err != nil {
		return script, fmt.Errorf("open the model script: %w", err)
	}
	defer file.Close()
	decoder := json.NewDecoder(file)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&script); err != nil {
		return script, fmt.Errorf("read the model script %s: %w", path, err)
	}
	for _, exchanges := range [][]Exchange{script.Exchanges, script.Transcriptions, script.Voices} {
		for i := range exchanges {
			if name := exchanges[i].Until; name != "" && !filepath.IsAbs(name) {
				exchanges[i].Until = filepath.Join(filepath.Dir(path), name)
			}
		}
		if err := readReplies(exchanges, filepath.Dir(path)); err != nil {
			return script, err
		}
	}
	return script, nil
}

// readReplies reads the reply files of exchanges, relative to a directory.
func readReplies(exchanges []Exchange, directory string) error {
	for i := range exchanges {
		exchange := &exchanges[i]
		if exchange.ReplyFile == "" {
			continue
		}
		name := exchange.ReplyFile
		if !filepath.IsAbs(name) {
			name = filepath.Join(directory, name)
		}
		reply, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read the reply of exchange %d: %w", i+1, err)
		}
		exchange.Reply = string(reply)
	}
	return nil
}

// compile checks exchanges and returns a copy that the server may use up.
func compile(list []Exchange) ([]Exchange, error) {
	exchanges := make([]Exchange, len(list))
	for i, exchange := range list {
		pattern, err := regexp.Compile(exchange.Match)
		if err != nil {
			return nil, fmt.Errorf("read the match of exchange %d: %w", i+1, err)
		}
		if len(exchange.Replace)%2 != 0 {
			return nil, fmt.Errorf("read exchange %d: replace has %d strings, and they are pairs", i+1, len(exchange.Replace))
		}
		if exchange.after, err = regexp.Compile(exchange.After); err != nil {
			return nil, fmt.Errorf("read what exchange %d comes after: %w", i+1, err)
		}
		exchange.match = pattern
		exchanges[i] = exchange
	}
	return exchanges, nil
}

// fits reports whether the exchange is for this message, behind what the model said last, and not used up.
func (e *Exchange) fits(message, said string) bool {
	if e.Times >= 0 && e.used >= max(e.Times, 1) {
		return false
	}
	return e.match.MatchString(message) && e.after.MatchString(said)
}
