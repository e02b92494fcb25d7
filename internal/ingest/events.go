package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/fault"
	"bitboard/internal/ingest/rows"
)

const (
	// MaxEvents is how many events, or user IDs, one request may hold.
	MaxEvents = 5_000
	// MaxEventBytes is how long a request with events may be.
	MaxEventBytes = 5 << 20
)

// event is one event that was understood.
type event struct {
	id      string
	bitmaps []cohort.Bitmap
	value   bool
}

// Events takes in a batch of events, NDJSON or a JSON array, of which one with
// "value": false takes its marks back. Where several speak of one mark the
// last holds. Events that mean nothing are rejected and the rest is accepted;
// what is accepted is in the store when Events returns without an error. A
// batch over MaxEvents or MaxEventBytes is a fault.ErrTooLarge, one that is
// neither form an ErrInvalid; nothing is written then.
func (s *Service) Events(ctx context.Context, body io.Reader, today cohort.Day) (accepted int, rejects []Reject, err error) {
	text, err := io.ReadAll(io.LimitReader(body, MaxEventBytes+1))
	if err != nil {
		return 0, nil, fmt.Errorf("reading events: %w", err)
	}
	if len(text) > MaxEventBytes {
		return 0, nil, tooLarge("the events take up more than %d bytes; send fewer at once", MaxEventBytes)
	}
	b := batch{service: s, rows: newInterpreter(s.mapping, s.config.Workspace.Zone, today), rejects: []Reject{}}
	if err := b.read(text); err != nil {
		return 0, nil, err
	}
	if err := s.apply(ctx, b.events); err != nil {
		return 0, nil, err
	}
	return len(b.events), b.rejects, nil
}

func tooLarge(format string, args ...any) error {
	e := fault.Invalid("too_large", "", format, args...)
	e.Kind = fault.ErrTooLarge
	return e
}

// batch is the events of a request.
type batch struct {
	service *Service
	rows    *interpreter
	events  []event
	rejects []Reject
}

// read reads all events of a text.
func (b *batch) read(text []byte) error {
	switch trimmed := bytes.TrimLeft(text, " \t\r\n"); {
	case len(trimmed) == 0:
		return fault.Invalid("no_events", "", "the body is empty; give events as NDJSON or a JSON array")
	case trimmed[0] == '[':
		return b.readArray(trimmed)
	default:
		return b.readLines(text)
	}
}

func (b *batch) readArray(text []byte) error {
	var items []json.RawMessage
	if err := json.Unmarshal(text, &items); err != nil {
		e := fault.Invalid("bad_json", "", "the body is not a JSON array of events")
		e.Cause = err
		return e
	}
	if len(items) > MaxEvents {
		return tooMany(len(items))
	}
	for i, item := range items {
		row := rows.Object(int64(i+1), item)
		b.add(&row)
	}
	return nil
}

func (b *batch) readLines(text []byte) error {
	r := rows.NDJSON(text)
	var row rows.Row
	for n := 1; r.Next(&row); n++ {
		if n > MaxEvents {
			return tooMany(n)
		}
		b.add(&row)
	}
	return nil
}

func tooMany(n int) error {
	return tooLarge("%d or more events are too many at once; send at most %d", n, MaxEvents)
}

// add understands a row or rejects it.
func (b *batch) add(row *rows.Row) {
	e, wrong := b.understand(row)
	if wrong != nil {
		b.rejects = append(b.rejects, rejected(row.Line, wrong))
		return
	}
	b.events = append(b.events, e)
}

func (b *batch) understand(row *rows.Row) (event, *fault.Error) {
	g, wrong := b.rows.group(row)
	if wrong != nil {
		return event{}, wrong
	}
	e := event{id: string(row.UserID), bitmaps: g.bitmaps, value: string(row.Value) != "false"}
	if err := b.service.checkID(e.id); err != nil {
		return event{}, fault.As(err)
	}
	if e.value && row.Value != nil && string(row.Value) != "true" {
		return event{}, fault.Invalid("bad_value", rows.Value, "value is %s; give true or false", fault.Show(string(row.Value)))
	}
	return e, nil
}

// apply writes what events mark and take back. All marks ever made are written
// before those taken back at last, so that their users are known as if the
// events had come one by one.
func (s *Service) apply(ctx context.Context, events []event) error {
	offsets, err := s.offsets(ctx, events)
	if err != nil {
		return err
	}
	made, back := map[cohort.Bitmap]*roaring.Bitmap{}, map[cohort.Bitmap]*roaring.Bitmap{}
	for _, e := range events {
		offset, ok := offsets[e.id]
		if !ok {
			continue // takes back what a user that nobody knows cannot have
		}
		for _, b := range e.bitmaps {
			switch {
			case !e.value:
				addMark(back, b, offset)
				continue
			case back[b] != nil:
				back[b].Remove(offset)
			}
			addMark(made, b, offset)
		}
	}
	if err := s.write(ctx, made); err != nil {
		return err
	}
	return s.takeBack(ctx, back)
}

func (s *Service) write(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap) error {
	if len(marks) == 0 {
		return nil
	}
	_, err := s.config.Store.Merge(ctx, marks)
	return err
}

func (s *Service) takeBack(ctx context.Context, marks map[cohort.Bitmap]*roaring.Bitmap) error {
	for b, users := range marks {
		if users.IsEmpty() {
			delete(marks, b)
		}
	}
	if len(marks) == 0 {
		return nil
	}
	_, err := s.config.Store.Clear(ctx, marks)
	return err
}

// offsets returns those of the events' users. A user whose marks are only
// taken back is looked up and never created.
func (s *Service) offsets(ctx context.Context, events []event) (map[string]uint32, error) {
	var made, back []string
	for _, e := range events {
		if e.value {
			made = append(made, e.id)
		} else {
			back = append(back, e.id)
		}
	}
	offsets, err := s.config.Store.FindAll(ctx, back)
	if err != nil {
		return nil, err
	}
	assigned, err := s.config.Store.Assign(ctx, made)
	if err != nil {
		return nil, err
	}
	for i, id := range made {
		offsets[id] = assigned[i]
	}
	return offsets, nil
}
