package telegramtest

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"
)

// textAndLooks returns the text or the caption of a call. Telegram measures texts in UTF-16 code units.
func (c call) textAndLooks() (string, []Entity, error) {
	field, looks, limit, long := "text", "entities", 4096, "message is too long"
	if c.name != "sendMessage" && c.name != "editMessageText" {
		field, looks, limit, long = "caption", "caption_entities", 1024, "message caption is too long"
	}
	text := c.text(field)
	units := utf16.Encode([]rune(text))
	if strings.TrimSpace(text) == "" && field == "text" {
		return "", nil, badRequest("message text is empty")
	}
	if len(units) > limit {
		return "", nil, badRequest("%s", long)
	}
	if !slices.Equal([]rune(text), []rune(strings.ToValidUTF8(text, "\ufffd"))) {
		return "", nil, badRequest("strings must be encoded in UTF-8")
	}
	var entities []Entity
	if err := c.decode(looks, &entities); err != nil {
		return "", nil, err
	}
	if len(entities) > 100 {
		return "", nil, badRequest("there are %d entities, more than 100", len(entities))
	}
	for i, e := range entities {
		if err := e.check(units); err != nil {
			return "", nil, err
		}
		for _, other := range entities[:i] {
			if err := compatible(other, e); err != nil {
				return "", nil, err
			}
		}
	}
	return text, entities, nil
}

// check refuses an entity that is not within the text.
func (e Entity) check(units []uint16) error {
	if e.Offset < 0 || e.Length <= 0 || e.Offset > len(units) {
		return badRequest("entity begins after the end of the text at UTF-16 offset %d", e.Offset)
	}
	if e.Length > len(units)-e.Offset {
		return badRequest("entity beginning at UTF-16 offset %d ends after the end of the text at UTF-16 offset %d", e.Offset, e.Offset+e.Length)
	}
	for _, at := range [...]int{e.Offset, e.Offset + e.Length} {
		if at > 0 && at < len(units) && utf16.IsSurrogate(rune(units[at])) && units[at] >= 0xdc00 {
			return badRequest("entity begins or ends in a middle of a UTF-16 symbol at offset %d", at)
		}
	}
	switch e.Type {
	case "bold", "italic", "underline", "strikethrough", "spoiler", "blockquote", "expandable_blockquote", "code":
		if e.URL != "" || e.Language != "" {
			return badRequest("the entity %s has no address and no language", e.Type)
		}
	case "pre":
		if e.URL != "" {
			return badRequest("the entity pre has no address")
		}
	case "text_link":
		u, err := url.Parse(e.URL)
		if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "tg"}, u.Scheme) || e.Language != "" {
			return badRequest("the entity text_link has the address %q", e.URL)
		}
	default:
		return badRequest("unsupported entity type %q", e.Type)
	}
	return nil
}

// compatible refuses two entities with common characters of which none is in the other, and what the manual says not to nest.
func compatible(a, b Entity) error {
	if a.Offset+a.Length <= b.Offset || b.Offset+b.Length <= a.Offset {
		return nil
	}
	inB := a.Offset >= b.Offset && a.Offset+a.Length <= b.Offset+b.Length
	inA := b.Offset >= a.Offset && b.Offset+b.Length <= a.Offset+a.Length
	if !inA && !inB {
		return badRequest("the entities %s and %s overlap", a.Type, b.Type)
	}
	code := func(e Entity) bool { return e.Type == "pre" || e.Type == "code" }
	quote := func(e Entity) bool { return strings.HasSuffix(e.Type, "blockquote") }
	switch {
	case a.Type == b.Type, quote(a) && quote(b), code(a) && code(b):
		return badRequest("the entities %s and %s are nested", a.Type, b.Type)
	case code(a) && !(quote(b) && inB), code(b) && !(quote(a) && inA):
		return badRequest("the entities %s and %s are nested", a.Type, b.Type)
	}
	return nil
}

// buttons returns the buttons of a call.
func (c call) buttons() ([][]Button, error) {
	var k struct {
		Rows [][]Button `json:"inline_keyboard"`
	}
	if err := c.decode("reply_markup", &k); err != nil {
		return nil, err
	}
	count := 0
	for _, row := range k.Rows {
		for _, b := range row {
			count++
			if strings.TrimSpace(b.Text) == "" {
				return nil, badRequest("can't parse inline keyboard button: Text is empty")
			}
			if b.Data == "" || len(b.Data) > 64 {
				return nil, badRequest("BUTTON_DATA_INVALID")
			}
		}
	}
	if count > 100 {
		return nil, badRequest("there are %d buttons, more than 100", count)
	}
	return k.Rows, nil
}
