package store

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"syscall"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/fault"
)

// failed turns an error of the client into one of ours: a context's end stays
// what it is, a store that is away or refuses us becomes an ErrUnavailable
// that says which and why, anything else is wrapped with what was tried. What
// is one of ours already stays.
func (s *Store) failed(ctx context.Context, what string, err error) error {
	if err == nil || fault.As(err) != nil {
		return err
	}
	if ended := ctx.Err(); ended != nil {
		return fmt.Errorf("store: %s: %w", what, ended)
	}
	if why := refusal(err); why != "" {
		if readable(err) {
			err = fmt.Errorf("%w: %w", fault.ErrNoWrites, err)
		}
		return fault.Unavailable(err, "the store at %s %s", s.shown, why)
	}
	if why := absence(err); why != "" {
		return fault.Unavailable(err, "the store at %s does not answer: %s%s", s.shown, why, s.culprit(err))
	}
	return fmt.Errorf("store: %s: %w", what, err)
}

// culprit names the one of several servers that could not be reached.
func (s *Store) culprit(err error) string {
	var network *net.OpError
	if !s.several || !errors.As(err, &network) || network.Addr == nil {
		return ""
	}
	return " (" + network.Addr.String() + ")"
}

// refusals are the errors with which a server says that it will not serve us
// now, by how they begin.
var refusals = []struct{ prefix, why string }{
	{"NOAUTH", "asks for a password"},
	{"WRONGPASS", "does not accept the password"},
	{"NOPERM", "does not allow this user all the commands that are needed"},
	{"LOADING", "is still loading its data"},
	{"OOM", "has no memory left for writes"},
	{"READONLY", "is a read-only replica"},
	{"MISCONF", "refuses writes because it cannot save its data"},
	{"MASTERDOWN", "has lost its master"},
	{"CLUSTERDOWN", "is a cluster that is down"},
	{"TRYAGAIN", "is moving its data"},
	{"MOVED", "is a cluster that is moving its data"},
	{"ASK", "is a cluster that is moving its data"},
	{"This instance has cluster support disabled", "is no cluster; give redis://HOST:PORT"},
	{"unknown command 'cluster'", "is no cluster; give redis://HOST:PORT"},
	{"unknown command 'sentinel'", "has no sentinel there; give redis://HOST:PORT"},
	{"NOREPLICAS", "refuses writes because its replicas are away"},
	{"max number of clients", "has no connection left"},
}

func refusal(err error) string {
	for _, r := range refusals {
		if redis.HasErrorPrefix(err, r.prefix) {
			return r.why
		}
	}
	return ""
}

// readable reports whether the server that refused would still be read.
func readable(err error) bool {
	return slices.ContainsFunc([]string{"OOM", "READONLY", "MISCONF", "NOREPLICAS"}, func(prefix string) bool {
		return redis.HasErrorPrefix(err, prefix)
	})
}

func absence(err error) string {
	var lookup *net.DNSError
	var certificate *tls.CertificateVerificationError
	var timeout net.Error
	switch {
	case errors.As(err, &lookup):
		return "no such host"
	case errors.As(err, &certificate):
		return "its certificate is not trusted here; name a file with that of its issuer in SSL_CERT_FILE"
	case errors.Is(err, redis.Nil):
		return "its sentinels know no master of that name"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ENOENT):
		return "no such socket"
	case errors.Is(err, os.ErrPermission):
		return "no permission"
	case errors.Is(err, redis.ErrPoolTimeout), errors.As(err, &timeout) && timeout.Timeout():
		return "timed out"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "it closed the connection"
	case errors.Is(err, redis.ErrClosed):
		return "the connection was closed here"
	case errors.As(err, &timeout):
		return "no connection"
	}
	return ""
}
