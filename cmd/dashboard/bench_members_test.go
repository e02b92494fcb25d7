package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"bitboard/internal/store/storetest"
)

// namedUsers is how many users of the list have IDs of their own: 16 bytes each.
const namedUsers = 5_000_000

// BenchmarkMembers measures lists of the users of a day as CSV through HTTP, not
// compressed: a quarter of 100 million whose IDs are numbers, and all of some
// million whose IDs are looked up. The figures are medians of five rounds, with
// the sides in turn.
func BenchmarkMembers(b *testing.B) {
	url, _ := storetest.Start(b)
	dense := denseDashboard(b, url)
	named := namedDashboard(b, url)
	path := "/api/v1/cohorts/members.csv?expr=active@" + benchDay(0).Format(time.DateOnly)
	var numbers, ids int64
	numbered := &side{name: "dense", run: func() { numbers = dense.list(b, path) }}
	looked := &side{name: "named", run: func() { ids = named.list(b, path) }}
	for b.Loop() {
		inTurn(b, []*side{numbered, looked})
	}
	b.ReportMetric(float64(numbers)/numbered.median().Seconds()/1e6, "members-M/s")
	b.ReportMetric(float64(ids)/looked.median().Seconds()/1e6, "members-ids-M/s")
	b.ReportMetric(dense.peakMiB(b), "dense-MiB")
	b.ReportMetric(named.peakMiB(b), "ids-MiB")
}

// denseDashboard serves a day of a quarter of all users.
func denseDashboard(b *testing.B, url string) benchDashboard {
	b.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		b.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	random := rand.New(rand.NewPCG(1, 2))
	bytes := make([]byte, benchSegmentBits/8)
	for segment := range benchSegments {
		quarter(random, bytes)
		if err := client.Set(b.Context(), dayKey(segment, 0), bytes, 0).Err(); err != nil {
			b.Fatal(err)
		}
	}
	d := startDashboard(b, fmt.Sprintf("redis: %s\nprefix: %s\nids: dense\n", url, benchPrefix))
	d.awaitDay(b, 0)
	return d
}

// namedDashboard serves a day of users that were imported.
func namedDashboard(b *testing.B, url string) benchDashboard {
	b.Helper()
	var rows strings.Builder
	rows.WriteString("user_id,event,day\n")
	for i := range namedUsers {
		fmt.Fprintf(&rows, "user-%011d,active,%s\n", i, benchDay(0).Format(time.DateOnly))
	}
	config := fmt.Sprintf("redis: %s\nprefix: named\n", url)
	program := exec.CommandContext(b.Context(), os.Args[0], "import", "--redis", url, "--event", "active=active", "-")
	program.Env = append(os.Environ(), asProgram+"=1", "BITBOARD_PREFIX=named")
	program.Stdin = strings.NewReader(rows.String())
	if said, err := program.CombinedOutput(); err != nil {
		b.Fatalf("import: %v\n%s", err, said)
	}
	d := startDashboard(b, config)
	d.awaitDay(b, 0)
	return d
}
