package llm

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
)

// The most that is kept of the pictures of one reply: so many, of so many bytes together.
const (
	picturesLimit     = 16
	pictureBytesLimit = 32 << 20
)

// Pictures is a provider that keeps the pictures of a reply, and shows them as links behind its text. A reply
// that is an action in notation has no place for links: its pictures are dropped. Those of a reply that fails
// are dropped as well.
type Pictures struct {
	Next Provider
	// Keep stores the bytes of a picture and returns the absolute path of its file. name is made of the
	// bytes, with an extension that says what they are: the same picture has the same name. nil drops
	// pictures.
	Keep func(name string, content []byte) (path string, err error)
}

// Stream returns Next's stream. Its deltas have no pictures.
func (p Pictures) Stream(ctx context.Context, request Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		var kept pictures
		for delta, err := range p.Next.Stream(ctx, request) {
			kept.begin(delta.Text)
			for _, address := range delta.Pictures {
				kept.add(address)
			}
			delta.Pictures = nil
			if err == nil && delta.Finish != "" && len(delta.Calls) == 0 {
				delta.Text += kept.text(p.Keep)
			}
			if !yield(delta, err) {
				return
			}
		}
	}
}

// pictures are those of one reply.
type pictures struct {
	written  bool // the reply has text
	notation bool // the text is an action
	left     int  // how many there was no room for
	bytes    int
	list     []picture
}

// picture is one that came as bytes, with the name of its file, or one at an address.
type picture struct {
	name, address string
	content       []byte
}

// begin looks at the first text of the reply.
func (k *pictures) begin(piece string) {
	if piece = strings.TrimSpace(piece); piece != "" && !k.written {
		k.written, k.notation = true, strings.HasPrefix(piece, "(:") || piece[0] == '{'
	}
}

// add adds the picture of a data URL, or at an address of the web. Anything else is ignored.
func (k *pictures) add(address string) {
	one := picture{address: address}
	if data, found := strings.CutPrefix(address, "data:"); found {
		one = pictureOf(data)
	} else if parsed, err := url.Parse(address); err != nil || parsed.Host == "" || parsed.Scheme != "https" && parsed.Scheme != "http" || len(address) > citationLimit {
		return
	} else {
		one.address = strings.NewReplacer("(", "%28", ")", "%29", "[", "%5B", "]", "%5D").Replace(parsed.String())
	}
	if one.name == "" && one.address == "" {
		return
	}
	for _, known := range k.list {
		if known.name == one.name && known.address == one.address {
			return
		}
	}
	if len(k.list) == picturesLimit || k.bytes+len(one.content) > pictureBytesLimit {
		k.left++
		return
	}
	k.bytes += len(one.content)
	k.list = append(k.list, one)
}

// extensions are those of the pictures that are kept, by what their bytes are. What a server calls them does
// not count. Formats that can hold programs, such as SVG, are not among them.
var extensions = map[string]string{"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}

// pictureOf returns the picture of a data URL without its scheme. It has no name if it is none.
func pictureOf(data string) picture {
	_, encoded, found := strings.Cut(data, ";base64,")
	if !found {
		return picture{}
	}
	content, err := base64.StdEncoding.DecodeString(encoded)
	extension := extensions[http.DetectContentType(content)]
	if err != nil || extension == "" {
		return picture{}
	}
	hash := sha256.Sum256(content)
	return picture{name: hex.EncodeToString(hash[:8]) + extension, content: content}
}

// text stores the pictures, and returns the links to them, or why there is none.
func (k *pictures) text(keep func(name string, content []byte) (string, error)) string {
	if k.notation || keep == nil {
		return ""
	}
	var lines []string
	for _, one := range k.list {
		link := one.address
		if one.content != nil {
			path, err := keep(one.name, one.content)
			if err != nil {
				lines = append(lines, fmt.Sprintf("(A picture could not be kept: %v.)", err))
				continue
			}
			link = "<" + path + ">"
		}
		lines = append(lines, "![]("+link+")")
	}
	if k.left > 0 {
		lines = append(lines, fmt.Sprintf("(%d more pictures were left out: of one reply %d are kept, of %d MB together.)", k.left, picturesLimit, pictureBytesLimit>>20))
	}
	if len(lines) == 0 {
		return ""
	}
	separator := ""
	if k.written {
		separator = "\n\n"
	}
	return separator + strings.Join(lines, "\n\n")
}
