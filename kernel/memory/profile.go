package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"org-agent/kernel/org"
	"org-agent/kernel/withheld"
)

// Profile is a file of the directory "profiles" in a home, at its last good reading. It is another
// persona. If it has no heading for a role, the file of the home counts.
type Profile struct {
	Name string
	Path string
	// Style is its text before the first heading: how to answer.
	Style string
	Files []File // its headings, which are roles, in the order of [profileRoles]
	// Fault is the file's fault while its earlier version is used, or nil.
	Fault *Fault
}

// profileRoles returns the headings that a profile may have. The other roles, such as memory and
// the times at which the agent wakes, are the same with every profile.
func profileRoles() []string { return []string{"IDENTITY", "SOUL", "USER", "TOOLS", "WORKSPACE"} }

const (
	profileNameLimit = 64       // bytes
	styleLimit       = 64 << 10 // bytes; it is never cut
	profilesLimit    = 1000     // maximum number of listed profiles
)

// checkProfileName returns an error for an invalid name of a profile. A name is never a path.
func checkProfileName(name string) error {
	if name == "" || len(name) > profileNameLimit || strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}) {
		return fmt.Errorf("%.80q cannot be the name of a profile: it is one word of letters, digits, - and _, of at most %d bytes", name, profileNameLimit)
	}
	return nil
}

// ErrNoProfile is the error for a profile whose file does not exist.
var ErrNoProfile = errors.New("there is no such profile")

// Profile returns the profile with that name. It fails with [ErrNoProfile] if it has no file, and
// with another error if the file never had a good reading.
func (h *Home) Profile(name string) (Profile, error) {
	if err := checkProfileName(name); err != nil {
		return Profile{}, err
	}
	path := filepath.Join(h.Directory, profilesDirectory, name+".org")
	h.mu.Lock()
	defer h.mu.Unlock()
	r, there := h.read(path, readProfile)
	switch {
	case !there:
		return Profile{}, ErrNoProfile
	case !r.good:
		return Profile{}, faultOf(path, r.fault)
	}
	profile := Profile{Name: name, Path: path, Style: r.file.Text, Files: r.file.roles}
	if r.fault != "" {
		fault := faultOf(path, r.fault)
		profile.Fault = &fault
	}
	return profile, nil
}

// faultOf returns the fault of a reading. A line number at its beginning is appended to the path.
func faultOf(path, text string) Fault {
	if behind, is := strings.CutPrefix(text, "line "); is {
		if line, message, both := strings.Cut(behind, ": "); both {
			return Fault{path + ":" + line, message}
		}
	}
	return Fault{path, text}
}

// Profiles returns the names of the profiles that have a file, in order, and the faults of the files.
// It reads at most 1,000 files.
func (h *Home) Profiles() (names []string, faults []Fault) {
	directory := filepath.Join(h.Directory, profilesDirectory)
	entries, err := os.ReadDir(directory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, []Fault{{directory, fmt.Sprintf("it cannot be read: %v", err)}}
	}
	for _, entry := range entries {
		name, is := strings.CutSuffix(entry.Name(), ".org")
		if !is || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "#") { // these are files of editors
			continue
		}
		if len(names) == profilesLimit {
			faults = append(faults, Fault{directory, fmt.Sprintf("it has more than %d profiles; only those are looked at", profilesLimit)})
			break
		}
		path := filepath.Join(directory, entry.Name())
		profile, err := h.Profile(name)
		fault, known := errors.AsType[Fault](err)
		switch {
		case errors.Is(err, ErrNoProfile): // it was deleted meanwhile, or is a link to nothing
			continue
		case known:
			faults = append(faults, fault)
		case err != nil:
			faults = append(faults, Fault{path, err.Error()})
			continue
		case profile.Fault != nil:
			faults = append(faults, *profile.Fault)
		}
		names = append(names, name)
	}
	return names, faults
}

// With returns the persona with a profile set.
func (p Persona) With(profile Profile) Persona {
	var files []File
	for _, role := range Roles() {
		file := p.File(role)
		if i := slices.IndexFunc(profile.Files, func(f File) bool { return f.Role == role }); i >= 0 {
			file = profile.Files[i]
		}
		if file.Role != "" {
			files = append(files, file)
		}
	}
	p.Files, p.Style = files, profile.Style
	return p
}

