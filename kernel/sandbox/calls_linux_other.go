//go:build !amd64

package sandbox

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// machine is how the system calls this one, 0 where there is no filter for it.
var machine = map[string]uint32{"arm64": unix.AUDIT_ARCH_AARCH64, "riscv64": unix.AUDIT_ARCH_RISCV64}[runtime.GOARCH]

// otherNumbers is the bit by which a call of the machine is numbered in another way.
const otherNumbers = 0x80000000

// alsoRefused and alsoModeCalls are calls that not every machine has.
var (
	alsoRefused   []uintptr
	alsoModeCalls []modeCall
)
