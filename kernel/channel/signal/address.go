package signal

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"org-agent/kernel/channel"
)

var (
	numberForm = regexp.MustCompile(`^\+[1-9][0-9]{4,14}$`)
	uuidForm   = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
)

func validNumber(s string) bool { return numberForm.MatchString(s) }
func validUUID(s string) bool   { return uuidForm.MatchString(s) }

// address is how signal-cli names somebody. Each part may be empty.
type address struct{ number, uuid, legacy string }

// self reports whether it is the agent's account.
func (d *Driver) self(a address) bool {
	if a.number != "" && a.number == d.config.Account || a.legacy != "" && a.legacy == d.config.Account {
		return true
	}
	uuid := d.uuid.Load()
	return uuid != nil && (strings.EqualFold(a.uuid, *uuid) || strings.EqualFold(a.legacy, *uuid))
}

// id returns the permanent id of somebody, "" if nobody is named.
func (d *Driver) id(a address) string {
	if d.self(a) {
		return d.config.Account
	}
	if validUUID(a.uuid) {
		return strings.ToLower(a.uuid)
	}
	for _, name := range []string{a.number, a.legacy} {
		if validNumber(name) {
			return name
		}
		if validUUID(name) {
			return strings.ToLower(name)
		}
	}
	return ""
}

// person returns somebody with the name by which they are known.
func (d *Driver) person(a address, name string) channel.Person {
	p := channel.Person{ID: d.id(a), Name: name}
	if validNumber(a.number) {
		p.Username = a.number
	}
	if name != "" {
		d.names.Put(p.ID, name, len(p.ID)+len(name))
	} else {
		p.Name, _ = d.names.Get(p.ID)
	}
	return p
}

// groupMark begins the ids of groups.
const groupMark = "group."

// groupChat returns the chat of a group by the id that signal-cli has for it.
func groupChat(id string) (string, bool) {
	raw, err := base64.StdEncoding.DecodeString(id)
	if err != nil || !groupSize(len(raw)) {
		return "", false
	}
	return groupMark + base64.RawURLEncoding.EncodeToString(raw), true
}

func groupSize(n int) bool { return n == 32 || n == 16 } // those of today, and those of before 2020

// destination returns the parameters by which signal-cli knows a chat.
func destination(chat string) (params, error) {
	if coded, ok := strings.CutPrefix(chat, groupMark); ok {
		raw, err := base64.RawURLEncoding.DecodeString(coded)
		if err == nil && groupSize(len(raw)) {
			return params{"groupId": base64.StdEncoding.EncodeToString(raw)}, nil
		}
	} else if validNumber(chat) || validUUID(chat) {
		return params{"recipient": []string{chat}}, nil
	}
	return nil, refused(fmt.Errorf("%q is no chat of Signal: a number such as +4915112345678, a UUID or %sID", chat, groupMark))
}

// messageID names the message that somebody sent at a time.
func messageID(author string, timestamp int64) string {
	return author + ":" + strconv.FormatInt(timestamp, 10)
}

// splitID returns what messageID was made of.
func splitID(id string) (author string, timestamp int64, err error) {
	author, digits, found := strings.Cut(id, ":")
	timestamp, failed := strconv.ParseInt(digits, 10, 64)
	if !found || failed != nil || timestamp <= 0 || !validNumber(author) && !validUUID(author) {
		return "", 0, refused(fmt.Errorf("%q is no message of Signal", id))
	}
	return author, timestamp, nil
}
