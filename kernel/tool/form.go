package tool

import "strings"

// What stands for a value in the form of a call. None looks like a value to be used as it stands, as 1 would. The
// section "tools" of the system prompt explains them.
const (
	SampleText   = "S" // a string, in quotes
	SampleWhole  = "N" // a whole number
	SampleNumber = "X" // any number
	SampleYes    = "t" // yes; without the argument it is no
)

// FormArgument is an argument in the form of a call.
type FormArgument struct {
	Name     string
	Sample   string // what stands for its value
	Required bool
}

// Form returns the form of a call: the arguments that are required, and the others between brackets, as in
// (:path S [:from N :limit N]). With a limit above 0 it is at most that many bytes long, and ends in … if
// arguments were left out.
func Form(arguments []FormArgument, limit int) string {
	for n := len(arguments); ; n-- {
		if text := form(arguments[:n], n < len(arguments)); limit <= 0 || n == 0 || len(text) <= limit {
			return text
		}
	}
}

func form(arguments []FormArgument, more bool) string {
	var required, optional []string
	for _, a := range arguments {
		part := ":" + a.Name + " " + a.Sample
		if a.Required {
			required = append(required, part)
		} else {
			optional = append(optional, part)
		}
	}
	if len(optional) > 0 {
		required = append(required, "["+strings.Join(optional, " ")+"]")
	}
	if more {
		required = append(required, "…")
	}
	return "(" + strings.Join(required, " ") + ")"
}
