package telegram

import (
	"net/url"
	"slices"

	"github.com/go-telegram/bot/models"

	"org-agent/kernel/channel/rich"
)

// entityLimit is how many entities Telegram heeds in a message.
const entityLimit = 100

// entities returns how the text looks, as Telegram has it: in UTF-16 code units, with nothing in code, no links in
// links and no quotes in quotes. A link that is not to the web stays as its text.
func entities(t rich.Text) []models.MessageEntity {
	var all []models.MessageEntity
	u := units{text: t.Plain}
	var code []rich.Span // what nothing may overlap
	until := map[rich.Style]int{}
	for _, s := range t.Spans {
		if (s.Style == rich.Code || s.Style == rich.Block) && (len(code) == 0 || code[len(code)-1].End <= s.Start) {
			code = append(code, s)
		}
	}
	for _, s := range t.Spans {
		e, ok := entity(s)
		if !ok || s.Start >= s.End || s.Start < until[s.Style] {
			continue
		}
		parts := []rich.Span{s}
		if s.Style == rich.Code || s.Style == rich.Block {
			if !slices.Contains(code, s) {
				continue
			}
		} else if s.Style != rich.Quote {
			parts = without(s, code)
		}
		until[s.Style] = s.End
		for _, part := range parts {
			e.Offset = u.at(part.Start)
			if e.Length = u.at(part.End) - e.Offset; e.Length > 0 {
				all = append(all, e)
			}
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
func entity(s rich.Span) (models.MessageEntity, bool) {
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

// without returns what is left of a span without the others, which are in order.
func without(s rich.Span, others []rich.Span) (left []rich.Span) {
	for _, o := range others {
		if o.End <= s.Start || o.Start >= s.End {
			continue
		}
		if o.Start > s.Start {
			left = append(left, rich.Span{Start: s.Start, End: o.Start})
		}
		s.Start = min(o.End, s.End)
	}
	if s.Start < s.End {
		left = append(left, s)
	}
	return left
}

// units counts UTF-16 code units. It goes on from the last place, because spans are in order.
type units struct {
	text        string
	bytes, unit int
}

// at returns how many units are before a byte.
func (u *units) at(b int) int {
	if b < u.bytes {
		u.bytes, u.unit = 0, 0
	}
	u.unit += rich.Length(u.text[u.bytes:b])
	u.bytes = b
	return u.unit
}
