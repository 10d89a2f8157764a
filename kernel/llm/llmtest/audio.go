package llmtest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Recording is the form of a request for a transcription.
type Recording struct {
	File struct {
		Name, Media, SHA256 string
		Bytes               int
		Seconds             float64
	} `json:"file"`
	Model    string `json:"model"`
	Language string `json:"language"`
	Format   string `json:"response_format"`
}

// transcribe answers a recording. The request must be the form of OpenAI's API with a WAV file that
// can be played. Reply is the text. Body, if set, is sent as it is.
func (s *Server) transcribe(w http.ResponseWriter, r *http.Request) {
	recording, problem := readRecording(w, r)
	if problem != "" {
		refuse(w, http.StatusBadRequest, problem)
		return
	}
	body, err := json.Marshal(recording)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	received := receive(r, body)
	says := strings.Join([]string{recording.File.Name, recording.Model, recording.Language}, " ")
	exchange, ok := s.take(s.exchanges.transcriptions, received, says)
	if !ok {
		refuse(w, http.StatusBadRequest, "the script has no exchange for this recording")
		return
	}
	text := exchange.Reply
	if exchange.Echo {
		text = fmt.Sprintf("%d bytes of %s", recording.File.Bytes, recording.File.Media)
	}
	encoded, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	s.play(r.Context(), playback{exchange: plain(exchange, string(encoded), "application/json"), w: w, received: received})
}

// speak answers a text with Reply, which is the sound.
func (s *Server) speak(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, requestLimit))
	var request struct{ Input, Model, Voice string }
	if err != nil || json.Unmarshal(body, &request) != nil || request.Input == "" || request.Voice == "" {
		refuse(w, http.StatusBadRequest, "the request has no input, or no voice")
		return
	}
	received := receive(r, body)
	exchange, ok := s.take(s.exchanges.voices, received, request.Input)
	if !ok {
		refuse(w, http.StatusBadRequest, "the script has no exchange for this text")
		return
	}
	s.play(r.Context(), playback{exchange: plain(exchange, exchange.Reply, "audio/wav"), w: w, received: received})
}

// plain returns the exchange with this body, unless the script has a status or a body of its own.
func plain(exchange Exchange, body, media string) Exchange {
	if exchange.Status == 0 && exchange.Body == "" && exchange.BodySize == 0 {
		exchange.Body = body
		headers := map[string]string{"Content-Type": media}
		for name, value := range exchange.Headers {
			headers[name] = value
		}
		exchange.Headers = headers
	}
	return exchange
}

// readRecording reads a form. problem is its fault, or "".
func readRecording(w http.ResponseWriter, r *http.Request) (recording Recording, problem string) {
	r.Body = http.MaxBytesReader(w, r.Body, requestLimit)
	if err := r.ParseMultipartForm(requestLimit); err != nil {
		return recording, "the request is no form: " + err.Error()
	}
	defer func() { _ = r.MultipartForm.RemoveAll() }() // there are no files: the form fits the limit
	file, header, err := r.FormFile("file")
	if err != nil {
		return recording, "there is no file in the form"
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		return recording, "the file cannot be read"
	}
	recording.Model, recording.Language, recording.Format = r.FormValue("model"), r.FormValue("language"), r.FormValue("response_format")
	if recording.Model == "" {
		return recording, "you must provide a model parameter"
	}
	seconds, ok := playable(data)
	if !ok {
		return recording, "Invalid file format. The audio file could not be decoded or its format is not supported."
	}
	hash := sha256.Sum256(data)
	recording.File.Name, recording.File.Media = header.Filename, header.Header.Get("Content-Type")
	recording.File.Bytes, recording.File.SHA256, recording.File.Seconds = len(data), hex.EncodeToString(hash[:]), seconds
	return recording, ""
}

// playable returns the length of a WAV file in seconds, and whether it has sound. A recorder that
// was stopped may write a length that is too large, or none, which players accept.
func playable(data []byte) (seconds float64, ok bool) {
	if len(data) < 12 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WAVE" {
		return 0, false
	}
	rate := 0
	for at := 12; at+8 <= len(data); {
		name, size := string(data[at:at+4]), int(binary.LittleEndian.Uint32(data[at+4:]))
		content := data[at+8:]
		content = content[:min(size, len(content))]
		switch {
		case name == "fmt " && len(content) >= 16:
			rate = int(binary.LittleEndian.Uint32(content[8:]))
		case name == "data":
			return float64(len(content)) / float64(max(rate, 1)), rate > 0 && len(content) > 0
		}
		at += 8 + size + size%2
	}
	return 0, false
}
