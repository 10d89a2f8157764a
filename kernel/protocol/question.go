package protocol

// FieldKind is the kind of the answers to a field of a form.
type FieldKind string

const (
	FieldText    FieldKind = "text"
	FieldChoice  FieldKind = "choice"  // one of the options
	FieldChoices FieldKind = "choices" // any of them
	FieldNumber  FieldKind = "number"
	FieldYesNo   FieldKind = "yes-no"
	FieldSecret  FieldKind = "secret" // in no buffer, not in the journal and not in the log
)

// PlistKeyword marks the type as an enum.
func (FieldKind) PlistKeyword() {}

// QuestionForm is what a turn asks a person. All its texts are one line each.
type QuestionForm struct {
	Title  string      `json:"title"`
	Fields []FormField `json:"fields,omitempty"`
}

// FormField is one question of a form. Options belong to choices; Own allows an answer
// that is none of them. A Default, Min or Max that does not exist is missing.
type FormField struct {
	Name     string    `json:"name"` // of the answer
	Kind     FieldKind `json:"kind"`
	Question string    `json:"question"`
	Options  []string  `json:"options,omitempty"`
	Own      bool      `json:"own,omitempty"`
	Optional bool      `json:"optional,omitempty"`
	Default  string    `json:"default,omitempty"`
	Min      *float64  `json:"min,omitempty"`
	Max      *float64  `json:"max,omitempty"`
}

// FieldAnswer is a person's answer to the field of that name: a text, the chosen options,
// a number in decimals, "yes" or "no". In the journal the answer to a secret has no values.
type FieldAnswer struct {
	Name   string   `json:"name"`
	Values []string `json:"values,omitempty"`
}
