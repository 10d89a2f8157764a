package llmtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// ServerScript is what a Server does. As JSON it is an object with the keys
// "models" and "exchanges".
type ServerScript struct {
	// Models are what GET /models lists; none set is one called test-model.
	Models []string `json:"models"`
	// Exchanges answer completion requests: the first that is not used up and
	// whose Match fits. When there is none the server answers 400.
	Exchanges []Exchange `json:"exchanges"`
	// Transcriptions answer recordings in the same way; Match is for "NAME MODEL
	// LANGUAGE". Voices answer texts that are to be spoken; Match is for the text.
	Transcriptions []Exchange `json:"transcriptions"`
	Voices         []Exchange `json:"voices"`
	// Embeddings answer texts whose vectors are asked for, where one fits; Match is for the
	// texts, a line each. Others get real vectors, in which words of one list of Alike count
	// as one; see [Vector].
	Embeddings []Exchange `json:"embeddings"`
	Alike      [][]string `json:"alike"`
}

// Exchange is the answer to a completion request. Its zero value is an empty
// reply, correctly ended.
type Exchange struct {
	// Match is a regular expression for the last message, without its time; empty fits all.
	Match string `json:"match"`
	// Times is how often the exchange is used; 0 is once, negative for ever.
	Times int `json:"times"`

	// Status other than 0 and 200 is answered with Headers and Body.
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	// Body, if set, is sent as it is; BodySize makes it longer, with blanks.
	Body     string `json:"body"`
	BodySize int    `json:"body_size"`

	// Reply is the text that is streamed; ReplyFile a file it is read from,
	// beside the script; Echo makes it the last message; in it each string of
	// Replace with an even index becomes the one behind it; Repeat has it said that
	// many times.
	Reply     string `json:"reply"`
	ReplyFile string `json:"reply_file"`
	Echo      bool   `json:"echo"`
	Repeat    int    `json:"repeat"`
	// An odd number of strings is an error.
	Replace []string `json:"replace"`
	// Reasoning is streamed before it, in the field ReasoningField
	// (reasoning_content if empty).
	Reasoning      string `json:"reasoning"`
	ReasoningField string `json:"reasoning_field"`

	// Chunk is how many characters a delta has, 16 if 0. ChunkBytes cuts at
	// bytes instead, also within a character, which is then sent raw.
	// WireChunk is how many bytes are written to the connection at a time.
	Chunk      int `json:"chunk"`
	ChunkBytes int `json:"chunk_bytes"`
	WireChunk  int `json:"wire_chunk"`
	// FirstDelay passes before the answer's first byte, Delay before each
	// delta.
	FirstDelay Duration `json:"first_delay"`
	Delay      Duration `json:"delay"`

	// KeepAlives are sent as comments before the first delta, BlankLines too.
	KeepAlives int `json:"keep_alives"`
	BlankLines int `json:"blank_lines"`
	// CRLF ends lines so; NoBlank leaves the line between events out.
	CRLF    bool `json:"crlf"`
	NoBlank bool `json:"no_blank"`

	// CutAfter closes the connection after so many deltas, HangAfter says
	// nothing more until the client leaves; -1 is before the first. Until names
	// a file, beside the script, that ends the silence when it is there.
	CutAfter  int    `json:"cut_after"`
	HangAfter int    `json:"hang_after"`
	Until     string `json:"until"`
	// Error is sent as an event in place of the end.
	Error json.RawMessage `json:"error"`
	// Finish is the finish reason, "stop" if empty, "none" for none. NoDone
	// leaves [DONE] out. NoUsage leaves the usage out; else it is Usage, or
	// counted from the texts. HangAtEnd keeps the connection open behind it.
	Finish    string          `json:"finish"`
	NoDone    bool            `json:"no_done"`
	NoUsage   bool            `json:"no_usage"`
	Usage     json.RawMessage `json:"usage"`
	HangAtEnd bool            `json:"hang_at_end"`
	// Whole answers with one JSON object instead of a stream.
	Whole bool `json:"whole"`

	match *regexp.Regexp
	used  int
}

// Duration is a time.Duration that JSON writes as a string such as "150ms".
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

// LoadScript reads a script from a JSON file. Reply files are read too, from
// the script's directory. A key it does not know is an error.
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

// readReplies reads the reply files of exchanges, which stand in a directory.
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
		exchange.match = pattern
		exchanges[i] = exchange
	}
	return exchanges, nil
}

// fits reports whether the exchange is for this message and not used up.
func (e *Exchange) fits(message string) bool {
	if e.Times >= 0 && e.used >= max(e.Times, 1) {
		return false
	}
	return e.match.MatchString(message)
}
