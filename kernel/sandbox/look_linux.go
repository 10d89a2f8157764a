package sandbox

import (
	"context"
	"os"
)

// Look says what a fence can be made of here, by making one. Why is what is in the way of a
// whole one.
func Look(ctx context.Context) (kind Kind, why error) {
	level := landlockLevel()
	kinds := []Kind{Namespaces, None}
	if level >= scopingLevel {
		kinds = []Kind{Whole, Landlock, None}
	} else if level > 0 {
		kinds = []Kind{Namespaces, Landlock, None}
	}
	for _, kind := range kinds {
		if err := try(ctx, kind, level); err == nil {
			return kind, why
		} else if why == nil {
			why = err
		}
	}
	return None, why
}

// scopingLevel is the version of Landlock from which on it keeps a command from sockets without
// a file, which are the network's.
const scopingLevel = 6

// try runs a command that does nothing.
func try(ctx context.Context, kind Kind, level int) error {
	t := Command{Home: os.Getenv("HOME")}.task(kind)
	t.LandlockLevel, t.Text = level, ":"
	p, err := start(ctx, t, nil, nil, nil)
	if err != nil {
		return err
	}
	_, err = p.Wait()
	return err
}
