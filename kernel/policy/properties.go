package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
)

// specialProperties are what Org calls so: parts of the heading, or computed.
var specialProperties = [...]string{
	"ALLTAGS", "BLOCKED", "CLOCKSUM", "CLOCKSUM_T", "CLOSED", "DEADLINE", "FILE", "ITEM", "PRIORITY", "SCHEDULED",
	"TAGS", "TIMESTAMP", "TIMESTAMP_IA", "TODO",
}

// propertiesRule: what is judged, shown and performed is the properties as pairs of texts, a
// line each, with the names in upper case.
func propertiesRule(a view) Verdict {
	value, _ := plist.Get(a.payload(), "properties")
	pairs, err := propertyPairs(value)
	if err != nil {
		return Verdict{Kind: Refuse, Reason: err.Error()}
	}
	return Verdict{Kind: Ask, Reason: "it changes a note's properties", Action: withPayload(a.action, "properties", pairs)}
}

func propertyPairs(value sexp.Sexp) (sexp.List, error) {
	names, _ := properties(value) // it is usable
	if len(names) == 0 {
		return nil, fmt.Errorf("no property is named: write :properties (:name \"value\")")
	}
	list := value.(sexp.List)
	var pairs sexp.List
	seen := map[string]bool{}
	for i, name := range names {
		value := sexp.Sexp(nil)
		if pair, isPair := list[i].(sexp.List); isPair {
			value = pair[1]
		} else {
			value = list[2*i+1]
		}
		text, err := propertyText(name, value)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, fmt.Errorf("the property %s stands there twice", name)
		}
		seen[name] = true
		pairs = append(pairs, sexp.List{plist.String(name), plist.String(text)})
	}
	return pairs, nil
}

// propertyText is the value of a property that may be set from outside, as text.
func propertyText(name string, value sexp.Sexp) (string, error) {
	switch {
	case name == "ID" || name == "CRON" || strings.HasPrefix(name, "HEADER-ARGS") || strings.Contains(name, "+"):
		return "", fmt.Errorf("the property %s is not to be set from outside", name)
	case slices.Contains(specialProperties[:], name):
		return "", fmt.Errorf("%s is no property but a part of the entry: change it with :edit", name)
	case name == "" || name == "END" || name == "PROPERTIES" || strings.ContainsFunc(name, notInName):
		return "", fmt.Errorf("%q cannot name a property", name)
	}
	text := ""
	switch v := value.(type) {
	case plist.String:
		text = string(v)
	case plist.Int, plist.Float:
		text = plist.Print(v)
	default:
		return "", fmt.Errorf("the value of the property %s is to be a text", name)
	}
	if strings.ContainsFunc(text, func(c rune) bool { return c < 0x20 && c != '\t' || c == 0x7f || c == 0x2028 || c == 0x2029 }) {
		return "", fmt.Errorf("the value of the property %s is to be one line", name)
	}
	return text, nil
}

// notInName: Org ends a property's name at blanks and colons.
func notInName(c rune) bool { return c <= 0x20 || c == ':' || c == 0x7f || c == 0xa0 }
