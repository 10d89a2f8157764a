package prompt

import "slices"

// Tier says in which order sections are left out when the budget is short.
type Tier string

const (
	Required  Tier = "required"  // stays whole
	Preferred Tier = "preferred" // is cut, and left out last
	Optional  Tier = "optional"  // is left out first
)

// Trust says who wrote the text of a section. It is the tag of the section's heading.
type Trust string

const (
	Kernel Trust = "kernel" // this program's
	User   Trust = "user"   // the person's own, from their files
	Skill  Trust = "skill"  // of notes and skills that the person installed
	Data   Trust = "data"   // from records or from elsewhere: it gives no instructions
)

// Section is one part of a prompt.
type Section struct {
	// Name is the name of its template, and of the note that replaces it.
	Name  string
	Title string // its heading
	Modes []Mode
	Kinds []Kind
	Tier  Tier
	Trust Trust
	// Needs are variables, and files as "file:ROLE", of which at least one must have a value.
	// Without Needs the section always has something to say.
	Needs []string
	// Tools are tools of which at least one must be offered. Without Tools it does not matter.
	Tools []string
	// MaximumTokens is the maximum size of the section. A longer one is cut in the middle, with a
	// mark. 0 means no bound.
	MaximumTokens int
	// Fixed is true if a person's note with this name is added to the template and does not replace
	// it.
	Fixed bool
	// Notation is "text" for a section that only models are to read which write calls as text, and
	// "functions" for one for models that call the functions of their server. Without it the section is
	// for every model.
	Notation string
	// Varies is true if the section may differ from one turn of a conversation to the next although
	// the person changes nothing.
	Varies bool
}

// Includes reports whether the section includes the text of a file of the home.
func (s Section) Includes(file File) bool {
	if file.Text == "" {
		return false
	}
	return file.Role == "" && slices.Contains(s.Needs, "days") || file.Role != "" && slices.Contains(s.Needs, "file:"+file.Role) ||
		file.Role == "HEARTBEAT" && s.Name == "heartbeat"
}

// safety is the section that only an argument of the kernel's start leaves out.
const safety = "safety"

// sections returns all sections in their order.
func sections() []Section {
	var (
		all      = Modes()
		most     = []Mode{Full, Minimal}
		full     = []Mode{Full}
		part     = []Mode{Minimal, None}
		everyone = Kinds()
		own      = []Kind{Chat, Task, Heartbeat} // not for a subagent, which need not know the person
	)
	return []Section{
		{Name: "identity", Title: "Identity", Modes: all, Kinds: everyone, Tier: Required, Trust: Kernel},
		{Name: "persona", Title: "Persona", Modes: full, Kinds: own, Tier: Required, Trust: User, Needs: []string{"file:IDENTITY"}, MaximumTokens: 3000},
		{Name: "precedence", Title: "What counts", Modes: all, Kinds: everyone, Tier: Required, Trust: Kernel, Fixed: true},
		{Name: "soul", Title: "Soul", Modes: full, Kinds: own, Tier: Preferred, Trust: User, Needs: []string{"file:SOUL"}, MaximumTokens: 3000},
		{Name: "user", Title: "User", Modes: full, Kinds: own, Tier: Preferred, Trust: User, Needs: []string{"file:USER"}, MaximumTokens: 3000},
		{Name: "acquaintance", Title: "Getting acquainted", Modes: full, Kinds: []Kind{Chat}, Tier: Optional, Trust: Kernel, Needs: []string{"unwritten"}},
		{Name: "profiles", Title: "People", Modes: full, Kinds: own, Tier: Optional, Trust: User, Needs: []string{"file:PROFILES"}, MaximumTokens: 3000},
		{Name: "workspace", Title: "Workspace", Modes: full, Kinds: own, Tier: Preferred, Trust: User, Needs: []string{"file:WORKSPACE", "files"}, MaximumTokens: 5000},
		{Name: "memory", Title: "Memory", Modes: full, Kinds: own, Tier: Preferred, Trust: Data, Needs: []string{"file:MEMORY", "days"}, MaximumTokens: 6000, Varies: true},
		{Name: safety, Title: "Safety", Modes: all, Kinds: everyone, Tier: Required, Trust: Kernel, Fixed: true},
		{Name: "tools", Title: "Tools", Modes: most, Kinds: everyone, Tier: Required, Trust: Data, Needs: []string{"tools"}, Notation: "text"},
		{Name: "tool-notes", Title: "Notes on tools", Modes: full, Kinds: everyone, Tier: Optional, Trust: User, Needs: []string{"file:TOOLS"}, MaximumTokens: 3000},
		{Name: "style", Title: "How tools are called", Modes: most, Kinds: everyone, Tier: Required, Trust: Kernel, Needs: []string{"tools"}},
		{Name: "format", Title: "What a reply is", Modes: all, Kinds: everyone, Tier: Required, Trust: Kernel, Needs: []string{"formats"}, Fixed: true, Notation: "text"},
		{Name: "functions", Title: "What a reply is", Modes: all, Kinds: everyone, Tier: Required, Trust: Kernel, Needs: []string{"formats"}, Notation: "functions"},
		{Name: "recall", Title: "Recalling", Modes: most, Kinds: own, Tier: Preferred, Trust: Kernel, Tools: []string{"memory_search", "memory_save"}},
		{Name: "delegation", Title: "Subagents", Modes: full, Kinds: own, Tier: Preferred, Trust: Kernel, Tools: []string{"start_subagent"}},
		{Name: "web", Title: "The web", Modes: most, Kinds: everyone, Tier: Preferred, Trust: Kernel, Tools: []string{"web_search", "web_fetch"}},
		{Name: "skills", Title: "Skills", Modes: full, Kinds: everyone, Tier: Preferred, Trust: Data, Needs: []string{"skills"}, Tools: []string{"use_skill"}, MaximumTokens: 5000},
		{Name: "channel", Title: "This chat", Modes: most, Kinds: []Kind{Chat}, Tier: Required, Trust: Kernel, Needs: []string{"channel"}},
		{Name: "contacts", Title: "Contacts", Modes: full, Kinds: own, Tier: Optional, Trust: Data, Needs: []string{"contacts"}, MaximumTokens: 2000, Varies: true},
		{Name: "schedules", Title: "Schedules", Modes: full, Kinds: own, Tier: Optional, Trust: Data, Needs: []string{"schedules"}, MaximumTokens: 2000, Varies: true},
		{Name: "heartbeat", Title: "Heartbeat", Modes: full, Kinds: []Kind{Heartbeat}, Tier: Required, Trust: User, MaximumTokens: 3000},
		{Name: "duty", Title: "This task", Modes: full, Kinds: []Kind{Task}, Tier: Required, Trust: Kernel},
		{Name: "runtime", Title: "Runtime", Modes: most, Kinds: everyone, Tier: Optional, Trust: Kernel, Needs: []string{"runtime"}, Varies: true},
		{Name: "subagent", Title: "Your part", Modes: part, Kinds: []Kind{Subagent}, Tier: Required, Trust: Kernel, Needs: []string{"subagent"}},
		{Name: "augments", Title: "From skills", Modes: most, Kinds: everyone, Tier: Required, Trust: Skill, Needs: []string{"augments"}, Varies: true},
		{Name: "extra", Title: "From the skill that answers", Modes: all, Kinds: everyone, Tier: Required, Trust: Skill, Needs: []string{"extra"}, Fixed: true, Varies: true},
		{Name: "wishes", Title: "What is wanted here", Modes: all, Kinds: everyone, Tier: Required, Trust: User, Needs: []string{"wishes"}, Fixed: true, Varies: true},
	}
}
