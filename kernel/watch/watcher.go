package watch

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Watcher is what the watches of one program share: one instance of the system's service, of which a person
// has few for all programs. The zero value is ready. It is safe for many goroutines.
type Watcher struct {
	mu     sync.Mutex
	system *fsnotify.Watcher // nil while nobody watches
	done   chan struct{}     // closed when the goroutine of system has ended
	all    map[*subscription]bool
}

// Probe reports why the system watches no files for this program, nil if it does.
func Probe() error {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	return system.Close()
}

// subscription is what one watch is told of.
type subscription struct {
	watcher  *Watcher
	concerns func(path string) bool
	changed  chan struct{} // has a value when a file that concerns it has changed
	faults   chan error    // has a value when changes may have been missed

	// The watcher's mutex guards what follows.
	real  map[string]string   // the real path of each directory
	names map[string][]string // the directories of each real path
}

// subscribe adds a watch without directories. The caller closes the subscription.
func (w *Watcher) subscribe(concerns func(path string) bool) (*subscription, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.system == nil {
		system, err := fsnotify.NewWatcher()
		if err != nil {
			return nil, err
		}
		w.system, w.done, w.all = system, make(chan struct{}), map[*subscription]bool{}
		go w.deliver(system, w.done) // ends with system; the last subscription waits for it
	}
	s := &subscription{watcher: w, concerns: concerns, changed: make(chan struct{}, 1), faults: make(chan error, 1), real: map[string]string{}, names: map[string][]string{}}
	w.all[s] = true
	return s, nil
}

// deliver tells each subscription of its changes. It waits for none of them.
func (w *Watcher) deliver(system *fsnotify.Watcher, done chan struct{}) {
	defer close(done)
	for {
		select {
		case event, open := <-system.Events:
			if !open {
				return
			}
			for _, s := range w.subscriptions() {
				s.tell(event.Name)
			}
		case err, open := <-system.Errors:
			if !open {
				return
			}
			for _, s := range w.subscriptions() {
				select {
				case s.faults <- err:
				default: // it has not heard of the one before yet
				}
			}
		}
	}
}

func (w *Watcher) subscriptions() []*subscription {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]*subscription, 0, len(w.all))
	for s := range w.all {
		all = append(all, s)
	}
	return all
}

// tell notes a change of a file, by its path below a real directory, or of such a directory itself.
func (s *subscription) tell(path string) {
	s.watcher.mu.Lock()
	known := append([]string{}, s.names[path]...)
	for _, directory := range s.names[filepath.Dir(path)] {
		known = append(known, filepath.Join(directory, filepath.Base(path)))
	}
	s.watcher.mu.Unlock()
	for _, name := range known {
		if s.concerns(name) {
			select {
			case s.changed <- struct{}{}:
			default: // it has not looked yet
			}
			return
		}
	}
}

// add watches a directory, which may be watched already.
func (s *subscription) add(directory string) error {
	s.watcher.mu.Lock()
	defer s.watcher.mu.Unlock()
	real, known := s.real[directory]
	if known && s.watcher.system.Add(real) == nil {
		return nil
	}
	real, err := filepath.EvalSymlinks(directory)
	if err == nil {
		err = s.watcher.system.Add(real)
	}
	if err != nil {
		s.forget(directory)
		return err
	}
	if s.real[directory] != real {
		s.forget(directory)
		s.real[directory] = real
		s.names[real] = append(s.names[real], directory)
	}
	return nil
}

// keep watches no directory but the wanted ones any more.
func (s *subscription) keep(wanted map[string]bool) {
	s.watcher.mu.Lock()
	defer s.watcher.mu.Unlock()
	for directory := range s.real {
		if !wanted[directory] {
			s.forget(directory)
		}
	}
}

// forget stops watching a directory. The caller holds the watcher's mutex.
func (s *subscription) forget(directory string) {
	real, known := s.real[directory]
	if !known {
		return
	}
	delete(s.real, directory)
	var left []string
	for _, other := range s.names[real] {
		if other != directory {
			left = append(left, other)
		}
	}
	if s.names[real] = left; left != nil {
		return
	}
	delete(s.names, real)
	for other := range s.watcher.all {
		if other.names[real] != nil {
			return
		}
	}
	_ = s.watcher.system.Remove(real) // it may have been deleted meanwhile
}

// close ends the subscription, and the system's instance with the last one.
func (s *subscription) close() error {
	w := s.watcher
	w.mu.Lock()
	for directory := range s.real {
		s.forget(directory)
	}
	delete(w.all, s)
	if len(w.all) > 0 {
		w.mu.Unlock()
		return nil
	}
	system, done := w.system, w.done
	w.system = nil
	w.mu.Unlock()
	err := system.Close()
	<-done
	if err != nil {
		return errors.Join(fmt.Errorf("end the watch: %w", err))
	}
	return nil
}
