package contacts

import (
	"slices"

	"org-agent/kernel/protocol"
)

// Merge adds the entries of the person's own address books to contacts. An entry that has the name of a contact, or one of
// its aliases, is that contact; what of it a channel knows by another address is told with it.
func Merge(all []Contact, theirs []protocol.EmacsContact) []Contact {
	all = slices.Clone(all)
	for _, entry := range theirs {
		var addresses []Address
		for _, of := range entry.Phones {
			addresses = append(addresses, Address{Channel: "phone", Person: of})
		}
		for _, of := range entry.Emails {
			addresses = append(addresses, Address{Channel: "email", Person: of})
		}
		same := func(c Contact) bool {
			return Fold(c.Name) == Fold(entry.Name) || slices.ContainsFunc(c.Aliases, func(alias string) bool { return Fold(alias) == Fold(entry.Name) })
		}
		if at := slices.IndexFunc(all, same); at >= 0 && !slices.ContainsFunc(all[at+1:], same) {
			c := all[at]
			c.Addresses = append(slices.Clone(c.Addresses), addresses...)
			for _, alias := range entry.Aliases {
				if !slices.ContainsFunc(c.names(), func(name string) bool { return Fold(name) == Fold(alias) }) {
					c.Aliases = append(slices.Clone(c.Aliases), alias)
				}
			}
			if c.Source == "" {
				c.Source = entry.Source
			}
			all[at] = c
			continue
		}
		all = append(all, Contact{Name: entry.Name, Aliases: entry.Aliases, Addresses: addresses, Source: entry.Source})
	}
	return all
}
