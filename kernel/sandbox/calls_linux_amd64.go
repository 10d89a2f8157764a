package sandbox

import "golang.org/x/sys/unix"

// machine is the system's number for this machine. otherNumbers is the bit in the number of a call
// that belongs to another numbering.
const (
	machine      = unix.AUDIT_ARCH_X86_64
	otherNumbers = 0x40000000
)

// alsoRefused and alsoModeCalls are calls that other machines do not have.
var (
	alsoRefused   = []uintptr{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_KEXEC_FILE_LOAD}
	alsoModeCalls = []modeCall{
		{unix.SYS_CHMOD, 1, -1}, {unix.SYS_CREAT, 1, -1}, {unix.SYS_MKNOD, 1, -1}, {unix.SYS_MKDIR, 1, -1}, {unix.SYS_OPEN, 2, 1},
	}
)
