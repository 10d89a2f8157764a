package sandbox

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// refusedCalls are system calls that no command needs. They reach past the fence, or were used to
// escape from one: keys of the user that no namespace separates, ring buffers whose requests no
// filter sees, programs for the system itself, mounts. A program that makes such a call gets the
// error of a system that does not have it.
var refusedCalls = [...]uintptr{
	unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_SETNS, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
	unix.SYS_FSPICK, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR,
	unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_REBOOT,
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
	unix.SYS_OPENAT2, // a filter cannot read its flags, which are in memory; openat has them in the call
}

// socketFamilies are the kinds of sockets that a network namespace separates. Other kinds, such as
// those between a virtual machine and its host, ignore namespaces.
var socketFamilies = [...]uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// takesRights are the bits of a mode with which a file runs with the rights of its owner, whoever
// starts it. Such a file would stay in the granted directory after the command.
const takesRights = unix.S_ISUID | unix.S_ISGID

// modeCall is a call that gives a file its mode: the index of the argument with the mode, and of
// the one with the flags that say whether the mode counts, or -1 if it always does.
type modeCall struct {
	call        uintptr
	mode, flags int
}

var modeCalls = [...]modeCall{
	{unix.SYS_FCHMOD, 1, -1}, {unix.SYS_FCHMODAT, 2, -1}, {unix.SYS_FCHMODAT2, 2, -1},
	{unix.SYS_OPENAT, 3, 2}, {unix.SYS_MKNODAT, 2, -1}, {unix.SYS_MKDIRAT, 2, -1},
}

// The offsets of the data that a filter reads.
const (
	callOffset      = 0
	machineOffset   = 4
	argumentsOffset = 16
)

// filter is a program for the system that decides about each call of a command. It refuses calls
// that are numbered as on another machine, as old 32-bit programs number them.
type filter []unix.SockFilter

func (f *filter) add(code uint16, k uint32, then, otherwise uint8) {
	*f = append(*f, unix.SockFilter{Code: code, K: k, Jt: then, Jf: otherwise})
}

func (f *filter) load(offset uint32) { f.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }

// argument loads the lower half of an argument, which holds all bits that are tested.
func (f *filter) argument(n int) { f.load(argumentsOffset + 8*uint32(n)) }

func (f *filter) answer(with uint32) { f.add(unix.BPF_RET|unix.BPF_K, with, 0, 0) }

func (f *filter) refuse(err unix.Errno) { f.answer(unix.SECCOMP_RET_ERRNO | uint32(err)) }

const (
	jumpEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	jumpSet   = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
)

// newFilter returns the filter for the calls of this machine.
func newFilter() filter {
	var f filter
	f.load(machineOffset)
	f.add(jumpEqual, machine, 1, 0)
	f.refuse(unix.ENOSYS)
	f.load(callOffset)
	f.add(jumpSet, otherNumbers, 0, 1)
	f.refuse(unix.ENOSYS)
	for _, call := range append(refusedCalls[:], alsoRefused...) {
		f.add(jumpEqual, uint32(call), 0, 1)
		f.refuse(unix.ENOSYS)
	}
	f.add(jumpEqual, unix.SYS_SOCKET, 0, 3+uint8(len(socketFamilies)))
	f.argument(0)
	for n, family := range socketFamilies {
		f.add(jumpEqual, family, uint8(len(socketFamilies)-n), 0)
	}
	f.refuse(unix.EAFNOSUPPORT)
	f.answer(unix.SECCOMP_RET_ALLOW)
	f.add(jumpEqual, unix.SYS_IOCTL, 0, 5)
	f.argument(1)
	f.add(jumpEqual, unix.TIOCSTI, 1, 0) // puts characters into the input of whoever has the terminal
	f.add(jumpEqual, unix.TIOCLINUX, 0, 1)
	f.refuse(unix.EPERM)
	f.answer(unix.SECCOMP_RET_ALLOW)
	for _, c := range append(modeCalls[:], alsoModeCalls...) {
		f.modes(c)
	}
	f.answer(unix.SECCOMP_RET_ALLOW)
	return f
}

// modes refuses a call that makes a file with the bits of takesRights.
func (f *filter) modes(c modeCall) {
	if c.flags < 0 {
		f.add(jumpEqual, uint32(c.call), 0, 4)
	} else {
		f.add(jumpEqual, uint32(c.call), 0, 6)
		f.argument(c.flags)
		f.add(jumpSet, unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY, 0, 3)
	}
	f.argument(c.mode)
	f.add(jumpSet, takesRights, 0, 1)
	f.refuse(unix.EPERM)
	f.answer(unix.SECCOMP_RET_ALLOW)
}

// filterCalls makes the system refuse the calls of newFilter for this thread and for everything
// that it starts.
func filterCalls() error {
	if machine == 0 {
		return nil // the other fences hold without it
	}
	f := newFilter()
	program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
	if errors.Is(err, unix.EINVAL) {
		return nil // the system has no such filter
	}
	if err != nil {
		return fmt.Errorf("filter the command's calls: %w", err)
	}
	return nil
}
