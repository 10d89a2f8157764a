package sandbox

import (
	"errors"
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	landlocksyscall "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// fence shuts this process in, for good.
func (t *task) fence() error {
	if t.Kind.Fenced() {
		if err := t.enclose(); err != nil {
			return err
		}
	} else if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become the parent of what the command leaves behind: %w", err)
	}
	// A key ring of the person's session would be inherited. Where there are none, there is
	// nothing to leave.
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
	// Nothing that runs in here looks into this process.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("close the warden to others: %w", err)
	}
	if t.Kind.Fenced() {
		return filterCalls()
	}
	return nil
}

// enclose builds what the command sees of the machine.
func (t *task) enclose() error {
	if err := t.mountRoot(); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte("sandbox")); err != nil {
		return fmt.Errorf("name the machine: %w", err)
	}
	if !t.Network {
		return loopback()
	}
	return nil
}

// loopback switches on the one network interface that a namespace begins with, by which
// programs in it reach each other and nothing else.
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

// limits are what the command may use, each of its processes by itself but for their number,
// which is that of all processes of the user here.
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
			now.Cur = min(now.Max, 1024) // what programs expect that count on their fingers
		}
		if err := unix.Setrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("limit %s: %w", l.name, err)
		}
	}
	return nil
}

// landlockLevel is the version of Landlock that the system has, 0 for none.
func landlockLevel() int {
	level, err := landlocksyscall.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return level
}

// landlock is the second fence, around the files that the first one shows: a program that finds
// a way around what is mounted has still nothing that was not granted. Where the system can,
// it also keeps signals and sockets within.
func (t *task) landlock() error {
	devices := []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"}
	var own, all []string
	if t.Kind == Whole {
		own, all = []string{"/tmp", t.Home, "/dev/shm", "/dev/pts"}, []string{"/"}
	} else {
		own, all = []string{t.Scratch}, append(append(append([]string{"/proc", "/dev/pts"}, system[:]...), "/var/lib", "/sys"), t.Shown...)
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
	// Its rules for the network are left out: they see neither UDP nor MPTCP.
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

// dropCapabilities gives up every right over the namespaces, for this thread and what it starts.
func dropCapabilities() error {
	for capability := uintptr(0); capability < 64; capability++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
			break // there are no more, or it has none
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

// oblige makes the system end this process, and with it the command, before any other when
// memory is short.
func oblige() error {
	if err := os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0); err != nil {
		return fmt.Errorf("be the first to go when memory is short: %w", err)
	}
	return nil
}
