package skill

import (
	"bytes"
	_ "embed"
	"fmt"
	"regexp"
)

//go:embed template.org
var template []byte

var skillName = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Template returns a new note that defines a skill with that name and passes its own tests. A name
// has lower-case letters, digits and single hyphens between them.
func Template(name string) ([]byte, error) {
	if !skillName.MatchString(name) || len(name) > 40 {
		return nil, fmt.Errorf("%q cannot name a skill: use small letters, digits and hyphens, such as daily-review", name)
	}
	return bytes.ReplaceAll(template, []byte("NAME"), []byte(name)), nil
}
