package telegram

import (
	"slices"
	"strings"
)

// emoji returns the reactions that bots may give, as Telegram writes them.
func emoji() []string {
	return strings.Fields(`👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤` + joiner + `🔥 🌚 🌭 💯 🤣 ⚡
		🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨` + joiner + `💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒
		💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷` + joiner + `♂ 🤷 🤷` + joiner + `♀ 😡`)
}

const (
	joiner   = "\u200d" // makes one emoji of two
	coloured = "\ufe0f" // asks for the coloured form of a character; Telegram writes its reactions without
)

// reaction returns how Telegram writes an emoji, and false if bots cannot react with it.
func reaction(text string) (string, bool) {
	text = strings.ReplaceAll(text, coloured, "")
	return text, slices.Contains(emoji(), text)
}
