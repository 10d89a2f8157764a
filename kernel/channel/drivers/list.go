package drivers

import (
	"org-agent/kernel/channel"
	"org-agent/kernel/channel/telegram"
)

// All returns the drivers.
func All() List {
	return List{
		telegramDriver(),
	}
}

func telegramDriver() Driver {
	return Driver{
		Name: telegram.Name,
		Properties: []Property{
			{Name: "TOKEN", Doc: "where the token is that @BotFather gave you", Key: true, Required: true},
			{Name: "URL", Doc: "the address of a Bot API server of your own"},
		},
		Begin: []string{
			"Open Telegram and write to @BotFather, the bot that makes bots.",
			"Send it /newbot, a name, and a username that ends in \"bot\". It answers with a token, such as 12345678:AAE….",
			"For groups: send it /setprivacy and choose Disable, if the agent is to see what is not addressed to it.",
		},
		open: func(s settings) channel.Driver {
			return telegram.New(telegram.Config{Name: s.name, Token: s.keys["TOKEN"], URL: s.properties["URL"], State: s.State, Logger: s.Logger})
		},
	}
}
