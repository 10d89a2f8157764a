package rpc

// isNothing reports whether a value without blanks is one of the spellings of
// nothing.
func isNothing(raw []byte) bool {
	switch string(raw) {
	case "null", "false", "[]", "{}":
		return true
	}
	return false
}

// prune takes the members that mean nothing out of every object in raw, which
// is valid JSON, and the blanks with them, in one pass. It reports whether a
// member went.
func prune(raw []byte) (pruned []byte, changed bool) {
	p := pruner{in: raw, out: make([]byte, 0, len(raw))}
	p.value()
	return p.out, p.changed
}

type pruner struct {
	in, out []byte
	at      int
	changed bool
}

// value copies the value that begins at the next character that is no blank.
func (p *pruner) value() {
	p.blanks()
	switch c := p.in[p.at]; c {
	case '{':
		p.members('}', true)
	case '[':
		p.members(']', false)
	case '"':
		p.text()
	default:
		for p.at < len(p.in) && !ends(p.in[p.at]) {
			p.copy()
		}
	}
}

// members copies what stands up to the closing bracket.
func (p *pruner) members(closing byte, keyed bool) {
	p.copy()
	empty := len(p.out)
	for {
		p.blanks()
		c := p.in[p.at]
		if c == closing {
			p.copy()
			return
		}
		if c == ',' {
			p.at++
			continue
		}
		begin := len(p.out)
		if begin > empty {
			p.out = append(p.out, ',')
		}
		if keyed {
			p.text()
			p.blanks()
			p.copy() // the colon
		}
		value := len(p.out)
		p.value()
		if keyed && isNothing(p.out[value:]) {
			p.out = p.out[:begin]
			p.changed = true
		}
	}
}

// text copies a string.
func (p *pruner) text() {
	p.copy()
	for p.in[p.at] != '"' {
		if p.in[p.at] == '\\' {
			p.copy()
		}
		p.copy()
	}
	p.copy()
}

func (p *pruner) copy() {
	p.out = append(p.out, p.in[p.at])
	p.at++
}

func (p *pruner) blanks() {
	for p.at < len(p.in) && isBlank(p.in[p.at]) {
		p.at++
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// ends reports whether c stands behind a number or a word.
func ends(c byte) bool { return isBlank(c) || c == ',' || c == '}' || c == ']' }
