package rows

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"

	"bitboard/internal/fault"
)

// gunzip unpacks gzip of one or more members and tells damaged data from a
// source that cannot be read.
type gunzip struct {
	name string
	zip  *gzip.Reader
}

func newGunzip(name string, src io.Reader) (*gunzip, error) {
	z, err := gzip.NewReader(src)
	if err != nil {
		return nil, damage(name, err)
	}
	return &gunzip{name: name, zip: z}, nil
}

// Read implements io.Reader.
func (g *gunzip) Read(p []byte) (int, error) {
	n, err := g.zip.Read(p)
	if err != nil && err != io.EOF {
		err = damage(g.name, err)
	}
	return n, err
}

// damage makes a fault.ErrInvalid of an error that the content is to blame for.
func damage(name string, err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
		return corruptGzip(name, "is cut short", err)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, &corrupt):
		return corruptGzip(name, "is damaged", err)
	}
	return err
}

func corruptGzip(name, what string, cause error) error {
	e := fault.Invalid("corrupt_gzip", "", "%s: the gzip data %s", name, what)
	e.Cause = cause
	return e
}
