package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// channelCommands are "org-agent channel".
type channelCommands struct {
	List   channelListCommand   `cmd:"" help:"List the channels of config.org, and which of them run."`
	Add    channelAddCommand    `cmd:"" help:"Say what to do first, ask for what is needed, test the account, and write the channel into config.org."`
	Test   channelTestCommand   `cmd:"" help:"Test the account of a channel."`
	Pair   channelPairCommand   `cmd:"" help:"Make a code. Whoever sends it to the agent in a private chat may talk to it from then on."`
	People channelPeopleCommand `cmd:"" help:"List who may talk, by channels.org, as Org tables."`
	Allow  channelAllowCommand  `cmd:"" help:"Let somebody talk to the agent, by their id on a channel."`
	Block  channelBlockCommand  `cmd:"" help:"Keep somebody out, by their id on a channel."`
}

// channelListCommand is "org-agent channel list".
type channelListCommand struct {
	JSON bool `help:"Print JSON."`
}

func (c *channelListCommand) Run(ctx context.Context, proc *process) error {
	var list protocol.ChannelListResult
	if err := proc.call(ctx, protocol.MethodChannelList, protocol.Empty{}, &list); err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(list)
	}
	if len(list.Channels) == 0 {
		fmt.Fprintf(proc.stderr, "org-agent: there is no channel; \"org-agent channel add NAME\" adds one: %s\n", strings.Join(driverNames(list.Drivers), ", "))
	}
	for _, one := range list.Channels {
		fmt.Fprintf(proc.stdout, "%4d  %-16s %-10s %s\n", one.Line, one.Name, one.Driver, cmp.Or(printable(text.Line(one.Fault)), "runs"))
	}
	return proc.stdout.writeError()
}

func driverNames(drivers []protocol.ChannelDriver) (names []string) {
	for _, d := range drivers {
		names = append(names, d.Name)
	}
	return names
}

// channelAddCommand is "org-agent channel add".
type channelAddCommand struct {
	Name   string            `arg:"" help:"The name of the channel, such as telegram."`
	Driver string            `help:"What it is, where the name does not say it." placeholder:"NAME"`
	Set    map[string]string `help:"A property, so that it is not asked for; may be repeated." placeholder:"PROPERTY=VALUE" mapsep:"none"`
}

func (c *channelAddCommand) Run(ctx context.Context, proc *process) error {
	conn, err := proc.connect(ctx, connection{start: true})
	if err != nil {
		return err
	}
	defer conn.Close()
	var list protocol.ChannelListResult
	if err := conn.Call(ctx, protocol.MethodChannelList, protocol.Empty{}, &list); err != nil {
		return err
	}
	driver, err := c.driver(list.Drivers)
	if err != nil {
		return err
	}
	properties, err := c.properties(ctx, proc, driver)
	if err != nil {
		return err
	}
	fmt.Fprintln(proc.stderr, "Testing the account …")
	var added protocol.ChannelAddResult
	if err := conn.Call(ctx, protocol.MethodChannelAdd, protocol.ChannelAddParams{Name: c.Name, Driver: c.Driver, Properties: properties}, &added); err != nil {
		return err
	}
	fmt.Fprintf(proc.stdout, "%s is in line %d of %s%s\n", added.Name, added.Line, added.File, account(added.Account))
	fmt.Fprintf(proc.stdout, "Nobody may talk there yet. This makes a code that lets you in:\n\n  org-agent channel pair %s --role owner\n", added.Name)
	return proc.stdout.writeError()
}

// account returns whose account it is, for the end of a line.
func account(a protocol.ChannelAccount) string {
	if a.ID == "" {
		return ""
	}
	name := printable(text.Line(cmp.Or(a.Name, a.ID)))
	if a.Username != "" {
		name += " (@" + strings.TrimPrefix(printable(text.Line(a.Username)), "@") + ")"
	}
	return ", and its account is " + name
}

