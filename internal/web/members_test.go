package web_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strconv"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"bitboard/internal/cohort"
	"bitboard/internal/store"
	"bitboard/internal/store/storetest"
)

const manyMembers = 4 << 20

// listed serves a day of many users from a server of its own, and opens their list.
func listed(t *testing.T) (body *bufio.Reader, count string, stopServer func()) {
	t.Helper()
	url, stop := storetest.Start(t)
	st := storetest.Open(t, func(c *store.Config) { c.URL, c.Dense, c.SegmentBits = url, true, 1<<20 })
	everyone := roaring.New()
	everyone.AddRange(0, manyMembers)
	day, ok := cohort.ParseCompactDay("20260309")
	if !ok {
		t.Fatal("no day")
	}
	if _, err := st.Merge(t.Context(), map[cohort.Bitmap]*roaring.Bitmap{cohort.DayOfMetric("active", day): everyone}); err != nil {
		t.Fatal(err)
	}
	s := siteOver(t, st)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/v1/cohorts/members.csv?expr=active@2026-03-09", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "identity")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return bufio.NewReader(answer.Body), answer.Header.Get("X-Bitboard-Count"), stop
}

// Members come in ascending order of offset over the borders of what is looked
// up at once and of segments, and their number is known before.
func TestALongListIsWholeAndInOrder(t *testing.T) {
	body, count, _ := listed(t)
	if count != strconv.Itoa(manyMembers) {
		t.Errorf("said to be %s users, want %d", count, manyMembers)
	}
	lines := bufio.NewScanner(body)
	lines.Scan()
	n := 0
	for ; lines.Scan(); n++ {
		if lines.Text() != strconv.Itoa(n) {
			t.Fatalf("line %d is %q", n, lines.Text())
		}
	}
	if n != manyMembers || lines.Err() != nil {
		t.Errorf("%d users, %v; want %d", n, lines.Err(), manyMembers)
	}
}

// The server goes away while the list is read: the connection breaks, so that
// nobody takes what came for all of it.
func TestAListThatCannotBeFinishedBreaksOff(t *testing.T) {
	body, _, stopServer := listed(t)
	if _, err := body.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	stopServer() // no list fits into the buffers on the way
	if _, err := io.Copy(io.Discard, body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the list ends with %v, want a broken connection", err)
	}
}
