package plist

// Skip skips the next top-level form, as #+ skips a form that it excludes. The form must be
// complete, but its content need not be valid. It returns io.EOF if there is none.
func (r *Reader[V]) Skip() error {
	r.suppressed++
	_, err := r.Next()
	r.suppressed--
	return err
}

// skipDispatch skips the syntax after a #. The number after the # has n digits. known is false if
// the syntax is read normally.
func (r *Reader[V]) skipDispatch(n int, c byte) (made, known bool, err error) {
	start := r.pos
	switch c {
	case '(':
		return false, true, r.open(frame{kind: vectorFrame}, n+2)
	case '\'', '.', '=', 'A', 'a', 'C', 'c', 'P', 'p', 'S', 's':
		return false, true, r.open(frame{kind: prefixFrame}, n+2)
	case '#':
		r.pos += n + 2
		return true, true, nil
	case '\\':
		_, err := r.char(n + 2)
		return true, true, err
	case ':', '*', 'B', 'b', 'O', 'o', 'X', 'x', 'R', 'r':
		if err := r.count(start); err != nil {
			return false, true, err
		}
		_, _, err := r.lispToken(start + n + 2)
		return true, true, err
	default:
		if classes[c]&delimiter == 0 && c != '|' && c != '+' && c != '-' && c != '<' && c != 0 {
			_, _, err := r.lispToken(start + n + 1)
			return true, true, err
		}
	}
	return false, false, nil
}
