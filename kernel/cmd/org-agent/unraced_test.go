// The tests of this package run without the race detector. They start their own program for every command,
// and with the race detector in it this would take most of a second.

package main
