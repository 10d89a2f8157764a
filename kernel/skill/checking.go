package skill

import (
	"context"
	"path/filepath"
	"slices"
)

// CheckFiles returns the status that each of the notes would have in a kernel of this home, if the files
// were among its notes: with its tests, its dependencies, and what other notes already define. A file
// takes the place of a note of the home with the same name. Beside what the kernel says, the diagnostics
// have warnings of what is probably not meant. The statuses are in the order of the files.
func CheckFiles(ctx context.Context, config Config, files []string) []Status {
	r := New(config)
	for _, file := range files {
		r.checked = append(r.checked, checkedOrigin(file))
	}
	of := map[string]Status{}
	for _, s := range r.Load(ctx) {
		if slot := r.slots[s.File]; slot != nil {
			s.Diagnostics = limited(append(s.Diagnostics, slot.newest.surprises...))
		}
		of[s.File] = s
	}
	var statuses []Status
	for _, file := range files {
		s, found := of[filepath.Clean(file)]
		if !found { // the directory of the file is gone
			s = Status{File: file, State: Failed}
		}
		statuses = append(statuses, s)
	}
	return statuses
}

// checkedOrigin returns the origin of one note that is checked.
func checkedOrigin(file string) origin {
	o := homeOrigin(filepath.Dir(file))
	o.only = filepath.Base(file)
	return o
}

// withoutChecked drops the names of the home's notes that checked notes take the place of.
func (r *Registry) withoutChecked(o origin, names []string) []string {
	if o.shipped || o.only != "" || len(r.checked) == 0 {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return slices.ContainsFunc(r.checked, func(c origin) bool { return c.only == name })
	})
}
