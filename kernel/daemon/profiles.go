package daemon

import (
	"errors"

	"org-agent/kernel/memory"
	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
)

// profile is the profile of that name as it is now. Its error names the one that was
// probably meant, or says what is wrong with the file.
func (d *daemon) profile(name string) (memory.Profile, error) {
	profile, err := d.home.Profile(name)
	if !errors.Is(err, memory.ErrNoProfile) {
		if err != nil {
			err = protocol.Errorf(protocol.CodeInvalidParams, "%w", err)
		}
		return profile, err
	}
	names, _ := d.home.Profiles()
	if near := suggest.Of(name, names); near != "" {
		return profile, protocol.Errorf(protocol.CodeNotFound, "there is no profile %q: did you mean %q?", name, near)
	}
	return profile, protocol.Errorf(protocol.CodeNotFound, "there is no profile %q: it would be the file profiles/%s.org in the home", name, name)
}

// personaWith is what the files of the home and a profile say now; the profile "" is none.
func (d *daemon) personaWith(name string) (memory.Persona, error) {
	persona := d.persona()
	if name == "" {
		return persona, nil
	}
	profile, err := d.profile(name)
	d.lookAtProfiles()
	if err != nil {
		return persona, err
	}
	return persona.With(profile), nil
}

// lookAtProfiles tells once what is wrong with the files of profiles.
func (d *daemon) lookAtProfiles() {
	_, found := d.home.Profiles()
	var told []string
	for _, fault := range found {
		told = append(told, fault.Error())
	}
	d.faults.tell(d, "profiles", told)
}
