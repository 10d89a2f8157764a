package contacts

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
)

// Fold returns a text for comparison: in lower case, without marks above and below letters and without invisible
// characters, with single blanks.
func Fold(text string) string {
	var b strings.Builder
	for _, c := range norm.NFKD.String(text) {
		switch {
		case unicode.In(c, unicode.Mn, unicode.Cf):
		case c == 'ß' || c == 'ẞ':
			b.WriteString("ss")
		default:
			b.WriteRune(unicode.ToLower(c))
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// names returns all by which a contact is called, as they are written.
func (c Contact) names() []string {
	all := append([]string{c.Name}, c.Aliases...)
	for _, a := range c.Addresses {
		for _, of := range []string{a.Username, a.Person, a.Chat} {
			if of != "" {
				all = append(all, of)
			}
		}
	}
	return all
}

// On reports whether a contact has an address on a channel. "" is any channel.
func (c Contact) On(channel string) bool {
	return channel == "" || slices.ContainsFunc(c.Addresses, func(a Address) bool { return strings.EqualFold(a.Channel, channel) })
}

// Matching returns the contacts with an address on the channel, "" for any, that a query may mean. Case, and marks above and
// below letters, do not matter. Those with the query as a whole name come first; only if there are none, those with names
// that have all of its words as beginnings of words.
func Matching(all []Contact, query, channel string) []Contact {
	all = slices.DeleteFunc(slices.Clone(all), func(c Contact) bool { return !c.On(channel) })
	query = strings.TrimSpace(query)
	if query == "" {
		return all
	}
	if exact := filter(all, func(c Contact) bool { return slices.Contains(append(c.names(), c.ID), query) }); len(exact) > 0 {
		return exact // ids differ in case
	}
	wanted := strings.TrimPrefix(Fold(query), "@")
	if whole := filter(all, func(c Contact) bool {
		return slices.ContainsFunc(c.names(), func(name string) bool { return strings.TrimPrefix(Fold(name), "@") == wanted })
	}); len(whole) > 0 {
		return whole
	}
	words := strings.Fields(wanted)
	return filter(all, func(c Contact) bool {
		return slices.ContainsFunc(c.names(), func(name string) bool {
			has := strings.Fields(Fold(name))
			return !slices.ContainsFunc(words, func(word string) bool {
				return !slices.ContainsFunc(has, func(of string) bool { return strings.HasPrefix(strings.TrimPrefix(of, "@"), word) })
			})
		})
	})
}

func filter(all []Contact, keep func(Contact) bool) (kept []Contact) {
	for _, c := range all {
		if keep(c) {
			kept = append(kept, c)
		}
	}
	return kept
}

// Find returns the one address that a query means, on the channel, "" for any. here is the channel on which the question
// is asked, which is preferred where a contact has several. The error names those that it could be, or the nearest name.
func Find(all []Contact, query, channel, here string) (Contact, Address, error) {
	found := Matching(all, query, channel)
	switch len(found) {
	case 0:
		return Contact{}, Address{}, unknown(all, query, channel)
	case 1:
	default:
		return Contact{}, Address{}, protocol.ToolErrorf(protocol.ToolNotUnique, "%d contacts could be %q: %s; name one by its id, or ask the user", len(found), query, listed(found))
	}
	c := found[0]
	a, err := c.address(query, channel, here)
	return c, a, err
}

// address chooses the address of a contact.
func (c Contact) address(query, channel, here string) (Address, error) {
	var fit []Address
	for _, a := range c.Addresses {
		if channel != "" && !strings.EqualFold(a.Channel, channel) {
			continue
		}
		if query == a.Person || query == a.Chat || a.Username != "" && Fold(query) == Fold(a.Username) {
			return a, nil
		}
		fit = append(fit, a)
	}
	if local := slices.DeleteFunc(slices.Clone(fit), func(a Address) bool { return a.Channel != here }); len(fit) > 1 && len(local) == 1 {
		return local[0], nil
	}
	switch len(fit) {
	case 0:
		return Address{}, protocol.ToolErrorf(protocol.ToolNotFound, "%s has no address on a channel", c.Name)
	case 1:
		return fit[0], nil
	}
	var all []string
	for _, a := range fit {
		all = append(all, fmt.Sprintf("%s %s", a.Channel, a.Target()))
	}
	return Address{}, protocol.ToolErrorf(protocol.ToolNotUnique, "%s has several addresses: %s; name the platform, or one of them as the target", c.Name, strings.Join(all, ", "))
}

// candidatesShown is how many contacts an error lists.
const candidatesShown = 8

// listed names contacts with what tells them apart.
func listed(found []Contact) string {
	var all []string
	for i, c := range found {
		if i == candidatesShown {
			all = append(all, fmt.Sprintf("and %d more", len(found)-i))
			break
		}
		var of []string
		if c.ID != "" {
			of = append(of, "id "+c.ID)
		}
		for _, a := range c.Addresses {
			of = append(of, a.Channel+" "+a.Target())
		}
		all = append(all, fmt.Sprintf("%s (%s)", c.Name, strings.Join(of, ", ")))
	}
	return strings.Join(all, "; ")
}

// unknown is the error for a query that means nobody.
func unknown(all []Contact, query, channel string) error {
	where := ""
	if channel != "" {
		where = " on " + channel
	}
	if elsewhere := Matching(all, query, ""); channel != "" && len(elsewhere) > 0 {
		return protocol.ToolErrorf(protocol.ToolNotFound, "no contact %q has an address%s; there is %s", query, where, listed(elsewhere))
	}
	names, of := []string{}, map[string]string{}
	for _, c := range all {
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			names = append(names, Fold(name))
			of[Fold(name)] = name
		}
	}
	near := of[suggest.Of(Fold(query), names)]
	return protocol.ToolErrorf(protocol.ToolNotFound, "there is no contact %q%s%s", query, where, suggest.Question(near, "%q"))
}
