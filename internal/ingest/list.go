package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/fault"
	"bitboard/internal/store"
)

const (
	// MaxListIDs is how many user IDs a list may have, repeated ones too.
	MaxListIDs = 1_000_000
	// MaxListBytes is how long a list may be.
	MaxListBytes = 32 << 20
	// MaxUnknownIDs is how many of the IDs that nobody has are given back.
	MaxUnknownIDs = 1_000
	// listPart is how many IDs are looked up at once.
	listPart = 10_000
)

// Listed is what became of the IDs of a list; each is counted once.
type Listed struct {
	// Accepted is how many users are in the list.
	Accepted int
	// Unknown is how many IDs are no known user's; the first of them in their order
	// are UnknownIDs. One that is too long for an ID is cut.
	Unknown    int
	UnknownIDs []string
	// Duplicates is how many IDs had been there before.
	Duplicates int
}

// List makes the list of the saved cohort of a name from texts of user IDs, and
// hands its version to save, which makes it the cohort or refuses it. A text has an
// ID a line, blank lines and blanks around IDs aside, in quotes where CSV wants them;
// or it is CSV whose first line names the column user_id. Who is not known is left
// out, and when nobody is left save is not called. Texts without an ID or that are
// not of this form are a fault.ErrInvalid that names the line, larger ones than
// MaxListBytes and MaxListIDs an ErrTooLarge.
func (s *Service) List(ctx context.Context, name string, save func(version uint64) error, texts ...io.Reader) (Listed, error) {
	l := listing{store: s.config.Store, users: roaring.New(), unknown: map[string]struct{}{}}
	if err := l.readAll(ctx, texts); err != nil {
		return Listed{}, err
	}
	l.listed.Accepted, l.listed.Unknown = int(l.users.GetCardinality()), len(l.unknown)
	if l.users.IsEmpty() {
		return l.listed, nil
	}
	version, err := s.config.Store.WriteList(ctx, name, l.users)
	if err != nil {
		return Listed{}, err
	}
	if err := save(version); err != nil {
		if f := fault.As(err); f != nil && (f.Kind == fault.ErrInvalid || f.Kind == fault.ErrConflict) {
			// Otherwise it may have been saved all the same: the next scan knows.
			err = errors.Join(err, s.config.Store.DropList(ctx, name, version))
		}
		return Listed{}, err
	}
	return l.listed, nil
}

// listing is a list that is being read.
type listing struct {
	store   Store
	ids     []string // not looked up yet
	read    int
	users   *roaring.Bitmap
	unknown map[string]struct{}
	listed  Listed
}

func (l *listing) readAll(ctx context.Context, texts []io.Reader) error {
	left := int64(MaxListBytes)
	for _, from := range texts {
		text, err := io.ReadAll(io.LimitReader(from, left+1))
		if err != nil {
			return fmt.Errorf("reading a list: %w", err)
		}
		if left -= int64(len(text)); left < 0 {
			return listTooLarge("the list takes up more than %d bytes; send it in parts, each as a cohort, and join these", MaxListBytes)
		}
		if err := readIDs(text, func(id string) error { return l.add(ctx, id) }); err != nil {
			return err
		}
	}
	if l.read == 0 {
		return fault.Invalid("no_ids", "ids", "the list has no user ID; give one a line").Say("wrong.list.empty")
	}
	return l.lookUp(ctx)
}

func listTooLarge(format string, most int) error {
	f := fault.Invalid("too_large", "ids", format, most).
		Say("wrong.list.large", "bytes", strconv.Itoa(MaxListBytes>>20), "ids", strconv.Itoa(MaxListIDs))
	f.Kind = fault.ErrTooLarge
	return f
}

func (l *listing) add(ctx context.Context, id string) error {
	if l.read++; l.read > MaxListIDs {
		return listTooLarge("the list has more than %d user IDs; send it in parts, each as a cohort, and join these", MaxListIDs)
	}
	if l.ids = append(l.ids, id); len(l.ids) < listPart {
		return nil
	}
	return l.lookUp(ctx)
}

// lookUp tells for the IDs read so far whose they are.
func (l *listing) lookUp(ctx context.Context) error {
	found, err := l.store.FindAll(ctx, l.ids)
	if err != nil {
		return err
	}
	for _, id := range l.ids {
		offset, known := found[id]
		_, before := l.unknown[id]
		switch {
		case known && l.users.CheckedAdd(offset):
		case known, before:
			l.listed.Duplicates++
		default:
			l.unknown[id] = struct{}{}
			if len(l.listed.UnknownIDs) < MaxUnknownIDs {
				l.listed.UnknownIDs = append(l.listed.UnknownIDs, cutID(id))
			}
		}
	}
	l.ids = l.ids[:0]
	return nil
}

// cutID is an ID that may be none, at most a little longer than one can be.
func cutID(id string) string {
	if len(id) <= store.MaxIDBytes {
		return id
	}
	return strings.ToValidUTF8(id[:store.MaxIDBytes], "") + "…"
}