// profilesDirectory is the directory of the profiles in a home.
const profilesDirectory = "profiles"

// readProfile reads a whole profile. Its Text is the text before the first heading.
func readProfile(path string) (File, error) {
	file, text, err := readText(path)
	if err != nil {
		return File{}, err
	}
	for i, line := range strings.Split(text, "\n") {
		if secretLine.MatchString(line) {
			return File{}, fmt.Errorf("line %d: it looks like a key or a password, and those do not belong into a profile: config.org says where a key is, as env:NAME", i+1)
		}
	}
	d := org.Parse(text)
	first := len(text)
	if len(d.Headings) > 0 {
		first = d.Headings[0].Start
	}
	judgement := withheld.Org(path, text)
	file.related = judgement.Stamps()
	if judgement.At(0) == withheld.Shown {
		shown, _ := pieces(text[:first], withheld.Judgement{})
		file.Text = File{pieces: shown}.Within("", true)
	}
	if len(file.Text) > styleLimit {
		return File{}, fmt.Errorf("the text before its first heading has %d bytes, more than the %d that it can", len(file.Text), styleLimit)
	}
	lines := map[string]int{}
	for _, h := range d.Headings {
		if h.Level > 1 && h.Parent != nil || h.Hidden() {
			continue
		}
		role := strings.ToUpper(h.Title)
		if !slices.Contains(profileRoles(), role) {
			return File{}, fmt.Errorf("line %d: there is no place for the heading %.80q: the headings of a profile are %s", h.Line, h.Title, strings.Join(profileRoles(), ", "))
		}
		if lines[role] > 0 {
			return File{}, fmt.Errorf("line %d: the heading %s is in line %d already", h.Line, role, lines[role])
		}
		lines[role] = h.Line
		if judgement.At(h.Start) == withheld.Shown {
			file.roles = append(file.roles, roleOf(file, d, h, text))
		}
	}
	file.roles = slices.DeleteFunc(file.roles, func(f File) bool { return len(f.pieces) == 0 }) // about these roles the profile says nothing
	return file, nil
}

// roleOf returns the part of a profile below a heading, as if it were a file of its own.
func roleOf(profile File, d *org.Document, h *org.Heading, text string) File {
	var own strings.Builder
	from := min(h.Body, h.End)
	for _, below := range d.Headings {
		if below.Start >= h.Body && below.Start < h.End {
			own.WriteString(text[from:below.Start])
			from = below.Start + 1 // one level less
		}
	}
	own.WriteString(text[from:h.End])
	file := File{Role: strings.ToUpper(h.Title), Path: profile.Path + "::*" + h.Title, Size: h.End - h.Start, Hash: profile.Hash}
	var raw string
	file.pieces, raw = pieces(own.String(), withheld.Org(profile.Path, own.String()))
	scope, _ := h.Property(propertyScope)
	for i := range file.pieces {
		if file.pieces[i].scope == "" {
			file.pieces[i].scope = strings.TrimSpace(scope)
		}
	}
	if strings.TrimSpace(scope) == "" {
		file.Fields = fields(raw)
	}
	file.Text = file.Within("", true)
	return file
}

// secretLine matches a line that sets a key or a password, or that has a text in the form of the
// keys of a well-known server.
var secretLine = regexp.MustCompile(`(?i)(^|[^a-z])((api|secret|access|private|auth|bearer|client)[ _-]?(key|token|secret)|token|password|passwd|passphrase)\+?\s*["']?\s*(::?|=|\|)\s*\S|^\s*:key\+?:` +
	`|\b(sk|pk|rk)-[a-z0-9_-]{16,}|\b(gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|hf_|gsk_)[a-z0-9_-]{16,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[0-9a-z_-]{30,}` +
	`|-----BEGIN [A-Z ]*PRIVATE KEY-----|\bbearer\s+[a-z0-9._~+/-]{20,}|://[^/\s:@]+:[^/\s@]+@`)
