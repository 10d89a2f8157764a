package llm

import "time"

// Wait is why the reply to a request does not come yet.
type Wait struct {
	// Host is the server that is asked now, "" if it is not asked yet.
	Host string
	// Class is the failure after which the server is asked again, and Pause the time until then. Class is
	// "" while the server is asked.
	Class Class
	Pause time.Duration
	// Attempt is the number of the next request, from 2. It is 0 beside a Host.
	Attempt int
}

// wait tells who sent the request why it waits.
func (r Request) wait(w Wait) {
	if r.OnWait != nil {
		r.OnWait(w)
	}
}

// Asking tells who sent the request that a server is asked now.
func (r Request) Asking(host string) { r.wait(Wait{Host: host}) }
