package memory

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// facts is the answer to INFO: of the version of Redis whose commands are
// there, and of a server that never evicts a key.
const facts = "# Server\r\nredis_version:7.0.0\r\nredis_mode:standalone\r\nrun_id:%s\r\n" +
	"# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n# Stats\r\nevicted_keys:0\r\n"

// setBits sets single bits and returns what they were, as BITFIELD with u1
// does. ARGV holds offsets and values by turns.
const setBits = `
local before = {}
for i = 1, #ARGV, 2 do before[#before + 1] = redis.call('SETBIT', KEYS[1], ARGV[i], ARGV[i + 1]) end
return before
`

// complete returns a hook that answers commands which the server itself lacks,
// as far as package store sends them.
func complete(s *server.Server) server.Hook {
	info := fmt.Sprintf(facts, rand.Text())
	return func(c *server.Peer, command string, args ...string) bool {
		switch command {
		case "INFO":
			c.WriteBulk(info)
		case "BITFIELD":
			bits, err := singleBits(args)
			if err != nil {
				c.WriteError("ERR " + err.Error())
				return true
			}
			// A script is queued in a transaction and asks for the password like any command.
			s.Dispatch(c, append([]string{"EVAL", setBits, "1", args[0]}, bits...))
		default:
			return false
		}
		return true
	}
}

// singleBits returns the offsets and values of a BITFIELD that sets single bits.
func singleBits(args []string) ([]string, error) {
	if len(args)%4 != 1 {
		return nil, fmt.Errorf("wrong number of arguments for 'bitfield' command")
	}
	var bits []string
	for rest := args[1:]; len(rest) > 0; rest = rest[4:] {
		if !strings.EqualFold(rest[0], "SET") || rest[1] != "u1" {
			return nil, fmt.Errorf("the store in memory takes only SET u1 in BITFIELD, not %s %s", rest[0], rest[1])
		}
		if _, err := strconv.ParseUint(rest[2], 10, 32); err != nil {
			return nil, fmt.Errorf("bit offset is not an integer or out of range")
		}
		bits = append(bits, rest[2], rest[3])
	}
	return bits, nil
}
