//go:build !amd64

package sandbox

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// machine is the system's number for this machine, 0 where there is no filter for it.
var machine = map[string]uint32{"arm64": unix.AUDIT_ARCH_AARCH64, "riscv64": unix.AUDIT_ARCH_RISCV64}[runtime.GOARCH]

// otherNumbers is the bit in the number of a call that belongs to another numbering.
const otherNumbers = 0x80000000

// alsoRefused and alsoModeCalls are calls that other machines do not have.
var (
	alsoRefused   []uintptr
	alsoModeCalls []modeCall
)
