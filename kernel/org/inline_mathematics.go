package org

import "strings"

// dollars keeps $x$ and $$x$$ as they are, so that their content is not read as Markdown.
func (c *inline) dollars(text string, final bool) (n int, decided bool) {
	if len(text) == 1 {
		return 0, final
	}
	if text[1] == '$' {
		return c.mathSpan(text, "$$", final)
	}
	if strings.IndexByte(" \t,.;", text[1]) >= 0 {
		return 0, true
	}
	seen := 0
	for i := 2; i < min(len(text), spanLimit); i++ {
		if text[i] != '$' {
			continue
		}
		if seen++; seen > maxDelimiters {
			return 0, true
		}
		if strings.IndexByte(" \t,.\\", text[i-1]) >= 0 {
			continue
		}
		if i+1 == len(text) && !final {
			return 0, false
		}
		if i+1 < len(text) && isAlnum(text[i+1]) {
			continue
		}
		c.write(text[:i+1])
		return i + 1, true
	}
	return 0, final || len(text) >= spanLimit
}

func (c *inline) mathSpan(text, closing string, final bool) (n int, decided bool) {
	limit := min(len(text), spanLimit)
	end := strings.Index(text[2:limit], closing)
	if end < 0 {
		return 0, final || len(text) >= spanLimit
	}
	end += 2 + len(closing)
	c.write(text[:end])
	return end, true
}
