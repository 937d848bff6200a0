//go:build linux

package harness

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Cores are one for the servers and one for the load.
func Cores() (server, load int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0, 0, fmt.Errorf("reading which cores there are: %w", err)
	}
	if set.Count() < 2 {
		return 0, 0, errors.New("expected two cores, one for the server and one for the load")
	}
	var found []int
	for i := 0; len(found) < 2; i++ {
		if set.IsSet(i) {
			found = append(found, i)
		}
	}
	return found[0], found[1], nil
}

// Pin moves this process, and what it starts, to one core.
func Pin(core int) error {
	var set unix.CPUSet
	set.Set(core)
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, task := range tasks {
		id, err := strconv.Atoi(task.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetaffinity(id, &set); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("moving to core %d: %w", core, err)
		}
	}
	return nil
}
