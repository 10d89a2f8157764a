package notetool

import (
	"fmt"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/suggest"
	"org-agent/kernel/tool"
)

// sample stands for a value of the argument in a form.
func sample(p skill.Parameter) string {
	if len(p.Words) > 0 {
		return ":" + strings.Join(p.Words, "|:")
	}
	return map[skill.ParameterType]string{
		skill.TextParameter: tool.SampleText, skill.IntegerParameter: tool.SampleWhole, skill.NumberParameter: tool.SampleNumber, skill.BooleanParameter: tool.SampleYes,
		skill.KeywordParameter: ":…", skill.ListParameter: "(…)", skill.PlistParameter: "(:key …)", skill.AnyParameter: "…",
	}[p.Type]
}

// form returns the form of a call, for a prompt.
func form(parameters []skill.Parameter) string {
	arguments := make([]tool.FormArgument, len(parameters))
	for i, p := range parameters {
		arguments[i] = tool.FormArgument{Name: p.Name, Sample: sample(p), Required: p.Required}
	}
	return tool.Form(arguments, 0)
}

// jsonTypes are the types as JSON Schema names them. An argument of any type has none.
var jsonTypes = map[skill.ParameterType]string{
	skill.TextParameter: "string", skill.IntegerParameter: "integer", skill.NumberParameter: "number", skill.BooleanParameter: "boolean",
	skill.KeywordParameter: "string", skill.ListParameter: "array", skill.PlistParameter: "object",
}

// jsonSchema returns the arguments as a JSON Schema.
func jsonSchema(parameters []skill.Parameter) protocol.Object {
	properties, required := protocol.Object{}, []any(nil)
	for _, p := range parameters {
		var property protocol.Object
		if name := jsonTypes[p.Type]; name != "" {
			property.Set("type", protocol.Keyword(name))
		}
		if p.Type == skill.ListParameter {
			property.Set("items", protocol.Object{})
		}
		if len(p.Words) > 0 {
			var words []any
			for _, word := range p.Words {
				words = append(words, word)
			}
			property.Set("enum", words)
		}
		if p.Description != "" {
			property.Set("description", p.Description)
		}
		properties.Set(p.Name, property)
		if p.Required {
			required = append(required, p.Name)
		}
	}
	all := protocol.Object{{Key: "type", Value: protocol.Keyword("object")}, {Key: "properties", Value: properties}}
	if required != nil {
		all.Set("required", required)
	}
	return all
}

// read checks the arguments of a call, and returns them as the note gets them: under its own names, in
// the order of its parameters, with the defaults of those that are not given.
func read(parameters []skill.Parameter, arguments protocol.Object) (sexp.List, error) {
	given := map[string]sexp.Sexp{}
	spelled := map[string]string{}
	for _, field := range arguments {
		p, found := named(parameters, field.Key)
		if !found {
			var names []string
			for _, known := range parameters {
				names = append(names, known.Name)
			}
			return nil, fmt.Errorf("there is no argument :%s%s", field.Key, suggest.Question(suggest.Of(field.Key, names), ":%s"))
		}
		if other, twice := spelled[p.Name]; twice {
			return nil, fmt.Errorf("the arguments :%s and :%s are the same one", other, field.Key)
		}
		spelled[p.Name] = field.Key
		if field.Value == nil {
			continue
		}
		written, err := plist.Marshal(protocol.Object{{Key: "value", Value: field.Value}})
		if err != nil {
			return nil, fmt.Errorf("the argument :%s: %w", field.Key, err)
		}
		value, _ := plist.Get(written, "value")
		if plist.IsNil(value) {
			continue
		}
		fitted, fits := p.Fitted(value)
		if !fits {
			return nil, fmt.Errorf("the argument :%s is %s", p.Name, p.Wants())
		}
		given[p.Name] = fitted
	}
	return inOrder(parameters, given)
}

// inOrder returns the given values in the order of the parameters.
func inOrder(parameters []skill.Parameter, given map[string]sexp.Sexp) (all sexp.List, err error) {
	for _, p := range parameters {
		value := given[p.Name]
		if value == nil {
			value = p.Default
		}
		switch {
		case value != nil:
			all = append(all, plist.Keyword(p.Name), value)
		case p.Required:
			what := ""
			if p.Description != "" {
				what = ": " + p.Description
			}
			return nil, fmt.Errorf("the argument :%s is missing%s", p.Name, what)
		}
	}
	return all, nil
}

func named(parameters []skill.Parameter, key string) (skill.Parameter, bool) {
	for _, p := range parameters {
		if tool.Spelled(p.Name) == tool.Spelled(key) {
			return p, true
		}
	}
	return skill.Parameter{}, false
}
