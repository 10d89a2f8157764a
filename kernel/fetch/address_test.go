package fetch_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"org-agent/kernel/fetch"
)

// TestPublic checks that every kind of address that does not belong to a public server is refused,
// also if it is wrapped in another, and that addresses of servers are allowed.
func TestPublic(t *testing.T) {
	refused := `0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.1.2.3
		168.63.129.16 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1
		192.168.0.1 192.168.255.255 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255
		240.0.0.1 255.255.255.255
		:: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe
		64:ff9b::c0a8:1 64:ff9b:1::1 64:ff9b:1::808:808 64:ff9b:0:0:1::808:808 100::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2
		2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::1 2002:a00:1:: 2002:808:808::1 3fff::1 4000::1 5f00::1 fc00::1
		fd00:ec2::254 fdff::1 fe80::1 fe80::1%eth0 fec0::1 feff::1 ff02::1 ff0e::1`
	for text := range strings.FieldsSeq(refused) {
		if err := fetch.Public(netip.MustParseAddr(text)); err == nil {
			t.Errorf("%s may be asked", text)
		}
	}
	for text := range strings.FieldsSeq(`1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.216.34 100.63.255.255 100.128.0.0 172.15.255.255
		172.32.0.0 192.0.1.1 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
		::ffff:8.8.8.8 64:ff9b::808:808 2001:200::1 2001:4860:4860::8888 2606:4700:4700::1111 2a00:1450::1`) {
		if err := fetch.Public(netip.MustParseAddr(text)); err != nil {
			t.Errorf("%s may not be asked: %v", text, err)
		}
	}
	if fetch.Public(netip.Addr{}) == nil {
		t.Error("no address at all may be asked")
	}
}

// TestOwnAddresses checks that this machine is never asked, whatever addresses it has.
func TestOwnAddresses(t *testing.T) {
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		address, _ := netip.AddrFromSlice(a.(*net.IPNet).IP)
		if fetch.Public(address) == nil {
			t.Errorf("%s is this machine's, and may be asked", a)
		}
	}
}

// TestAddress checks that an address has one spelling, and that addresses that always lead into a
// private network are refused without asking.
func TestAddress(t *testing.T) {
	f := fetch.New(fetch.Config{})
	for text, want := range map[string]string{
		"https://Example.ORG":                        "https://example.org/",
		" https://example.org/Foo?Q=1#part ":         "https://example.org/Foo?Q=1",
		"https://example.org/foo":                    "https://example.org/foo",
		"HTTPS://example.org:443/":                   "https://example.org/",
		"http://example.org:80/a b":                  "http://example.org/a%20b",
		"http://example.org:8080/":                   "http://example.org:8080/",
		"https://example.org./x":                     "https://example.org/x",
		"https://bücher.example/":                    "https://xn--bcher-kva.example/",
		"https://ｅｘａｍｐｌｅ。org/":                       "https://example.org/",
		"https://a_b.example.org/":                   "https://a_b.example.org/",
		"http://134744072/":                          "http://8.8.8.8/",
		"http://0x8.8.010.8/":                        "http://8.8.8.8/",
		"https://[2606:4700:4700::1111]/":            "https://[2606:4700:4700::1111]/",
		"https://[::ffff:8.8.8.8]/":                  "https://8.8.8.8/",
		"https://en.wikipedia.org/wiki/C%2B%2B":      "https://en.wikipedia.org/wiki/C%2B%2B",
		"https://example.org/%7Efoo/?a=%2e%2e&b=c d": "https://example.org/%7Efoo/?a=%2e%2e&b=c d",
	} {
		if got, err := f.Address(text); err != nil || strings.ReplaceAll(got, "c%20d", "c d") != want {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "example.org", "example.org:8080/x", "//example.org/", "ftp://example.org/", "file:///etc/passwd", "javascript:alert(1)",
		"data:text/html,x", "gopher://example.org/", "view-source:https://example.org", "https:", "https://", "https:///x", "https:example.org",
		"http://user:pass@example.org/", "http://example.org@127.0.0.1/", "http://example.org\\@127.0.0.1/", "http://127.0.0.1\t/", "http://exa\nmple.org/",
		"http://localhost/", "http://LOCALHOST:8080/", "http://localhost./", "http://a.localhost/", "http://printer.local/", "http://x.internal/",
		"http://metadata.google.internal/computeMetadata/v1/", "http://metadata/", "http://intranet/", "http://router.lan/", "http://x.home.arpa/",
		"http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f000001/", "http://017700000001/", "http://0177.0.0.1/", "http://0x7f.1/",
		"http://127.0.0.1./", "http://①②⑦.0.0.1/", "http://127。0。0。1/", "http://0/", "http://0x/", "http://4294967296/", "http://256.1.1.1/", "http://1.2.3.4.5/",
		"http://example.09/", "http://example.0x7f/", "http://127.0.0.0x1/", "http://99999999999999999999/", "http://[::1]/", "http://[::]/", "http://[::ffff:7f00:1]/",
		"http://[64:ff9b::7f00:1]/", "http://[fe80::1%25eth0]/", "http://[fd00::1]/", "http://169.254.169.254/latest/meta-data/", "http://198.18.0.1/",
		"http://example.org:22/", "http://example.org:25/", "http://example.org:0/", "http://example.org:99999/", "http://example.org:x/",
		"http://.example.org/", "http://example..org/", "https://example.org/" + strings.Repeat("a", 5000),
		"http://%31%32%37.0.0.1/", "http://exam ple.org/", "http://example.org%00.evil.org/", "http://127.0.0.1%2f@example.org/",
	} {
		if got, err := f.Address(text); err == nil {
			t.Errorf("%.60q is asked as %q", text, got)
		} else if len(err.Error()) > 300 || strings.Contains(err.Error(), "pass@") {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}
