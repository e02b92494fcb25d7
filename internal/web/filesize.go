package web

import (
	"context"
	"errors"

	"bitboard/internal/cohort"
	"bitboard/internal/memberlist"
	"bitboard/views"
)

const (
	// shownMembers is how many members of a cohort the page lists.
	shownMembers = 50
	// measuredMembers is how many members of a cohort are written to learn how large
	// its file is: one with more is estimated. Dense IDs are written much faster, and
	// the first ones are shorter than the others.
	measuredMembers = 1 << 16
	measuredDense   = 1 << 21
)

// errEnough ends a listing that has all it wants.
var errEnough = errors.New("enough members")

// preview is the first members of a set, and how large its file is.
type preview struct {
	members []string
	// rows is how many were written, into so many bytes: as they are, and safe for
	// spreadsheets.
	rows        int64
	plain, safe tally
}

// tally counts what is written to it, in bytes.
type tally int64

// Write counts.
func (t *tally) Write(b []byte) (int, error) {
	*t += tally(len(b))
	return len(b), nil
}

// preview writes the first members of a set to nowhere.
func (s *server) preview(ctx context.Context, set cohort.Set, p *params) (*preview, error) {
	v, enough := &preview{}, int64(measuredMembers)
	if s.Dense {
		enough = measuredDense
	}
	plain, safe := memberlist.NewWriter(&v.plain, memberlist.Options{}), memberlist.NewWriter(&v.safe, memberlist.Options{Safe: true})
	err := s.Query.Members(ctx, set, p.opts, func(ids *cohort.IDList) error {
		for i := 0; i < ids.Len() && len(v.members) < shownMembers; i++ {
			v.members = append(v.members, string(ids.At(i)))
		}
		v.rows += int64(ids.Len())
		if err := errors.Join(plain.Write(ids), safe.Write(ids)); err != nil {
			return err
		}
		if v.rows >= enough {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return v, err
}

// size is how large the file of so many rows is: exact when all of them were written.
func (v *preview) size(rows int64) views.FileSize {
	if v.rows >= rows {
		return views.FileSize{Bytes: int64(v.plain), Safe: int64(v.safe - v.plain), Exact: true}
	}
	header := int64(len(memberlist.Header) + 1)
	scaled := func(written tally) int64 {
		return header + int64(float64(int64(written)-header)/float64(v.rows)*float64(rows))
	}
	plain := scaled(v.plain)
	return views.FileSize{Bytes: plain, Safe: scaled(v.safe) - plain}
}
