package plist

// Skip passes over the next top-level form as over one that #+ rules out: it must be
// whole, but what it says need not mean anything. io.EOF when there is none.
func (r *Reader[V]) Skip() error {
	r.suppressed++
	_, err := r.Next()
	r.suppressed--
	return err
}

// skipDispatch passes over what # introduces; the number behind it has n digits. known
// is false for what is read as ever.
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
