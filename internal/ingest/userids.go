package ingest

import (
	"encoding/json"

	"bitboard/internal/fault"
	"bitboard/internal/ingest/rows"
)

// UserIDs is a list of user IDs as JSON gives it, each byte for byte. Where
// encoding/json would put a replacement for what is no text, and so make one
// user of several, decoding fails with a fault.ErrInvalid that names the item.
type UserIDs []string

// UnmarshalJSON implements json.Unmarshaler.
func (u *UserIDs) UnmarshalJSON(text []byte) error {
	var items []json.RawMessage
	if err := json.Unmarshal(text, &items); err != nil {
		return fault.Invalid("bad_user_ids", "user_ids", "user_ids is %s; give a list of strings", fault.Show(string(text)))
	}
	if items == nil {
		*u = nil
		return nil
	}
	ids := make([]string, len(items))
	for i, item := range items {
		id, ok := rows.String(item)
		if !ok {
			return fault.Invalid("bad_user_id", "user_ids", "item %d of user_ids is %s; give a string of valid UTF-8", i+1, fault.Show(string(item)))
		}
		ids[i] = id
	}
	*u = ids
	return nil
}
