package telegram

import (
	"net/url"
	"slices"

	"github.com/go-telegram/bot/models"

	"org-agent/kernel/channel/rich"
)

// entityLimit is how many entities Telegram heeds in a message.
const entityLimit = 100

// entities returns how the text looks, as Telegram has it: nothing but a quote contains code, so that what does is left
// out there. A link that is not to the web stays as its text.
func entities(t rich.Text) []models.MessageEntity {
	var all []models.MessageEntity
	spans := t.UTF16()
	var code []rich.Entity
	for _, s := range spans {
		if s.Style == rich.Code || s.Style == rich.Block {
			code = append(code, s)
		}
	}
	for _, s := range spans {
		e, ok := entity(s)
		if !ok {
			continue
		}
		parts := []rich.Entity{s}
		if s.Style != rich.Quote && s.Style != rich.Code && s.Style != rich.Block {
			parts = without(s, code)
		}
		for _, part := range parts {
			e.Offset, e.Length = part.Offset, part.Length
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b models.MessageEntity) int {
		if a.Offset != b.Offset {
			return a.Offset - b.Offset
		}
		return b.Length - a.Length
	})
	return all[:min(len(all), entityLimit)]
}

// entity returns what Telegram calls a style, and false for what it does not have.
func entity(s rich.Entity) (models.MessageEntity, bool) {
	kinds := map[rich.Style]models.MessageEntityType{
		rich.Bold: models.MessageEntityTypeBold, rich.Italic: models.MessageEntityTypeItalic, rich.Underline: models.MessageEntityTypeUnderline, rich.Strike: models.MessageEntityTypeStrikethrough,
		rich.Code: models.MessageEntityTypeCode, rich.Block: models.MessageEntityTypePre, rich.Quote: models.MessageEntityTypeBlockquote, rich.Link: models.MessageEntityTypeTextLink,
	}
	e := models.MessageEntity{Type: kinds[s.Style]}
	switch s.Style {
	case rich.Block:
		e.Language = s.Value
	case rich.Link:
		u, err := url.Parse(s.Value)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "tg" || u.Host == "" {
			return e, false
		}
		e.URL = s.Value
	}
	return e, e.Type != ""
}

// without returns what is left of an entity without the others, which are in order.
func without(s rich.Entity, others []rich.Entity) (left []rich.Entity) {
	end := s.Offset + s.Length
	for _, o := range others {
		if o.Offset+o.Length <= s.Offset || o.Offset >= end {
			continue
		}
		if o.Offset > s.Offset {
			left = append(left, rich.Entity{Offset: s.Offset, Length: o.Offset - s.Offset})
		}
		s.Offset = min(o.Offset+o.Length, end)
	}
	if s.Offset < end {
		left = append(left, rich.Entity{Offset: s.Offset, Length: end - s.Offset})
	}
	return left
}
