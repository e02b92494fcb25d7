package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/fault"
)

// foreignHook turns the WRONGTYPE of a command into an error that names the
// key. Redis names none, and a command may have many.
type foreignHook struct{ store *Store }

// DialHook implements redis.Hook.
func (foreignHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (h foreignHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if redis.HasErrorPrefix(err, wrongType) {
			return h.store.foreign(ctx, cmd, err)
		}
		return err
	}
}

// ProcessPipelineHook implements redis.Hook.
func (h foreignHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			if redis.HasErrorPrefix(cmd.Err(), wrongType) {
				cmd.SetErr(h.store.foreign(ctx, cmd, cmd.Err()))
			}
		}
		return err
	}
}

const (
	wrongType   = "WRONGTYPE"
	foreignCode = "foreign_key"
)

// foreign looks for the key of a command that has another type than it should,
// and returns an ErrConflict about it, or the error as it was.
func (s *Store) foreign(ctx context.Context, cmd redis.Cmder, err error) error {
	if fault.As(err) != nil {
		return err
	}
	var names []string
	for _, arg := range cmd.Args() {
		if name, ok := arg.(string); ok && (strings.HasPrefix(name, s.config.Prefix+":{") || s.isOther(name)) {
			names = append(names, name)
		}
	}
	if found := s.checkTypes(ctx, names); isForeign(found) {
		f := fault.As(found)
		f.Cause = err
		return f
	}
	return err
}

// isForeign reports whether an error is about a key that has another type than it should.
func isForeign(err error) bool {
	f := fault.As(err)
	return f != nil && f.Code == foreignCode
}

// checkTypes returns an ErrConflict about the first key that has another type
// than it should.
func (s *Store) checkTypes(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	p := s.client.Pipeline()
	types := make([]*redis.StatusCmd, len(names))
	for i, name := range names {
		types[i] = p.Type(ctx, name)
	}
	if err := s.exec(ctx, "look at the types of keys", p); err != nil {
		return err
	}
	for i, name := range names {
		is, want := types[i].Val(), s.keys.typeOf(name)
		switch {
		case is == want || is == absentType:
		case s.isOther(name):
			return noBitmap(name, is)
		default:
			return foreignKey(name, is, want)
		}
	}
	return nil
}

// damagedKey says that a key of ours holds what none of us wrote.
func damagedKey(name, want string) error {
	return &fault.Error{Kind: fault.ErrConflict, Code: "damaged_key", Position: fault.NoPosition,
		Message: fmt.Sprintf("the key %s in the store holds no %s, so that another program wrote it; restore the store from a copy", name, want)}
}

// foreignKey says that a key holds something that is not ours.
func foreignKey(name, is, want string) error {
	return &fault.Error{Kind: fault.ErrConflict, Code: foreignCode, Position: fault.NoPosition,
		Message: fmt.Sprintf("the key %s in the store is a %s where a %s belongs, so that another program wrote it; rename or delete it, or configure another prefix", name, is, want)}
}

// noBitmap says that a key of another program is not what it was said to be.
func noBitmap(name, is string) error {
	return &fault.Error{Kind: fault.ErrConflict, Code: foreignCode, Position: fault.NoPosition,
		Message: fmt.Sprintf("the key %s in the store is a %s and no bitmap; correct the key of the metric in the configuration", name, is)}
}