// driver returns the driver that the command names.
func (c *channelAddCommand) driver(drivers []protocol.ChannelDriver) (protocol.ChannelDriver, error) {
	name := strings.ToLower(cmp.Or(c.Driver, c.Name))
	for _, d := range drivers {
		if d.Name == name {
			return d, nil
		}
	}
	return protocol.ChannelDriver{}, usagef("there is no kind of channel %q: there are %s; --driver says which one it is", name, strings.Join(driverNames(drivers), ", "))
}

// properties asks for what --set does not say, after the steps that come first.
func (c *channelAddCommand) properties(ctx context.Context, proc *process, driver protocol.ChannelDriver) (properties []protocol.ChannelProperty, err error) {
	given := map[string]string{}
	for name, value := range c.Set {
		given[strings.ToUpper(name)] = value
		properties = append(properties, protocol.ChannelProperty{Name: strings.ToUpper(name), Value: value})
	}
	var in *lineReader
	for _, p := range driver.Properties {
		if _, there := given[p.Name]; there || len(given) > 0 && !p.Required {
			continue
		}
		if in == nil {
			for i, step := range driver.Begin {
				fmt.Fprintf(proc.stderr, "%d. %s\n", i+1, step)
			}
			in = readLines(ctx, proc.stdin)
		}
		value, err := c.ask(ctx, proc, in, p)
		if err != nil {
			return nil, err
		}
		if value != "" {
			properties = append(properties, protocol.ChannelProperty{Name: p.Name, Value: value})
		}
	}
	return properties, nil
}

// ask asks for one property. Of a key it asks for the place.
func (c *channelAddCommand) ask(ctx context.Context, proc *process, in *lineReader, p protocol.ChannelDriverProperty) (string, error) {
	fmt.Fprintf(proc.stderr, "\n%s: %s.\n", p.Name, p.Doc)
	usual := ""
	if p.Key {
		usual = "auth-source:org-agent-" + strings.ToLower(c.Name)
		if p.Name != "TOKEN" {
			usual += "-" + strings.ToLower(p.Name)
		}
		fmt.Fprintf(proc.stderr, "Do not type the key itself. It may be in your ~/.authinfo.gpg, in the line\n  machine %s login apikey password KEY\nor say env:VARIABLE, or command: pass show NAME.\n", strings.TrimPrefix(usual, "auth-source:"))
	}
	if !p.Required {
		usual = ""
	}
	switch {
	case usual != "":
		fmt.Fprintf(proc.stderr, "Place (RET for %s): ", usual)
	case p.Required:
		fmt.Fprint(proc.stderr, "> ")
	default:
		fmt.Fprint(proc.stderr, "RET for none> ")
	}
	value, err := in.line(ctx)
	if value = strings.TrimSpace(value); value == "" {
		value = usual
	}
	switch {
	case errors.Is(err, io.EOF) && p.Required:
		return "", fmt.Errorf("nothing was written: %s is needed; --set %s=… says it without a question", p.Name, p.Name)
	case err != nil && !errors.Is(err, io.EOF):
		return "", err
	case value == "" && p.Required:
		return "", fmt.Errorf("nothing was written: %s is needed", p.Name)
	}
	return value, nil
}

// channelTestCommand is "org-agent channel test".
type channelTestCommand struct {
	Name string `arg:"" help:"The name of the channel in config.org."`
}

func (c *channelTestCommand) Run(ctx context.Context, proc *process) error {
	var result protocol.ChannelTestResult
	if err := proc.call(ctx, protocol.MethodChannelTest, protocol.ChannelParams{Name: c.Name}, &result); err != nil {
		return err
	}
	_, err := fmt.Fprintf(proc.stdout, "%s can be used%s\n", c.Name, account(result.Account))
	return err
}

// channelPairCommand is "org-agent channel pair".
type channelPairCommand struct {
	Name string `arg:"" help:"The name of the channel in config.org."`
	Role string `help:"owner for yourself, or friend for somebody who may talk." enum:"friend,owner" default:"friend"`
}

