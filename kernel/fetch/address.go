package fetch

import (
	"fmt"
	"net"
	"net/netip"

	"org-agent/kernel/protocol"
)

// specialNetworks are the networks without public servers, by the registries of IANA. For IPv6 the
// list covers only 2000::/3; everything else in IPv6 is special.
var specialNetworks = []struct {
	network netip.Prefix
	what    string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this machine's own"},
	{netip.MustParsePrefix("10.0.0.0/8"), "of a private network"},
	{netip.MustParsePrefix("100.64.0.0/10"), "of a provider's inner network"},
	{netip.MustParsePrefix("127.0.0.0/8"), "this machine's own"},
	{netip.MustParsePrefix("168.63.129.16/32"), "where a cloud tells its machines their secrets"},
	{netip.MustParsePrefix("169.254.0.0/16"), "of the local link"},
	{netip.MustParsePrefix("172.16.0.0/12"), "of a private network"},
	{netip.MustParsePrefix("192.0.0.0/24"), "reserved for protocols"},
	{netip.MustParsePrefix("192.0.2.0/24"), "only for examples"},
	{netip.MustParsePrefix("192.31.196.0/24"), "a sink for wrong questions"},
	{netip.MustParsePrefix("192.52.193.0/24"), "a relay"},
	{netip.MustParsePrefix("192.88.99.0/24"), "a relay"},
	{netip.MustParsePrefix("192.168.0.0/16"), "of a private network"},
	{netip.MustParsePrefix("192.175.48.0/24"), "a sink for wrong questions"},
	{netip.MustParsePrefix("198.18.0.0/15"), "only for measurements"},
	{netip.MustParsePrefix("198.51.100.0/24"), "only for examples"},
	{netip.MustParsePrefix("203.0.113.0/24"), "only for examples"},
	{netip.MustParsePrefix("224.0.0.0/4"), "of a group of machines"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved"},
	{netip.MustParsePrefix("2001::/23"), "of a tunnel, or reserved for protocols"}, // Teredo, benchmarks, ORCHID
	{netip.MustParsePrefix("2001:db8::/32"), "only for examples"},
	{netip.MustParsePrefix("2002::/16"), "of a tunnel"}, // 6to4
	{netip.MustParsePrefix("2620:4f:8000::/48"), "a sink for wrong questions"},
	{netip.MustParsePrefix("3fff::/20"), "only for examples"},
}

var (
	unicast = netip.MustParsePrefix("2000::/3")
	nat64   = netip.MustParsePrefix("64:ff9b::/96") // NAT64: its last 4 bytes are of version 4
)

// Public returns an error for an address that does not belong to a public server: an address of
// this machine, of a network around it, or of nobody. A [Fetcher] judges by it.
func Public(address netip.Addr) error {
	if err := registered(address); err != nil {
		return err
	}
	return checkOwnNetworks(address)
}

// registered judges an address by the registries of IANA.
func registered(address netip.Addr) error {
	if !address.IsValid() || address.Zone() != "" {
		return protocol.ToolErrorf(protocol.ToolRefused, "%s is an address of the local link: only servers in the internet are asked", address)
	}
	plain := address.Unmap()
	if nat64.Contains(plain) {
		bytes := plain.As16()
		plain = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	for _, s := range specialNetworks {
		if s.network.Contains(plain) {
			return protocol.ToolErrorf(protocol.ToolRefused, "%s is an address that is %s: only servers in the internet are asked", address, s.what)
		}
	}
	if plain.Is6() && !unicast.Contains(plain) {
		return protocol.ToolErrorf(protocol.ToolRefused, "%s is an address of this machine, of a network around it or of nobody: only servers in the internet are asked", address)
	}
	return nil
}

// checkOwnNetworks refuses public addresses of this machine. For IPv6, where every device has a
// public address, it also refuses those of the machine's neighbours.
func checkOwnNetworks(address netip.Addr) error {
	plain := address.Unmap()
	own, err := net.InterfaceAddrs()
	if err != nil {
		return fmt.Errorf("ask for this machine's addresses: %w", err)
	}
	for _, a := range own {
		network, ok := a.(*net.IPNet)
		if !ok {
			continue
		}
		ip, _ := netip.AddrFromSlice(network.IP)
		ones, _ := network.Mask.Size()
		if ip = ip.Unmap(); ip == plain || ip.Is6() && plain.Is6() && ones >= 48 && netip.PrefixFrom(ip, ones).Contains(plain) {
			return protocol.ToolErrorf(protocol.ToolRefused, "%s is an address of this machine or of its network: only servers in the internet are asked", address)
		}
	}
	return nil
}
