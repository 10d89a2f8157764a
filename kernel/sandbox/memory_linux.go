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

// memoryInterval is how often the memory of a command's processes is summed.
const memoryInterval = 250 * time.Millisecond

// memoryLimit returns how many bytes of memory a command may use, by default half of the machine's.
// No single process can allocate more. Their sum is checked repeatedly, because on most machines
// this program may not make a control group, by which the system would bound the sum.
func (t *task) memoryLimit() (uint64, error) {
	if t.Memory > 0 {
		return t.Memory, nil
	}
	var machine unix.Sysinfo_t
	if err := unix.Sysinfo(&machine); err != nil {
		return 0, fmt.Errorf("limit memory: %w", err)
	}
	return uint64(machine.Totalram) * uint64(machine.Unit) / 2, nil
}

// limitMemory bounds the data of each process of the command. It applies the bound to the command
// only, because this process needs more address space.
func limitMemory(pid int, most uint64) error {
	err := unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: most, Max: most}, nil)
	if err != nil && !errors.Is(err, unix.ESRCH) && !errors.Is(err, unix.EPERM) { // it has ended, or has a lower limit
		return fmt.Errorf("limit memory: %w", err)
	}
	return nil
}

// exceeds reports whether the command's processes use more memory than they may. The thread that
// started the command must call it: Landlock lets no other thread read their state.
func (w *warden) exceeds(most uint64) bool {
	pids := w.processes()
	return memoryOf(pids, "statm") > most && memoryOf(pids, "smaps_rollup") > most
}

// memoryOf sums the memory of processes, from statm or smaps_rollup. statm is quick and counts
// shared memory once for each process. smaps_rollup counts it once.
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

// processes returns the processes of the command.
func (w *warden) processes() []int {
	if !w.task.Kind.Fenced() {
		return descendants()
	}
	var pids []int
	entries, _ := os.ReadDir("/proc") // those of its namespace
	for _, entry := range entries {
		if pid, err := strconv.Atoi(entry.Name()); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}
