package drivers

import (
	"org-agent/kernel/channel"
	"org-agent/kernel/channel/matrix"
	"org-agent/kernel/channel/signal"
	"org-agent/kernel/channel/telegram"
	"org-agent/kernel/channel/webhook"
)

// All returns the drivers.
func All() List {
	return List{
		telegramDriver(),
		signalDriver(),
		matrixDriver(),
		webhookDriver(),
	}
}

func telegramDriver() Driver {
	return Driver{
		Name: telegram.Name,
		Properties: []Property{
			{Name: "TOKEN", Doc: "where the token is that @BotFather gave you", Key: true, Required: true},
			{Name: "URL", Doc: "the address of a Bot API server of your own"},
			{Name: "STREAM", Doc: "whether a chat shows an answer while it is written, by edits: t, as without it, or nil", Values: []string{"t", "nil"}},
		},
		Begin: []string{
			"Open Telegram and write to @BotFather, the bot that makes bots.",
			"Send it /newbot, a name, and a username that ends in \"bot\". It answers with a token: digits, a colon and letters.",
			"For groups: send it /setprivacy and choose Disable, if the agent is to see what is not addressed to it.",
		},
		open: func(s settings) channel.Driver {
			return telegram.New(telegram.Config{Name: s.name, Token: s.keys["TOKEN"], URL: s.properties["URL"], State: s.State, Logger: s.Logger, Whole: s.properties["STREAM"] == "nil"})
		},
	}
}

func signalDriver() Driver {
	return Driver{
		Name: signal.Name,
		Properties: []Property{
			{Name: "ACCOUNT", Doc: "the number of the agent's account, such as +4915112345678, or its UUID", Required: true},
			{Name: "ADDRESS", Doc: "where signal-cli listens: the path of its socket, or HOST:PORT", Required: true},
		},
		Begin: []string{
			"Install signal-cli, and give the agent a number of its own: signal-cli -a NUMBER register, then signal-cli -a NUMBER verify CODE. An agent that is linked to your own account reads all of yours and writes as you.",
			"Give it a name: signal-cli -a NUMBER updateProfile --given-name NAME.",
			"Run its daemon: signal-cli -a NUMBER daemon --socket PATH --receive-mode manual. In the mode manual nothing is lost while the agent does not run. Whoever can open the socket has the account.",
		},
		open: func(s settings) channel.Driver {
			return signal.New(signal.Config{Name: s.name, Account: s.properties["ACCOUNT"], Address: s.properties["ADDRESS"], State: s.State, Logger: s.Logger})
		},
	}
}

func matrixDriver() Driver {
	return Driver{
		Name: matrix.Name,
		Properties: []Property{
			{Name: "URL", Doc: "the address of the homeserver's client-server API, such as https://matrix.example.org", Required: true},
			{Name: "TOKEN", Doc: "where the access token of the agent's account is", Key: true, Required: true},
		},
		Begin: []string{
			"Register an account for the agent on a homeserver; it must not be your own.",
			"Log in as the agent, for nothing else than this: in Element, Settings, \"Help & About\", \"Access Token\" shows the token. Do not log out there, which would end the token.",
			"Invite the account into a room. It joins those into which you, the owner, invite it.",
		},
		open: func(s settings) channel.Driver {
			return matrix.New(matrix.Config{
				Name: s.name, URL: s.properties["URL"], Token: s.keys["TOKEN"], State: s.State, Keys: s.Directory, Logger: s.Logger, MayInvite: s.MayInvite,
			})
		},
	}
}

func webhookDriver() Driver {
	return Driver{
		Name: webhook.Name,
		Properties: []Property{
			{Name: "LISTEN", Doc: "where it listens: HOST:PORT of this machine, such as 127.0.0.1:4712", Required: true},
			{Name: "TOKEN", Doc: "where the token is that programs send with each request", Key: true, Required: true},
			{Name: "URL", Doc: "where the agent's messages are sent, such as http://127.0.0.1:8080/agent; without it, programs fetch them"},
		},
		Begin: []string{
			"Make a token: openssl rand -hex 32. Whoever has it says who writes.",
			"A program says a message by POST http://HOST:PORT/messages, with the headers \"Authorization: Bearer TOKEN\" and \"Content-Type: application/json\", and a body such as {\"id\": \"1\", \"chat\": \"door\", \"sender\": {\"id\": \"ada\", \"name\": \"Ada\"}, \"text\": \"Hello\"}. If the answer is not 200, it says it again with the same id.",
			"It fetches what the agent says by GET http://HOST:PORT/messages?chat=door&after=NUMBER, which waits; NUMBER is that of the last message that it has, 0 at first.",
		},
		open: func(s settings) channel.Driver {
			return webhook.New(webhook.Config{Name: s.name, Token: s.keys["TOKEN"], Listen: s.properties["LISTEN"], URL: s.properties["URL"], State: s.State, Logger: s.Logger})
		},
	}
}
