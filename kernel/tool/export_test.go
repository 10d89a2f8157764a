package tool

// Always reports whether the tool is always offered.
func (t Tool) Always() bool { return t.offered == nil }
