package llmtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// schemaDepth is how deep a schema may be nested for OpenAI.
const schemaDepth = 10

// strictKeywords are what a strict schema may say.
var strictKeywords = []string{"type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "description"}

// StrictSchema checks a schema to which replies are held by OpenAI or Anthropic: it is of an object, every object has
// additionalProperties false and requires all of its properties, and it says nothing else than what both take.
func StrictSchema(schema json.RawMessage) error {
	var top struct {
		Type  any
		AnyOf json.RawMessage
	}
	if err := json.Unmarshal(schema, &top); err != nil || top.Type != "object" || len(top.AnyOf) > 0 {
		return refusef("invalid_json_schema: schema must be a JSON Schema of 'type: \"object\"', without 'anyOf' at the top")
	}
	if err := strictSchema("response_format", schema); err != nil {
		return err
	}
	return strictValue(schema, 1)
}

// strictValue checks what of a schema is alike at every depth.
func strictValue(raw json.RawMessage, depth int) error {
	var says map[string]json.RawMessage
	if err := json.Unmarshal(raw, &says); err != nil {
		return refusef("invalid_json_schema: %v", err)
	}
	for keyword := range says {
		if !slices.Contains(strictKeywords, keyword) {
			return refusef("invalid_json_schema: '%s' is not permitted.", keyword)
		}
	}
	if len(says["type"])+len(says["anyOf"]) == 0 {
		return refusef("invalid_json_schema: schema must have a 'type' key.")
	}
	var below struct {
		Properties map[string]json.RawMessage
		Items      json.RawMessage
		AnyOf      []json.RawMessage
	}
	if err := json.Unmarshal(raw, &below); err != nil {
		return refusef("invalid_json_schema: %v", err)
	}
	if depth > schemaDepth {
		return refusef("invalid_json_schema: nested deeper than %d levels", schemaDepth)
	}
	first := map[string]bool{}
	for _, one := range below.AnyOf {
		if key := firstKey(one); key != "" && first[key] {
			return refusef("invalid_json_schema: Objects provided via 'anyOf' must not share identical first keys.")
		} else if key != "" {
			first[key] = true
		}
		if err := strictValue(one, depth); err != nil {
			return err
		}
	}
	for name, property := range below.Properties {
		if !propertyName.MatchString(name) {
			return refusef("invalid_json_schema: Property keys should match pattern '%s'", propertyName)
		}
		if err := strictValue(property, depth+1); err != nil {
			return err
		}
	}
	if len(below.Items) > 0 {
		return strictValue(below.Items, depth+1)
	}
	return nil
}

// firstKey returns the first property of an object in a schema, "" if it has none.
func firstKey(schema json.RawMessage) string {
	var object struct{ Properties json.RawMessage }
	if json.Unmarshal(schema, &object) != nil {
		return ""
	}
	decoder := json.NewDecoder(strings.NewReader(string(object.Properties)))
	for range 2 { // the bracket, and the key
		token, err := decoder.Token()
		if key, is := token.(string); err == nil && is {
			return key
		}
	}
	return ""
}

// strictSchema checks a schema to which replies are held: every object has additionalProperties false,
// and requires all of its properties.
func strictSchema(of string, raw json.RawMessage) error {
	var schema struct {
		Type       any
		Properties map[string]json.RawMessage
		Additional *bool `json:"additionalProperties"`
		Required   []string
		Items      json.RawMessage
		AnyOf      []json.RawMessage
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		return refusef("invalid_function_parameters: Invalid schema for %s: %v", of, err)
	}
	if schema.Type == "object" && (schema.Additional == nil || *schema.Additional) {
		return refusef("invalid_function_parameters: Invalid schema for %s: 'additionalProperties' is required to be supplied and to be false.", of)
	}
	for name, property := range schema.Properties {
		if !slices.Contains(schema.Required, name) {
			return refusef("invalid_function_parameters: Invalid schema for %s: 'required' is required to be supplied and to be an array including every key in properties. Missing '%s'.", of, name)
		}
		if err := strictSchema(of, property); err != nil {
			return err
		}
	}
	for _, one := range schema.AnyOf {
		if err := strictSchema(of, one); err != nil {
			return err
		}
	}
	if len(schema.Items) > 0 {
		return strictSchema(of, schema.Items)
	}
	return nil
}

// schemaUnions is how many values of two types a schema may have for Anthropic.
const schemaUnions = 16

// checkOutputFormat checks the form to which Anthropic is to hold a reply.
func checkOutputFormat(format json.RawMessage) error {
	if len(format) == 0 {
		return nil
	}
	var f fields
	if err := json.Unmarshal(format, &f); err != nil || f.text("type") != "json_schema" {
		return fmt.Errorf("output_config.format.type: Input should be 'json_schema'")
	}
	if err := only(f, "type", "schema"); err != nil {
		return fmt.Errorf("output_config.format.%w", err)
	}
	if err := StrictSchema(f["schema"]); err != nil {
		return fmt.Errorf("output_config.format.schema: %w", err)
	}
	if count := strings.Count(string(f["schema"]), `"anyOf":`); count > schemaUnions {
		return fmt.Errorf("output_config.format.schema: Schema is too complex: %d parameters with union types, and at most %d are taken", count, schemaUnions)
	}
	return nil
}

// responseFormat is the form to which OpenAI's chat completions hold a reply.
type responseFormat struct {
	Type   string      `json:"type"`
	Schema *textFormat `json:"json_schema"`
}

// check returns an error for a form that is refused.
func (f *responseFormat) check() error {
	switch {
	case f == nil, f.Type == "text", f.Type == "json_object":
		return nil
	case f.Type != "json_schema" || f.Schema == nil || !functionName(f.Schema.Name):
		return refusef("missing_required_parameter: Missing required parameter: 'response_format.json_schema.name'.")
	case f.Schema.Strict:
		return StrictSchema(f.Schema.Schema)
	}
	return nil
}
