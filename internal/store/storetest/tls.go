package storetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// encrypted is a server that takes encrypted connections on a port, and others
// only on its socket.
type encrypted struct {
	*server
	port endpoint
}

// URL returns the URL for encrypted connections.
func (e encrypted) URL() string { return "rediss://" + e.port.address }

var secure = lazily(startTLS)

// TLS returns the URL of a server that takes only encrypted connections and
// that all tests of the test binary share. The test binary trusts its
// certificate, and no other from then on, if it trusted none before. It is for 127.0.0.1.
func TLS(t testing.TB) (url string) {
	t.Helper()
	return secure(t)
}

func startTLS(t testing.TB, arguments ...string) encrypted {
	t.Helper()
	e, port := settle(t, onSocket()), onPort(t)
	certificate, key := writeCertificate(t, e.dir)
	// Not that of a test: what is trusted is read once a process.
	if err := os.Setenv("SSL_CERT_FILE", certificate); err != nil { //nolint:usetesting // as above
		t.Fatal(err)
	}
	_, number, _ := net.SplitHostPort(port.address) // as onPort joined them
	arguments = append(arguments, "--tls-port", number, "--bind", "127.0.0.1",
		"--tls-cert-file", certificate, "--tls-key-file", key, "--tls-auth-clients", "no")
	return encrypted{launch(t, e, arguments...), port}
}

// writeCertificate makes a certificate for 127.0.0.1 that signs itself.
func writeCertificate(t testing.TB, dir string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "127.0.0.1"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return writePEM(t, filepath.Join(dir, "certificate.pem"), "CERTIFICATE", signed), writePEM(t, filepath.Join(dir, "key.pem"), "PRIVATE KEY", secret)
}

func writePEM(t testing.TB, path, kind string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
