package act

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// setProperties sets properties of an entry. The properties are judged, shown and performed as
// pairs of texts on single lines, with the names in upper case.
func setProperties(d Deps) kind.Kind {
	return InEditor(d, kind.Kind{
		Spec: action.Spec{Target: emacs, Name: "set-properties", Tool: "org_edit", Does: "to set properties of an Org entry", Fields: []action.Field{
			{Name: "id", Kind: action.Text, Required: true, Example: plist.String("<its :ID:>")}, {Name: "properties", Kind: action.Properties, Required: true, Example: sexp.List{plist.Keyword("<name>"), plist.String("<value>")}}}},
		Judge: func(_ context.Context, _ *policy.Turn, a action.Action) policy.Verdict {
			value, _ := a.Field("properties")
			pairs, err := propertyPairs(value)
			if err != nil {
				return policy.Refused("%v", err)
			}
			return policy.Verdict{Kind: policy.Ask, Reason: "it changes a note's properties", Action: a.With("properties", pairs)}
		},
		Describe: describeProperties,
		Subagent: func(action.Action) ([]string, string) { return []string{"org_edit"}, "" },
		Undo: func(a action.Action, receipt protocol.Receipt) ([]protocol.Change, []string) {
			change := changed(a, receipt)
			for _, pair := range pairsOf(a) {
				change.Properties = append(change.Properties, protocol.Setting{Name: pair[0], Value: pair[1]})
			}
			return []protocol.Change{change}, nil
		},
	}, true)
}

// pairsOf returns the properties of an action as they are judged, or nil if they cannot be set.
func pairsOf(a action.Action) (pairs [][2]string) {
	value, _ := a.Field("properties")
	list, err := propertyPairs(value)
	if err != nil {
		return nil
	}
	for _, item := range list {
		pair, _ := item.(sexp.List)
		pairs = append(pairs, [2]string{describe.Plain(pair[0]), describe.Plain(pair[1])})
	}
	return pairs
}

// describeProperties shows the new values. Only the Emacs that performs the action knows the old
// ones.
func describeProperties(a action.Action, _ describe.Deps) describe.Description {
	var names []string
	var lines strings.Builder
	for _, pair := range pairsOf(a) {
		names = append(names, pair[0])
		fmt.Fprintf(&lines, "+:%s: %s\n", pair[0], pair[1])
	}
	return describe.Description{
		Summary: fmt.Sprintf("Set %s of the entry %s", strings.Join(names, ", "), a.ID()), Language: "diff", Text: lines.String(),
		Effects: []string{
			fmt.Sprintf("%s of the entry with the :ID: %s change in its buffer in Emacs, where one undo takes that back", text.Count(len(names), "property"), a.ID()),
			"it sends nothing over the network",
		},
	}
}

// specialProperties are Org's special properties: parts of the heading, or computed values.
var specialProperties = [...]string{
	"ALLTAGS", "BLOCKED", "CLOCKSUM", "CLOCKSUM_T", "CLOSED", "DEADLINE", "FILE", "ITEM", "PRIORITY", "SCHEDULED",
	"TAGS", "TIMESTAMP", "TIMESTAMP_IA", "TODO",
}

func propertyPairs(value sexp.Sexp) (sexp.List, error) {
	names, _ := action.PropertyNames(value) // a usable action has properties here
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

// propertyText returns the value of a property as text. The error says why a proposal may not set
// it.
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

// notInName reports whether a property's name cannot contain c: Org ends the name at blanks and
// colons.
func notInName(c rune) bool { return c <= 0x20 || c == ':' || c == 0x7f || c == 0xa0 }
