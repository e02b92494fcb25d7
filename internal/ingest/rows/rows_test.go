package rows

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"bitboard/internal/fault"

	"github.com/google/go-cmp/cmp"
)

// read is a row as the tests compare it.
type read struct {
	Line                          int64
	UserID, Event, Timestamp, Day string
	Code                          string // of the fault
}

// blockBytes is the size of the tests' blocks.
const blockBytes = 256 << 10

// readAll reads a source to its end.
func readAll(t testing.TB, src io.Reader) ([]read, error) {
	t.Helper()
	return readBlocks(t, src, blockBytes)
}

// readBlocks reads a source in blocks of a size.
func readBlocks(t testing.TB, src io.Reader, size int) ([]read, error) {
	t.Helper()
	s, err := Open("log.csv", src, size)
	if err != nil {
		return nil, err
	}
	var all []read
	var p Parser
	for b := (Block{}); ; {
		err := s.Next(&b)
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		p.Reset(&b)
		all = append(all, drain(&p)...)
	}
}

func drain(p *Parser) []read {
	var all []read
	for row := (Row{}); p.Next(&row); {
		if row.Fault != nil {
			all = append(all, read{Line: row.Line, Code: row.Fault.Code})
			continue
		}
		all = append(all, read{row.Line, string(row.UserID), string(row.Event), string(row.Timestamp), string(row.Day), ""})
	}
	return all
}

func day(line int64, user string) read { return read{line, user, "login", "", "2026-03-01", ""} }

const head = "user_id,event,day\n"

// long is a field that makes a row too long.
var long = strings.Repeat("x", MaxRecord)

