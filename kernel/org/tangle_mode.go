package org

import (
	"io/fs"
	"regexp"
	"strconv"
)

// identity matches the value of :tangle-mode that Org's manual shows.
var identity = regexp.MustCompile(`^\(identity[ \t]+(?:#[oO]([0-7]{1,5})|([0-9]{1,5}))[ \t]*\)$`)

// identityMode returns the mode that "(identity #o755)" stands for, -1 for other code.
func identityMode(code string) int {
	parts := identity.FindStringSubmatch(code)
	if parts == nil {
		return -1
	}
	base, digits := 8, parts[1]
	if digits == "" {
		base, digits = 10, parts[2]
	}
	mode, err := strconv.ParseUint(digits, base, 32)
	if err != nil {
		return -1
	}
	return int(mode)
}

// mode sets the file's mode. A plain number is decimal in Org 9.5, so 0755 means 0755 only in
// (identity #o755). The mode of the first block counts for the file.
func (t *tangler) mode(f *TangledFile, p *place, shebang bool) {
	written, _ := p.arguments.get("tangle-mode")
	mode := -1
	switch written.kind {
	case absentValue:
		if shebang {
			mode = 0o755
		}
	case codeValue:
		mode = identityMode(written.Value)
	case numberValue:
		parsed, err := strconv.ParseInt(trimDot(written.Value), 10, 32)
		if err != nil || parsed < 0 {
			t.fail(written.Line, ":tangle-mode %s is no mode; write (identity #o755)", written.Value)
			return
		}
		mode = int(parsed)
	default:
		t.fail(written.Line, ":tangle-mode %s is no number; write (identity #o755)", written.Value)
		return
	}
	if mode >= 0 && f.Mode == nil {
		bits := fileMode(mode)
		f.Mode = &bits
	}
}

func trimDot(digits string) string {
	if n := len(digits); n > 0 && digits[n-1] == '.' {
		return digits[:n-1]
	}
	return digits
}

// fileMode converts the bits of chmod to Go's.
func fileMode(bits int) fs.FileMode {
	mode := fs.FileMode(bits & 0o777)
	for bit, flag := range map[int]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if bits&bit != 0 {
			mode |= flag
		}
	}
	return mode
}
