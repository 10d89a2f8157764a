package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// try does one thing by which a program tries to leave a fence with system calls, and returns why
// it could not.
func try(kind, object string) error {
	number, _ := strconv.Atoi(object)
	switch kind {
	case "socket":
		fd, err := unix.Socket(number, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	case "raw":
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	case "enter":
		fd, err := unix.Open(object, unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		return unix.Setns(fd, 0)
	case "peek":
		local := make([]byte, 8)
		_, err := unix.ProcessVMReadv(number, []unix.Iovec{{Base: &local[0], Len: 8}}, []unix.RemoteIovec{{Base: 0x400000, Len: 8}}, 0)
		return err
	case "key":
		_, err := unix.AddKey("user", object, []byte("x"), unix.KEY_SPEC_USER_KEYRING)
		return err
	case "ring":
		return ring()
	case "memory":
		_, err := unix.Mmap(-1, 0, 1<<45, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		return err
	case "shared":
		_, err := unix.SysvShmGet(number, 0, 0)
		return err
	case "type":
		return typeInto(object)
	case "memfd":
		return fromMemory(object)
	case "handle":
		handle, mount, err := unix.NameToHandleAt(unix.AT_FDCWD, object, 0)
		if err != nil {
			return err
		}
		_, err = unix.OpenByHandleAt(mount, handle, unix.O_RDONLY)
		return err
	case "setuid":
		if err := unix.Chmod(object, 0o4755); err != nil {
			return err
		}
		return nil
	case "setuid-made":
		fd, err := unix.Open(object, unix.O_CREAT|unix.O_WRONLY, 0o6755)
		if err != nil {
			return err
		}
		return unix.Close(fd)
	case "owner":
		return os.Chown(object, 12345, 12345)
	case "name":
		return unix.Sethostname([]byte("mine"))
	case "clock":
		now := unix.NsecToTimeval(time.Now().UnixNano())
		return unix.Settimeofday(&now)
	case "program":
		_, _, errno := unix.Syscall(unix.SYS_BPF, 0, 0, 0)
		return refusedBy(errno)
	case "fault":
		_, _, errno := unix.Syscall(unix.SYS_USERFAULTFD, 1, 0, 0) // of the user's own memory
		return refusedBy(errno)
	case "watch":
		_, _, errno := unix.Syscall6(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0, 0, 0)
		return refusedBy(errno)
	case "tree":
		_, err := unix.OpenTree(unix.AT_FDCWD, object, unix.OPEN_TREE_CLONE)
		return err
	case "filesystem":
		_, err := unix.Fsopen("tmpfs", 0)
		return err
	case "pivot":
		return unix.PivotRoot(object, object)
	}
	return errors.New("nobody knows how")
}

// refusedBy returns the error of a call whose arguments are senseless. Only an error that says that
// there is no such call, or that it is not allowed, is a refusal.
func refusedBy(errno unix.Errno) error {
	if errno == unix.ENOSYS || errno == unix.EPERM || errno == unix.EACCES {
		return errno
	}
	return nil
}

// ring asks for a ring buffer whose requests only the system sees.
func ring() error {
	var parameters [120]byte
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 4, uintptr(unsafe.Pointer(&parameters)), 0)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

// typeInto types a letter into a terminal.
func typeInto(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	letter := byte('x')
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, file.Fd(), unix.TIOCSTI, uintptr(unsafe.Pointer(&letter)))
	if errno != 0 {
		return errno
	}
	return nil
}

// fromMemory makes a program that is in no file read a file.
func fromMemory(object string) error {
	fd, err := unix.MemfdCreate("cat", 0)
	if err != nil {
		return err
	}
	program, err := os.ReadFile("/bin/cat")
	if err != nil {
		return err
	}
	if _, err := unix.Write(fd, program); err != nil {
		return err
	}
	output, err := exec.Command(fmt.Sprintf("/proc/self/fd/%d", fd), object).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s, %w", output, err)
	}
	fmt.Print(string(output))
	return nil
}