func TestCSV(t *testing.T) {
	tests := []struct {
		name, text string
		want       []read
	}{
		{"plain rows", head + "a,login,2026-03-01\nb,login,2026-03-01\n", []read{day(2, "a"), day(3, "b")}},
		{"only the header", head, nil},
		{"nothing at all", "", nil},
		{"only blank lines", "\n \r\n\n", nil},
		{"a byte order mark", "\ufeff" + head + "\ufeffa,login,2026-03-01\n", []read{day(2, "\ufeffa")}},
		{"no last line break", head + "a,login,2026-03-01", []read{day(2, "a")}},
		{"CRLF", "user_id,event,day\r\na,login,2026-03-01\r\n\r\nb,login,2026-03-01\r\n", []read{day(2, "a"), day(4, "b")}},
		{"blank lines count as lines", "\n" + head + "\na,login,2026-03-01\n\n\nb,login,2026-03-01\n", []read{day(4, "a"), day(7, "b")}},
		{"columns in any order, others ignored", "note,day,more,event,user_id\nx,2026-03-01,,login,a\n\"a,b\",2026-03-01,1,login,b\n", []read{day(2, "a"), day(3, "b")}},
		{"timestamp and day", "timestamp,user_id,event,day\nT,a,login,2026-03-01\n", []read{{2, "a", "login", "T", "2026-03-01", ""}}},
		{"quotes, commas and doubled quotes", head + "\"q,1\",\"login\",\"2026-03-01\"\n\"q\"\"2\",login,2026-03-01\n\"\"\"\",login,2026-03-01\n", []read{day(2, "q,1"), day(3, `q"2`), day(4, `"`)}},
		{"a quoted header over two lines", "user_id,event,day,\"a\nb\"\na,login,2026-03-01,\n", []read{day(3, "a")}},
		{"line breaks in quotes stay as they are", head + "\"one\r\ntwo\",login,2026-03-01\n\"one\n\n\",login,2026-03-01\nc,login,2026-03-01\n", []read{day(2, "one\r\ntwo"), day(4, "one\n\n"), day(7, "c")}},
		{"CRLF after a closing quote", head + "a,login,\"2026-03-01\"\r\nb,login,2026-03-01\r\n", []read{day(2, "a"), day(3, "b")}},
		{"blanks stay", head + " a ,login,2026-03-01\n", []read{day(2, " a ")}},
		{"a quote within an unquoted field", head + "5\" a,login,2026-03-01\n", []read{day(2, `5" a`)}},
		{"fewer fields than the header", head + "a,login\n", []read{{2, "a", "login", "", "", ""}}},
		{"more fields than the header", head + "a,login,2026-03-01,x\n\"b\",login,2026-03-01,x\nc,login,2026-03-01\n", []read{{Line: 2, Code: "too_many_fields"}, {Line: 3, Code: "too_many_fields"}, day(4, "c")}},
		{"text after a closing quote loses that line only", head + "\"a\"x,login,2026-03-01\nb,login,2026-03-01\n", []read{{Line: 2, Code: "bad_csv"}, day(3, "b")}},
		{"a quote that is never closed loses that line only", head + "\"a,login,2026-03-01\nb,login,2026-03-01\nc,login,2026-03-01", []read{{Line: 2, Code: "bad_csv"}, day(3, "b"), day(4, "c")}},
		{"a quote that another row closes loses that line only", head + "\"a,login,2026-03-01\nb,login,2026-03-01\n\"c\",login,2026-03-01\n", []read{{Line: 2, Code: "bad_csv"}, day(3, "b"), day(4, "c")}},
		{"a quote still open past the limit", head + "\"a,login,2026-03-01\n" + strings.Repeat("b,login,2026-03-01,\n", MaxRecord/20+1)[:MaxRecord] + "\nc,login,2026-03-01\n", nil},
		{"a line that is too long", head + long + ",login,2026-03-01\nb,login,2026-03-01\n", []read{{Line: 2, Code: "line_too_long"}, day(3, "b")}},
		{"a last line that is too long", head + "a,login,2026-03-01\n" + long + ",x", []read{day(2, "a"), {Line: 3, Code: "line_too_long"}}},
		{"a line as long as can be", head + long[:MaxRecord-17] + ",login,2026-03-01\n", []read{day(2, long[:MaxRecord-17])}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readAll(t, strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == nil && len(got) > 0 && strings.Contains(tt.name, "limit") {
				checkReopened(t, got)
				return
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// checkReopened holds that an unclosed quote cost its own line and no other.
func checkReopened(t *testing.T, got []read) {
	t.Helper()
	if got[0] != (read{Line: 2, Code: "bad_csv"}) {
		t.Errorf("first row %+v", got[0])
	}
	if last := got[len(got)-1]; last.UserID != "c" {
		t.Errorf("last row %+v, want the one after the limit", last)
	}
}

func TestNDJSON(t *testing.T) {
	const a = `{"user_id":"a","event":"login","day":"2026-03-01"}`
	tests := []struct {
		name, text string
		want       []read
	}{
		{"one object a line", a + "\n" + a + "\n", []read{day(1, "a"), day(2, "a")}},
		{"blank lines, CRLF, no last line break", "\n" + a + "\r\n  \n" + a, []read{day(2, "a"), day(4, "a")}},
		{"a byte order mark", "\ufeff" + a, []read{day(1, "a")}},
		{"white space anywhere", "{ \"user_id\" :\t\"a\" , \"event\" : \"login\",\"day\":\"2026-03-01\" } \n", []read{day(1, "a")}},
		{"other fields of any kind", `{"x":{"user_id":"no","s":"]}\"","l":[1,{}]},"n":-1.5e+3,"t":true,"f":false,"z":null,` + a[1:], []read{day(1, "a")}},
		{"the last of two fields of one name", `{"user_id":"no",` + a[1:], []read{day(1, "a")}},
		{"names are told apart by case", `{"USER_ID":"no",` + a[1:], []read{day(1, "a")}},
		{"a numeric ID is its text", `{"user_id":7}` + "\n" + `{"user_id":-7.0}` + "\n" + `{"user_id":1e3}` + "\n" + `{"user_id":12345678901234567890123}`, []read{{Line: 1, UserID: "7"}, {Line: 2, UserID: "-7.0"}, {Line: 3, UserID: "1e3"}, {Line: 4, UserID: "12345678901234567890123"}}},
		{"escapes", `{"user\u005fid":"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"}`, []read{{Line: 1, UserID: "a\"\\/\b\f\n\r\té😀"}}},
		{"null is absent", `{"user_id":"a","event":null,"day":null}`, []read{{Line: 1, UserID: "a"}}},
		{"an empty object", `{}`, []read{{Line: 1}}},
		{"half a surrogate pair where nobody looks", `{"note":"\ud83d",` + a[1:], []read{day(1, "a")}},
		{"a line that is too long", a + "\n{\"x\":\"" + long + "\"}\n" + a, []read{day(1, "a"), {Line: 2, Code: "line_too_long"}, day(3, "a")}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := readAll(t, strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRejectedJSON(t *testing.T) {
	tests := []struct{ name, line, code string }{
		{"not JSON", `not json`, "bad_json"},
		{"an array", `[]`, "bad_json"},
		{"cut short", `{"user_id":"a"`, "bad_json"},
		{"cut within a string", `{"user_id":"a`, "bad_json"},
		{"cut within an escape", `{"user_id":"a\`, "bad_json"},
		{"two objects", `{}{}`, "bad_json"},
		{"a comma too many", `{"user_id":"a",}`, "bad_json"},
		{"no colon", `{"user_id" "a"}`, "bad_json"},
		{"a name that is no string", `{1:2}`, "bad_json"},
		{"a number with a leading zero", `{"user_id":007}`, "bad_json"},
		{"a number with a plus", `{"user_id":+7}`, "bad_json"},
		{"a bare fraction", `{"user_id":7.}`, "bad_json"},
		{"a bare exponent", `{"user_id":1e}`, "bad_json"},
		{"NaN", `{"user_id":NaN}`, "bad_json"},
		{"an unknown escape", `{"x":"\q"}`, "bad_json"},
		{"a short escape", `{"x":"\u12g4"}`, "bad_json"},
		{"a raw control character", "{\"x\":\"a\tb\"}", "bad_json"},
		{"a broken nested value", `{"x":[1,}]}`, "bad_json"},
		{"an unclosed nested value", `{"x":[1,2}`, "bad_json"},
		{"invalid UTF-8", "{\"user_id\":\"\xff\"}", "bad_utf8"},
		{"half a surrogate pair", `{"user_id":"\ud83d"}`, "bad_user_id"},
		{"two high surrogates", `{"user_id":"\ud83d\ud83d"}`, "bad_user_id"},
		{"an ID that is true", `{"user_id":true}`, "bad_user_id"},
		{"an ID that is an array", `{"user_id":["a"]}`, "bad_user_id"},
		{"an event that is a number", `{"event":1}`, "bad_event"},
		{"a day that is a number", `{"day":20260301}`, "bad_day"},
		{"a timestamp that is a number", `{"timestamp":1767225600}`, "bad_timestamp"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := drain(NDJSON([]byte(tt.line + "\n{\"user_id\":\"next\"}")))
			want := []read{{Line: 1, Code: tt.code}, {Line: 2, UserID: "next"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSourcesThatFail(t *testing.T) {
	zipped := pack(t, head+"a,login,2026-03-01\nb,login,2026-03-01\n")
	damaged := bytes.Clone(zipped)
	damaged[len(damaged)-5] ^= 0xff
	tests := []struct {
		name, text string
		says       []string
	}{
		{"a missing column", "user_id,day\na,2026-03-01\n", []string{"log.csv", "lacks the column event", "user_id,day"}},
		{"no date column", "user_id,event\na,login\n", []string{"timestamp or day"}},
		{"another delimiter", "user_id;event;day\n", []string{"user_id, event, timestamp or day", "user_id;event;day"}},
		{"no header", "a,login,2026-03-01\n", []string{"lacks", "a,login,2026-03-01"}},
		{"a column twice", "user_id,event,day,day\n", []string{"day twice"}},
		{"a broken header", "\"user_id,event,day\n", []string{"line 1", "not closed"}},
		{"binary junk", "\x7fELF\x02\x01\x01\x00\x00\n\x00", []string{"neither CSV with a header nor NDJSON", "ELF"}},
		{"a long line of junk", strings.Repeat("\x00", 2*MaxRecord), []string{"neither CSV"}},
		{"UTF-16", "\xff\xfeu\x00s\x00", []string{"neither CSV"}},
		{"gzip cut short", string(zipped[:len(zipped)-12]), []string{"log.csv", "cut short"}},
		{"gzip cut in its header", string(zipped[:5]), []string{"cut short"}},
		{"gzip with a wrong checksum", string(damaged), []string{"damaged"}},
		{"gzip with junk behind it", string(zipped) + "junk of some length", []string{"damaged"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readAll(t, strings.NewReader(tt.text))
			if !errors.Is(err, fault.ErrInvalid) {
				t.Fatalf("got %v, want fault.ErrInvalid", err)
			}
			for _, s := range tt.says {
				if !strings.Contains(fault.As(err).Message, s) {
					t.Errorf("message %q lacks %q", fault.As(err).Message, s)
				}
			}
		})
	}
}

// pack returns texts as the members of one gzip file.
func pack(t testing.TB, members ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, m := range members {
		z := gzip.NewWriter(&b)
		if _, err := io.WriteString(z, m); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestGzipOfSeveralMembers(t *testing.T) {
	got, err := readAll(t, bytes.NewReader(pack(t, "\ufeff"+head+"a,log", "in,2026-03-01\n", "b,login,2026-03-01\n")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]read{day(2, "a"), day(3, "b")}, got); diff != "" {
		t.Error(diff)
	}
}

func TestALineThatAFailureCutIsNoRow(t *testing.T) {
	failed := errors.New("disk on fire")
	src := io.MultiReader(strings.NewReader(head+"a,login,2026-03-01\nb,login,2026-03-01"), iotest.ErrReader(failed))
	got, err := readAll(t, src)
	if !errors.Is(err, failed) {
		t.Errorf("got error %v", err)
	}
	if diff := cmp.Diff([]read{day(2, "a")}, got); diff != "" {
		t.Error(diff)
	}
}

func TestASourceThatGivesAByteAtATime(t *testing.T) {
	text := "\ufeff" + head + "\"a\r\n\"\"b\",login,2026-03-01\r\n\"open\nc,login,2026-03-01"
	whole, err := readAll(t, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	bytewise, err := readAll(t, iotest.OneByteReader(strings.NewReader(text)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, bytewise); diff != "" {
		t.Error(diff)
	}
}
