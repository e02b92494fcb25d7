// Package address reads the URLs that name a store.
package address

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Kind is how the servers behind an address belong together.
type Kind int

// The kinds of stores.
const (
	// Single is one server.
	Single Kind = iota
	// Sentinel is a master that is found by asking sentinels.
	Sentinel
	// Cluster is a Redis Cluster, of which some nodes are given.
	Cluster
)

// Address is where a store is and how to get in.
type Address struct {
	Kind Kind
	// Socket is the path of a Unix socket; then there are no Servers.
	Socket string
	// Servers are HOST:PORT each: the server, sentinels, or nodes of a cluster.
	Servers []string
	// TLS says that all connections are encrypted, and certificates verified.
	TLS            bool
	User, Password string
	// Master is the name under which the sentinels know the master.
	Master string
	// SentinelPassword is what the sentinels themselves ask for.
	SentinelPassword string
	// Database is the number of the database of a server or master.
	Database int
}

const (
	serverPort   = "6379"
	sentinelPort = "26379"
)

// schemes are the forms of addresses, by their schemes. What is wrong with an
// address is said with the example, and never repeats more than the scheme,
// because the rest may hold a password.
var schemes = map[string]struct {
	kind    Kind
	tls     bool
	example string
}{
	"redis":           {Single, false, "redis://[USER:PASSWORD@]HOST:PORT[/DATABASE]"},
	"rediss":          {Single, true, "rediss://[USER:PASSWORD@]HOST:PORT[/DATABASE]"},
	"unix":            {Single, false, "unix://[USER:PASSWORD@]PATH"},
	"redis+sentinel":  {Sentinel, false, "redis+sentinel://[USER:PASSWORD@]HOST:PORT,HOST:PORT/MASTER[/DATABASE]"},
	"rediss+sentinel": {Sentinel, true, "rediss+sentinel://[USER:PASSWORD@]HOST:PORT,HOST:PORT/MASTER[/DATABASE]"},
	"redis+cluster":   {Cluster, false, "redis+cluster://[USER:PASSWORD@]HOST:PORT,HOST:PORT"},
	"rediss+cluster":  {Cluster, true, "rediss+cluster://[USER:PASSWORD@]HOST:PORT,HOST:PORT"},
}

// Parse reads an address. Its errors are for the reader of a configuration and
// hold no password.
func Parse(text string) (Address, error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return Address{}, errors.New("not a URL; give redis://HOST:PORT or unix://PATH")
	}
	form, known := schemes[scheme]
	if !known {
		return Address{}, errors.New("unknown scheme; give redis, rediss, unix, redis+sentinel or redis+cluster")
	}
	a := Address{Kind: form.kind, TLS: form.tls}
	if err := a.read(scheme, rest); err != nil {
		return Address{}, fmt.Errorf("%w; give %s", err, form.example)
	}
	return a, nil
}

func (a *Address) read(scheme, rest string) error {
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, tail := rest[:end], rest[end:]
	account, hosts := "", authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		account, hosts = authority[:at+1], authority[at+1:]
	}
	if scheme == "unix" {
		hosts, tail = "", hosts+tail
	}
	u, err := url.Parse("x://" + account + "/" + strings.TrimPrefix(tail, "/"))
	if err != nil || u.Fragment != "" {
		return fmt.Errorf("not a %s URL, or a character in the password needs its percent form", scheme)
	}
	a.User = u.User.Username()
	a.Password, _ = u.User.Password()
	if scheme == "unix" {
		return a.readSocket(u, strings.HasPrefix(tail, "/"))
	}
	if err := a.readServers(hosts); err != nil {
		return err
	}
	if err := a.readPath(strings.Trim(u.Path, "/")); err != nil {
		return err
	}
	return a.readParameters(u.Query())
}

func (a *Address) readSocket(u *url.URL, absolute bool) error {
	a.Socket = u.Path
	if !absolute {
		a.Socket = strings.TrimPrefix(u.Path, "/")
	}
	if a.Socket == "" {
		return errors.New("the path of the socket is missing")
	}
	return a.readParameters(u.Query())
}

func (a *Address) readServers(hosts string) error {
	port := serverPort
	if a.Kind == Sentinel {
		port = sentinelPort
	}
	list := strings.Split(hosts, ",")
	if a.Kind == Single && len(list) > 1 {
		return errors.New("one server is several here; several are a cluster or sentinels")
	}
	for _, host := range list {
		server, err := readServer(host, port)
		if err != nil {
			return err
		}
		a.Servers = append(a.Servers, server)
	}
	return nil
}

// readServer returns HOST:PORT of what may lack its port.
func readServer(text, defaultPort string) (string, error) {
	u, err := url.Parse("x://" + text)
	if err != nil || u.Host != text || u.Hostname() == "" {
		return "", errors.New("a host is missing or malformed")
	}
	port := u.Port()
	if port == "" {
		port = defaultPort
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", errors.New("a port is not a number from 1 to 65535")
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}

// readPath reads what follows the servers: the master's name, if there are
// sentinels, and the number of the database.
func (a *Address) readPath(path string) error {
	if a.Kind == Sentinel {
		a.Master, path, _ = strings.Cut(path, "/")
		if a.Master == "" {
			return errors.New("the name of the master is missing")
		}
	}
	if path == "" {
		return nil
	}
	if a.Kind == Cluster {
		return errors.New("a cluster has no databases to choose from")
	}
	n, err := strconv.ParseUint(path, 10, 31)
	if err != nil {
		return errors.New("the database is not a number")
	}
	a.Database = int(n)
	return nil
}

func (a *Address) readParameters(parameters url.Values) error {
	if a.Kind == Sentinel {
		a.SentinelPassword = parameters.Get("sentinel_password")
		parameters.Del("sentinel_password")
	}
	if len(parameters) > 0 {
		return errors.New("a parameter after ? is not known")
	}
	return nil
}
