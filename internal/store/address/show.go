package address

import (
	"strconv"
	"strings"
)

// String returns the address as a message may show it: without user,
// passwords and the first database.
func (a Address) String() string {
	if a.Socket != "" {
		return "unix://" + a.Socket
	}
	scheme := "redis"
	if a.TLS {
		scheme = "rediss"
	}
	switch a.Kind {
	case Sentinel:
		scheme += "+sentinel"
	case Cluster:
		scheme += "+cluster"
	}
	shown := scheme + "://" + strings.Join(a.Servers, ",")
	if a.Master != "" {
		shown += "/" + a.Master
	}
	if a.Database != 0 {
		shown += "/" + strconv.Itoa(a.Database)
	}
	return shown
}

// Show returns any text that was given as an address as a message may show it.
func Show(text string) string {
	a, err := Parse(text)
	if err != nil {
		return "the given address"
	}
	return a.String()
}
