// The tests of this package run without the race detector: they start their own program for every
// server, and with the race detector that takes most of a second.

package mcp_test
