package sandbox

import (
	"context"
	"os"
)

// Probe returns the best kind of fence that can be made here, by making one. why is the reason why
// it is not [Whole], or nil if it is.
func Probe(ctx context.Context) (kind Kind, why error) {
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

// scopingLevel is the first version of Landlock that restricts sockets without a file. Such sockets
// belong to the network namespace.
const scopingLevel = 6

// try runs a command that does nothing.
func try(ctx context.Context, kind Kind, level int) error {
	t := Command{Home: os.Getenv("HOME")}.task(kind)
	t.LandlockLevel, t.Text = level, ":"
	p := &Process{kind: kind}
	if err := p.start(ctx, t, nil, nil, nil); err != nil {
		return err
	}
	_, err := p.Wait()
	return err
}
