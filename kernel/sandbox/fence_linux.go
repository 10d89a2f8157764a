package sandbox

import (
	"errors"
	"fmt"
	"net/netip"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	landlocksyscall "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// fence restricts this process for good.
func (t *task) fence() error {
	if t.Kind.Fenced() {
		if err := t.enclose(); err != nil {
			return err
		}
	} else if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the parent of what the command leaves behind: %w", err)
	}
	// Otherwise the command would inherit the key ring of the person's session. An error means that
	// the system has no key rings.
	_, _ = unix.KeyctlJoinSessionKeyring("")
	if err := limit(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if t.Kind == Whole || t.Kind == Landlock {
		if err := t.landlock(); err != nil {
			return err
		}
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	// No process in the fence may trace this one.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close the warden to others: %w", err)
	}
	if t.Kind.Fenced() {
		return filterCalls()
	}
	return nil
}

// enclose builds the command's view of the machine.
func (t *task) enclose() error {
	if err := t.mountRoot(); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte("sandbox")); err != nil {
		return fmt.Errorf("name the machine: %w", err)
	}
	if err := loopback(); err != nil {
		return err
	}
	if t.Network {
		return handOut()
	}
	return nil
}

// handOut listens in the command's network and hands the listener to the program that started this one,
// which answers there from its own network.
func handOut() error {
	fail := func(err error) error { return fmt.Errorf("make a way out of the command's network: %w", err) }
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fail(err)
	}
	defer unix.Close(socket)
	address, err := netip.ParseAddrPort(ProxyAddress)
	if err != nil {
		return fail(err)
	}
	if err := unix.Bind(socket, &unix.SockaddrInet4{Port: int(address.Port()), Addr: address.Addr().As4()}); err != nil {
		return fail(err)
	}
	if err := unix.Listen(socket, 128); err != nil {
		return fail(err)
	}
	if err := unix.Sendmsg(networkFile, []byte{0}, unix.UnixRights(socket), nil, 0); err != nil {
		return fail(err)
	}
	return unix.Close(networkFile)
}

// loopback switches on the only network interface of the new namespace. Programs in it reach each
// other through it, and nothing else.
func loopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("switch on the loopback interface: %w", err)
	}
	defer unix.Close(socket)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("switch on the loopback interface: %w", err)
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("switch on the loopback interface: %w", err)
	}
	return nil
}

// limits are the resource limits of each process of the command. The number of processes counts all
// processes of the user in the namespace.
var limits = [...]struct {
	resource int
	name     string
	most     uint64
}{
	{unix.RLIMIT_CORE, "core files", 0},
	{unix.RLIMIT_NOFILE, "open files", 8192},
	{unix.RLIMIT_NPROC, "processes", 4096},
	{unix.RLIMIT_FSIZE, "a file's size", 8 << 30},
}

func limit() error {
	for _, l := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("limit %s: %w", l.name, err)
		}
		now.Max = min(now.Max, l.most)
		now.Cur = min(now.Cur, now.Max)
		if l.resource == unix.RLIMIT_NOFILE {
			now.Cur = min(now.Max, 1024) // some programs go through all file descriptors up to this number
		}
		if err := unix.Setrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("limit %s: %w", l.name, err)
		}
	}
	return nil
}

// landlockLevel returns the system's version of Landlock, or 0 if it has none.
func landlockLevel() int {
	level, err := landlocksyscall.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return level
}

// landlock makes the second fence, around the files that the first one shows. A program that finds
// a way around the mounts still reaches nothing that was not granted. Where the system supports it,
// signals and sockets are restricted too.
func (t *task) landlock() error {
	devices := []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"}
	var own, all []string
	if t.Kind == Whole {
		own, all = []string{"/tmp", t.Home, "/dev/shm", "/dev/pts"}, []string{"/"}
	} else {
		own, all = []string{t.Scratch}, append(append(append([]string{"/proc", "/dev/pts"}, systemDirectories[:]...), "/var/lib", "/sys"), t.Shown...)
	}
	if t.Directory != "" && t.Writes {
		own = append(own, t.Directory)
	} else if t.Directory != "" {
		all = append(all, t.Directory)
	}
	changed := landlock.RWDirs(own...)
	if t.LandlockLevel > 1 {
		changed = changed.WithRefer()
	}
	// Landlock's rules for the network are left out, because they cover neither UDP nor MPTCP.
	rules := landlock.V9.BestEffort()
	err := errors.Join(rules.RestrictPaths(
		landlock.RODirs(all...).IgnoreIfMissing(),
		changed.WithIoctlDev(),
		landlock.RWFiles(devices...).WithIoctlDev().IgnoreIfMissing(),
	), rules.RestrictScoped())
	if err != nil {
		return fmt.Errorf("shut the command in with Landlock: %w", err)
	}
	return nil
}

// dropCapabilities gives up every capability, for this thread and all that it starts.
func dropCapabilities() error {
	for capability := uintptr(0); capability < 64; capability++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
			break // there are no more, or this process has none
		}
		if err != nil {
			return fmt.Errorf("give up capabilities: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}

// preferForOutOfMemory makes the system end this process first, and the command with it, when
// memory is short.
func preferForOutOfMemory() error {
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err != nil {
		return fmt.Errorf("be the first to go when memory is short: %w", err)
	}
	return nil
}
