package config_test

import (
	"fmt"
	"os"
	"testing"

	"org-agent/kernel/config"
)

// TestOneKernelOfNothing: where the state directory and the home are gone and were made anew, the kernel
// that was there first still has the home. Only Linux has names that are in no directory.
func TestOneKernelOfNothing(t *testing.T) {
	t.Parallel()
	p := instance(t)
	must(t, p.Ensure())
	lock, err := config.LockInstance(p)
	must(t, err)
	must(t, os.RemoveAll(p.State))
	must(t, os.RemoveAll(p.Home))
	must(t, p.Ensure())
	_, err = config.LockInstance(p)
	wantError(t, err, "runs for "+p.Home, fmt.Sprintf("process %d", os.Getpid()))
	must(t, lock.Release())
	lock, err = config.LockInstance(p)
	must(t, err)
	must(t, lock.Release())
}
