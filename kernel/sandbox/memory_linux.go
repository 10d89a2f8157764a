package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// memoryLook is how often the memory of a command's processes is added up.
const memoryLook = 250 * time.Millisecond

// mostMemory is what a command may use, half of the machine's if nothing is said. Each of its
// processes may not even ask for more; what they have together is looked at, again and again:
// a group that the system bounds by itself is not ours to make on most machines.
func (t *task) mostMemory() (uint64, error) {
	if t.Memory > 0 {
		return t.Memory, nil
	}
	var machine unix.Sysinfo_t
	if err := unix.Sysinfo(&machine); err != nil {
		return 0, fmt.Errorf("limit memory: %w", err)
	}
	return uint64(machine.Totalram) * uint64(machine.Unit) / 2, nil
}

// limitMemory bounds the data of each process of the command. It is done to the command and not
// before, as this process has an appetite of its own.
func limitMemory(pid int, most uint64) error {
	err := unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}, nil)
	if err != nil && !errors.Is(err, unix.ESRCH) && !errors.Is(err, unix.EPERM) { // it has ended, or has a lower limit
		return fmt.Errorf("limit memory: %w", err)
	}
	return nil
}

// exceeds reports whether the command's processes have more memory than they may. It is asked by
// the thread that started the command: Landlock lets no other look into it.
func (w *warden) exceeds(most uint64) bool {
	pids := w.processes()
	return memoryOf(pids, "statm") > most && memoryOf(pids, "smaps_rollup") > most
}

// memoryOf adds up the memory of processes: quickly as statm tells it, in which what several
// share counts for each, or as smaps_rollup does, in which it counts once.
func memoryOf(pids []int, file string) uint64 {
	total := uint64(0)
	for _, pid := range pids {
		text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + file)
		if err != nil {
			continue // it has ended
		}
		if file == "statm" {
			if fields := strings.Fields(string(text)); len(fields) > 1 {
				pages, _ := strconv.ParseUint(fields[1], 10, 64)
				total += pages * uint64(os.Getpagesize())
			}
			continue
		}
		for line := range strings.Lines(string(text)) {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Pss:" {
				kilobytes, _ := strconv.ParseUint(fields[1], 10, 64)
				total += kilobytes << 10
			}
		}
	}
	return total
}

// processes are those of the command.
func (w *warden) processes() []int {
	if !w.task.Kind.Fenced() {
		return descendants()
	}
	var pids []int
	entries, _ := os.ReadDir("/proc") // its namespace's
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}
