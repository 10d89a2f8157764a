package openai

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
)

const (
	// embeddingTexts is the maximum number of texts in one request.
	embeddingTexts = 64
	// embeddingDimensions is the maximum length of a vector.
	embeddingDimensions = 8192
	// embeddingBytes is how much of an answer is read for each text. A number takes up to 24
	// characters.
	embeddingBytes = 24 * embeddingDimensions
)

// Embed returns a vector for each of at most 64 texts, in the order of the texts. All vectors have
// the same length. It asks once; see [llm.Retry].
func (p *Provider) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if len(texts) > embeddingTexts {
		return nil, fmt.Errorf("ask for embeddings: %d texts at once, more than %d", len(texts), embeddingTexts)
	}
	model, err := p.modelFor(ctx, "")
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]any{"model": model, "input": texts, "encoding_format": "float"})
	if err != nil {
		return nil, fmt.Errorf("write the request for embeddings: %w", err)
	}
	answered, err := p.post(ctx, "embeddings", "application/json", body, 4096+int64(len(texts))*embeddingBytes)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Data []struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		} `json:"data"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(answered, &answer); err != nil {
		return nil, p.complete(&llm.Error{Class: llm.ClassProtocol, Message: "the embeddings cannot be read", Err: err})
	}
	if err := transport.StreamError(answer.Error); err != nil {
		return nil, p.complete(err)
	}
	vectors := make([][]float32, len(texts))
	for _, d := range answer.Data {
		if d.Index >= 0 && d.Index < len(vectors) && vectors[d.Index] == nil {
			vectors[d.Index] = d.Embedding
		}
	}
	if problem := checkVectors(vectors, len(answer.Data)); problem != "" {
		return nil, p.complete(&llm.Error{Class: llm.ClassProtocol, Message: problem})
	}
	return vectors, nil
}

// checkVectors returns what is wrong with an answer to a request for that many vectors, or "".
func checkVectors(vectors [][]float32, answered int) string {
	if answered != len(vectors) {
		return fmt.Sprintf("the answer has %d embeddings for %d texts", answered, len(vectors))
	}
	for i, v := range vectors {
		switch {
		case len(v) == 0:
			return fmt.Sprintf("the answer has no embedding for text %d", i)
		case len(v) > embeddingDimensions:
			return fmt.Sprintf("an embedding has %d numbers, more than %d", len(v), embeddingDimensions)
		case len(v) != len(vectors[0]):
			return fmt.Sprintf("the embeddings have %d and %d numbers", len(vectors[0]), len(v))
		}
		length := 0.0
		for _, x := range v {
			length += float64(x) * float64(x)
		}
		if length == 0 || math.IsInf(length, 0) || math.IsNaN(length) {
			return fmt.Sprintf("the embedding of text %d has no direction", i)
		}
	}
	return ""
}
