package protocol

// ChannelListResult has the channels of config.org in their order, and what channels there can be. File is config.org.
type ChannelListResult struct {
	File     string          `json:"file"`
	Channels []ChannelStatus `json:"channels,omitempty"`
	Drivers  []ChannelDriver `json:"drivers,omitempty"`
}

// ChannelStatus is a channel of config.org, in its line. Fault is why it does not run, "" if it does.
type ChannelStatus struct {
	Name   string `json:"name"`
	Driver string `json:"driver"`
	Line   int    `json:"line"`
	Fault  string `json:"fault,omitempty"`
}

// ChannelDriver is a kind of chat. Begin is what a person does before it can be added, a step each.
type ChannelDriver struct {
	Name       string                  `json:"name"`
	Properties []ChannelDriverProperty `json:"properties,omitempty"`
	Begin      []string                `json:"begin,omitempty"`
}

// ChannelDriverProperty is a property of a channel. The value of a key is the place where the key is.
type ChannelDriverProperty struct {
	Name     string `json:"name"`
	Doc      string `json:"doc"`
	Key      bool   `json:"key,omitempty"`
	Required bool   `json:"required,omitempty"`
}

// ChannelAddParams is a channel to try and, if its account can be used, to write into config.org. Driver is "" for the one
// that the name says. The values of keys are places, as config.org has them.
type ChannelAddParams struct {
	Name       string            `json:"name"`
	Driver     string            `json:"driver,omitempty"`
	Properties []ChannelProperty `json:"properties,omitempty"`
}

// ChannelProperty is a property and its value.
type ChannelProperty struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ChannelAddResult says at which line of config.org the channel is, and whose account it is. Account has no id if this kind
// of channel has no account.
type ChannelAddResult struct {
	File    string         `json:"file"`
	Line    int            `json:"line"`
	Name    string         `json:"name"`
	Account ChannelAccount `json:"account,omitzero"`
}

// ChannelAccount is an account on a channel.
type ChannelAccount struct {
	ID       string `json:"id,omitempty"`
	Name     string `json:"name,omitempty"`
	Username string `json:"username,omitempty"`
}

// ChannelParams names a channel of config.org.
type ChannelParams struct {
	Name string `json:"name"`
}

// ChannelTestResult has the account of a channel whose key is valid, without an id if this kind of channel has no account.
type ChannelTestResult struct {
	Account ChannelAccount `json:"account,omitzero"`
}

// ChannelPairParams asks for a code that gives a role on a channel: :friend, which is the default, or :owner.
type ChannelPairParams struct {
	Name string  `json:"name"`
	Role Keyword `json:"role,omitempty"`
}

// ChannelPairResult is the code, and until when it is valid (RFC 3339).
type ChannelPairResult struct {
	Code  string `json:"code"`
	Until string `json:"until"`
}

// ChannelPeopleResult is who may talk, by channels.org. Faults are errors of that file, with their places.
type ChannelPeopleResult struct {
	File     string          `json:"file"`
	People   []ChannelPerson `json:"people,omitempty"`
	Chats    []ChannelChat   `json:"chats,omitempty"`
	Messages int             `json:"messages-an-hour"`
	Cost     float64         `json:"cost-a-day,omitempty"` // in US dollars, 0 for no limit
	Faults   []string        `json:"faults,omitempty"`
}

// ChannelPerson is a row of the table of people. Role is :owner, :friend or :blocked.
type ChannelPerson struct {
	Line    int     `json:"line"`
	Channel Channel `json:"channel"`
	ID      string  `json:"id"`
	Who     string  `json:"who,omitempty"`
	Role    Keyword `json:"role"`
	Since   string  `json:"since,omitempty"`
}

// ChannelChat is a row of the table of chats. Answers is :always, :mention, :reply or :never.
type ChannelChat struct {
	Line    int     `json:"line"`
	Channel Channel `json:"channel"`
	Chat    string  `json:"chat"`
	Answers Keyword `json:"answers"`
	Anyone  bool    `json:"anyone,omitempty"`
	What    string  `json:"what,omitempty"`
}

// ChannelAllowParams gives somebody a role on a channel: :friend, which is the default, :owner or :blocked. Who is what
// they are called, for people.
type ChannelAllowParams struct {
	Channel Channel `json:"channel"`
	ID      string  `json:"id"`
	Who     string  `json:"who,omitempty"`
	Role    Keyword `json:"role,omitempty"`
}
