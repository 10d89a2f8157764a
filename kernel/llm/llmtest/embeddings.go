package llmtest

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"net/http"
	"strings"
	"unicode"
)

// dimensions is the length of the vectors of texts.
const dimensions = 256

// Vector returns the embedding of a text: the number of times that it has each word, at an index
// that is a hash of the word. The words of one list of alike count as one word. Texts with common
// words have similar vectors, and the same text always has the same vector.
func Vector(text string, alike [][]string) []float32 {
	vector := make([]float32, dimensions)
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) }) {
		for _, words := range alike {
			for _, w := range words {
				if w == word {
					word = words[0]
				}
			}
		}
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(word)) // writing to a hash does not fail
		vector[hash.Sum32()%dimensions]++
	}
	if text != "" && strings.Trim(text, " \n") != "" {
		vector[0] += 0.01 // so that a text without words has a direction too
	}
	return vector
}

// embed answers a request for embeddings with real vectors, or with the script's exchange if one fits.
func (s *Server) embed(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, requestLimit))
	var request struct {
		Model string
		Input []string
	}
	if err != nil || json.Unmarshal(body, &request) != nil || request.Model == "" || len(request.Input) == 0 {
		refuse(w, http.StatusBadRequest, "the request has no model, or no input that is a list of strings")
		return
	}
	received := receive(r, body)
	exchange, scripted := s.take(s.exchanges.embeddings, received, strings.Join(request.Input, "\n"))
	if scripted {
		s.play(r.Context(), playback{exchange: plain(exchange, exchange.Reply, "application/json"), w: w, received: received})
		return
	}
	type embedding struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	answer := struct {
		Object string      `json:"object"`
		Model  string      `json:"model"`
		Data   []embedding `json:"data"`
	}{Object: "list", Model: request.Model}
	for i, text := range request.Input {
		answer.Data = append(answer.Data, embedding{"embedding", i, Vector(text, s.alike)})
	}
	writeJSON(w, http.StatusOK, answer)
}