func (c *channelPairCommand) Run(ctx context.Context, proc *process) error {
	var result protocol.ChannelPairResult
	if err := proc.call(ctx, protocol.MethodChannelPair, protocol.ChannelPairParams{Name: c.Name, Role: protocol.Keyword(c.Role)}, &result); err != nil {
		return err
	}
	until := result.Until
	if at, err := time.Parse(time.RFC3339, until); err == nil {
		until = at.Local().Format("15:04")
	}
	fmt.Fprintf(proc.stderr, "Whoever sends this to the agent in a private chat on %s, once, until %s, is its %s:\n", c.Name, until, c.Role)
	_, err := fmt.Fprintln(proc.stdout, result.Code)
	return err
}

// channelPeopleCommand is "org-agent channel people".
type channelPeopleCommand struct {
	JSON bool `help:"Print JSON."`
}

func (c *channelPeopleCommand) Run(ctx context.Context, proc *process) error {
	var result protocol.ChannelPeopleResult
	if err := proc.call(ctx, protocol.MethodChannelPeople, protocol.Empty{}, &result); err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(result)
	}
	return proc.printPeople(result)
}

// printPeople prints who may talk. It is an error that rows cannot be read.
func (proc *process) printPeople(result protocol.ChannelPeopleResult) error {
	var b strings.Builder
	b.WriteString("| channel | id | who | role | since |\n|-\n")
	for _, p := range result.People {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", p.Channel, cell(printable(p.ID)), cell(printable(p.Who)), p.Role, cell(printable(p.Since)))
	}
	if len(result.Chats) > 0 {
		b.WriteString("\n| channel | chat | answers | who | what |\n|-\n")
	}
	for _, chat := range result.Chats {
		who := "people"
		if chat.Anyone {
			who = "anyone"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", chat.Channel, cell(printable(chat.Chat)), chat.Answers, who, cell(printable(chat.What)))
	}
	fmt.Fprint(proc.stdout, b.String())
	for _, fault := range result.Faults {
		fmt.Fprintln(proc.stderr, printable(text.Line(fault)))
	}
	if len(result.Faults) > 0 {
		return fmt.Errorf("%s in %s: see above; what cannot be read lets nobody in", text.Count(len(result.Faults), "fault"), result.File)
	}
	return proc.stdout.writeError()
}

// channelAllowCommand is "org-agent channel allow".
type channelAllowCommand struct {
	Channel string `arg:"" help:"The name of the channel."`
	ID      string `arg:"" help:"Their permanent id there. Capital letters matter."`
	Who     string `help:"What you call them." placeholder:"NAME"`
	Role    string `help:"friend for somebody who may talk, or owner for yourself." enum:"friend,owner" default:"friend"`
}

func (c *channelAllowCommand) Run(ctx context.Context, proc *process) error {
	return proc.allow(ctx, protocol.ChannelAllowParams{Channel: protocol.Channel(c.Channel), ID: c.ID, Who: c.Who, Role: protocol.Keyword(c.Role)})
}

// channelBlockCommand is "org-agent channel block".
type channelBlockCommand struct {
	Channel string `arg:"" help:"The name of the channel."`
	ID      string `arg:"" help:"Their permanent id there. Capital letters matter."`
}

func (c *channelBlockCommand) Run(ctx context.Context, proc *process) error {
	return proc.allow(ctx, protocol.ChannelAllowParams{Channel: protocol.Channel(c.Channel), ID: c.ID, Role: "blocked"})
}

// allow gives somebody a role.
func (proc *process) allow(ctx context.Context, p protocol.ChannelAllowParams) error {
	var result protocol.ChannelPeopleResult
	if err := proc.call(ctx, protocol.MethodChannelAllow, p, &result); err != nil {
		return err
	}
	_, err := fmt.Fprintf(proc.stdout, "%s on %s is %s, in %s\n", printable(p.ID), p.Channel, p.Role, result.File)
	return err
}
