package plist

import "strings"

// jsonTextStart does the same as textStart for a JSON object.
func (m mender) jsonTextStart() (start, level int) {
	i := 1
	level = 1
	for i < len(m.src) {
		if i = m.jsonSpace(i); i < len(m.src) && m.src[i] == ',' {
			i = m.jsonSpace(i + 1)
		}
		if i < len(m.src) && m.src[i] == '}' && level > 1 {
			level--
			i++
			continue
		}
		key, value := m.jsonKey(i)
		if value < 0 {
			return -1, 0
		}
		i = value
		if i < len(m.src) && m.src[i] == '"' && key == "text" {
			return i, level
		}
		if i < len(m.src) && m.src[i] == '{' && key == "payload" && level == 1 {
			i++
			level++
			continue
		}
		if i = m.jsonItem(i); i < 0 {
			return -1, 0
		}
	}
	return -1, 0
}

// jsonTail does the same as tail for a JSON object.
func (m mender) jsonTail(i, level int, budget *int) int {
	from := i
	end := -1
	for i < len(m.src) && end < 0 {
		if i = m.jsonSpace(i); i == len(m.src) {
			break
		}
		if m.src[i] == '}' {
			i++
			if level--; level == 0 {
				end = i
			}
			continue
		}
		if m.src[i] != ',' {
			break
		}
		_, value := m.jsonKey(m.jsonSpace(i + 1))
		next := -1
		if value >= 0 {
			next = m.jsonItem(value)
		}
		if next < 0 {
			i = len(m.src) // the search reached the end
			break
		}
		i = next
	}
	*budget -= i - from + 1
	return end
}

// jsonSpace returns the offset after the white space at i.
func (m mender) jsonSpace(i int) int {
	for i < len(m.src) && classes[m.src[i]]&blank != 0 {
		i++
	}
	return i
}

// jsonKey returns the key at i in lower case, and the offset of its value, which is -1 if there is
// no key.
func (m mender) jsonKey(i int) (key string, value int) {
	if i >= len(m.src) || m.src[i] != '"' {
		return "", -1
	}
	end := jsonStringEnd(m.src, i)
	if end < 0 {
		return "", -1
	}
	key = strings.ToLower(strings.TrimPrefix(m.src[i+1:end-1], ":"))
	if end = m.jsonSpace(end); end == len(m.src) || m.src[end] != ':' {
		return "", -1
	}
	return key, m.jsonSpace(end + 1)
}

// jsonItem returns the offset after the value at i, or -1.
func (m mender) jsonItem(i int) int {
	depth := 0
	for i < len(m.src) {
		switch c := m.src[i]; {
		case c == '"':
			if i = jsonStringEnd(m.src, i); i < 0 {
				return -1
			}
		case c == '{' || c == '[':
			depth++
			i++
		case (c == '}' || c == ']') && depth > 0:
			depth--
			i++
		case depth > 0:
			i++
			continue
		case jsonWord(c):
			for i < len(m.src) && jsonWord(m.src[i]) {
				i++
			}
		default:
			return -1
		}
		if depth == 0 {
			return i
		}
	}
	return -1
}
