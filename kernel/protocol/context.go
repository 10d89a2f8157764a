package protocol

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"org-agent/kernel/text"
)

// Limits of the context of an event. A larger one is refused, not cut.
const (
	ContextItems      = 64      // items of one event
	ContextTextLimit  = 1 << 20 // bytes of one item's text
	ContextImageLimit = 4 << 20 // bytes of one image
	ContextLimit      = 5 << 20 // bytes of all texts and images of one event
	contextNameLimit  = 200     // characters of a name; of a place ten times as many
)

// ContextImage is the kind of an item that is an image; the others are text.
const ContextImage = "image"

// ContextMemory is the kind of an item that the kernel adds from the memory or from the person's
// notes. No client sends it.
const ContextMemory = "memory"

// contextKinds are the kinds of items that a client sends.
var contextKinds = []string{"file", "buffer", "region", "subtree", "directory", ContextImage}

// imageMedia are the media types that models accept.
var imageMedia = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// ContextItem is something that a person sends along with a message. It is data, not words of
// the person. The client has read it; the kernel opens no file by its name.
type ContextItem struct {
	Kind  string `json:"kind"`            // file, buffer, region, subtree, directory or image
	Name  string `json:"name"`            // the person's name for it, on one line
	Place string `json:"place,omitempty"` // where it is: a path, lines of it
	Mode  string `json:"mode,omitempty"`  // the language: an Emacs mode, a file's extension
	Media string `json:"media,omitempty"` // the media type of an image, found from its bytes
	Bytes int    `json:"bytes"`           // of the text, or of the image
	// Text and Data are empty in an item of a journalled event.
	Text string `json:"text,omitempty"`
	Data []byte `json:"data,omitempty"`
}

// WithoutContent returns the item without its text and data.
func (c ContextItem) WithoutContent() ContextItem {
	c.Text, c.Data = "", nil
	return c
}

// Describe returns a line about the item with its kind, its place and its size.
func (c ContextItem) Describe() string {
	var b strings.Builder
	b.WriteString(c.Kind + " " + c.Name)
	if c.Place != "" && c.Place != c.Name {
		fmt.Fprintf(&b, " (%s)", c.Place)
	}
	for _, more := range []string{c.Mode, c.Media} {
		if more != "" {
			b.WriteString(", " + more)
		}
	}
	fmt.Fprintf(&b, ", %d bytes", c.Bytes)
	return b.String()
}

// parseContext reads the :context of an event.
func parseContext(value any) ([]ContextItem, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, Errorf(CodeInvalidParams, ":context is a list of items, each with :kind, :name and :text")
	}
	if len(list) > ContextItems {
		return nil, Errorf(CodeTooLarge, "the message has %d context items, %d more than the %d allowed", len(list), len(list)-ContextItems, ContextItems)
	}
	items, whole := make([]ContextItem, len(list)), 0
	for i, element := range list {
		fields, ok := element.(Object)
		if !ok {
			return nil, Errorf(CodeInvalidParams, "item %d of :context is no object with :kind, :name and :text", i+1)
		}
		var err error
		if items[i], err = parseContextItem(fields); err != nil {
			return nil, err
		}
		whole += items[i].Bytes
	}
	if whole > ContextLimit {
		return nil, Errorf(CodeTooLarge, "the context of the message has %d bytes, %d more than the %d allowed: remove an item", whole, whole-ContextLimit, ContextLimit)
	}
	return items, nil
}

func parseContextItem(fields Object) (ContextItem, error) {
	item := ContextItem{
		Kind: strings.ToLower(fields.Text("kind")), Name: text.PlainLine(fields.Text("name"), contextNameLimit),
		Place: text.PlainLine(fields.Text("place"), 10*contextNameLimit), Mode: text.PlainLine(fields.Text("mode"), contextNameLimit),
	}
	if !slices.Contains(contextKinds, item.Kind) {
		return item, Errorf(CodeInvalidParams, "context has no kind %q: it is one of %s", text.Clip(item.Kind, commandLimit), strings.Join(contextKinds, ", "))
	}
	if item.Name == "" {
		return item, Errorf(CodeInvalidParams, "an item of :context has no :name")
	}
	if item.Kind == ContextImage {
		return item, item.setImage(fields.Text("data"))
	}
	item.Text = strings.ToValidUTF8(fields.Text("text"), "\uFFFD")
	item.Bytes = len(item.Text)
	if strings.ContainsRune(item.Text, 0) {
		return item, Errorf(CodeInvalidParams, "%s is not text: it contains a zero byte", item.Name)
	}
	return item, item.within(ContextTextLimit, "send a region of it")
}

// ImageItem returns an item for an image. It returns false for a content that models do not accept.
func ImageItem(name, place string, content []byte) (ContextItem, bool) {
	item := ContextItem{Kind: ContextImage, Name: name, Place: place, Media: http.DetectContentType(content), Bytes: len(content), Data: content}
	return item, slices.Contains(imageMedia, item.Media) && len(content) <= ContextImageLimit
}

// setImage decodes an image and detects its media type.
func (c *ContextItem) setImage(data string) error {
	image, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return Errorf(CodeInvalidParams, "the :data of the image %s is not base64: %w", c.Name, err)
	}
	c.Data, c.Bytes, c.Media = image, len(image), http.DetectContentType(image)
	if !slices.Contains(imageMedia, c.Media) {
		return Errorf(CodeInvalidParams, "%s is not a PNG, JPEG, GIF or WebP image", c.Name)
	}
	return c.within(ContextImageLimit, "make it smaller")
}

func (c *ContextItem) within(limit int, advice string) error {
	if c.Bytes <= limit {
		return nil
	}
	return Errorf(CodeTooLarge, "%s has %d bytes, %d more than the %d allowed: %s", c.Name, c.Bytes, c.Bytes-limit, limit, advice)
}
