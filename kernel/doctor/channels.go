package doctor

import (
	"context"

	"org-agent/kernel/channel/access"
	"org-agent/kernel/config"
)

// channels checks whether the channels of config.org have what they need, and whether channels.org says who may talk.
func channels(ctx context.Context, c Config) []Finding {
	var found []Finding
	rules := (&access.File{Path: c.Paths.Channels}).Rules()
	for _, f := range rules.Faults() {
		found = append(found, fail("correct it: until then it lets nobody in, and keeps out whom it names", "%v", f))
	}
	loaded, err := config.Load(c.Paths)
	if err != nil {
		return found // the check settings reports it
	}
	for _, one := range loaded.Channels {
		found = append(found, c.channel(ctx, one, rules))
	}
	return found[:min(findingLimit, len(found))]
}

func (c Config) channel(ctx context.Context, one config.Channel, rules *access.Rules) Finding {
	if c.Channels != nil {
		if err := c.Channels(one); err != nil {
			return fail("look at the heading of the channel below Channels in config.org", "%v", err)
		}
	}
	for name, key := range one.Keys {
		if _, err := key.Resolve(ctx, c.Env); err != nil {
			return fail("look at the heading of the channel below Channels in config.org", "the channel %s cannot be given its %s: %v", one.Name, name, err)
		}
	}
	for _, p := range rules.People() {
		if p.Channel == one.Name && p.Role != access.Blocked {
			return ok("the channel %s has its keys; \"org-agent channel test %s\" says whether they are valid", one.Name, one.Name)
		}
	}
	return warn("org-agent channel pair "+one.Name+" --role owner makes a code that lets you in", "nobody may talk on the channel %s", one.Name)
}
