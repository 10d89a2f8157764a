package lisp

// openFile is what a file stream still has to do.
type openFile struct {
	path *Pathname
	// write stores the text when an output stream is closed; nil for input.
	write func(text string) error
}

// closeStream closes a stream; what was written to a file is stored, unless the stream
// is aborted.
func (c *Call) closeStream(s *Stream, abort bool) {
	if s == terminal || s.closed || s.sink != nil {
		return
	}
	s.closed = true
	if s.file == nil || s.file.write == nil || abort {
		return
	}
	if err := s.file.write(string(s.out)); err != nil {
		c.fileError(s.file.path, err)
	}
}

// fileError signals what went wrong with a file.
func (c *Call) fileError(p *Pathname, err error) {
	condition := c.newCondition("FILE-ERROR", err.Error(), "PATHNAME", p)
	condition.cause = err
	c.signalError(condition)
}
