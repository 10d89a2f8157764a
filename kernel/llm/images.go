package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Image is an image that a message shows to a model.
type Image struct {
	Name  string
	Media string // image/png, image/jpeg, image/gif or image/webp
	Data  []byte
}

// MarshalJSON returns the image's name, media type, size and hash. Records of requests keep those
// instead of the bytes.
func (i Image) MarshalJSON() ([]byte, error) {
	hash := sha256.Sum256(i.Data)
	return json.Marshal(map[string]any{"name": i.Name, "media": i.Media, "bytes": len(i.Data), "sha256": hex.EncodeToString(hash[:])})
}

// ImageRule says what happens to images before a provider is asked.
type ImageRule string

// The rules: images are sent; a line replaces each; or a request with one is an error.
const (
	ImagesSent    ImageRule = "send"
	ImagesOmitted ImageRule = "omit"
	ImagesRefused ImageRule = "refuse"
)

// Images is a provider that applies a rule about images and asks Next. Model is the model's name in
// errors and in the lines that replace images.
type Images struct {
	Next  Provider
	Model string
	Rule  ImageRule // "" is ImagesSent
}

// Stream implements [Provider].
func (p Images) Stream(ctx context.Context, request Request) iter.Seq2[Delta, error] {
	request, err := p.Apply(request)
	if err != nil {
		return func(yield func(Delta, error) bool) { yield(Delta{}, err) }
	}
	return p.Next.Stream(ctx, request)
}

// Apply returns the request as the rule lets it through. It does not change its argument.
func (p Images) Apply(request Request) (Request, error) {
	if p.Rule == "" || p.Rule == ImagesSent {
		return request, nil
	}
	request.Messages = slices.Clone(request.Messages)
	for i, message := range request.Messages {
		if len(message.Images) == 0 {
			continue
		}
		if p.Rule == ImagesRefused {
			return Request{}, &Error{Class: ClassBadRequest, Message: fmt.Sprintf("%s takes no images, and %s is one", p.Model, message.Images[0].Name),
				Advice: "leave it out, or ask another model"}
		}
		var lines strings.Builder
		for _, image := range message.Images {
			fmt.Fprintf(&lines, "[image %s omitted: %s takes none]\n", image.Name, p.Model)
		}
		message.Text, message.Images = lines.String()+message.Text, nil
		request.Messages[i] = message
	}
	return request, nil
}
