package web

import (
	"strings"
	"testing"
	"time"

	"bitboard/internal/cohort"
)

func TestMembersFile(t *testing.T) {
	for _, tt := range []struct{ expr, want string }{
		{"activated-exposed", "activated-minus-exposed_2026-03-10.csv"},
		{"cohort(never_saw_it)", "never_saw_it_2026-03-10.csv"},
		{"cohort(aa)|cohort(bb)", "cohort-aa-or-cohort-bb_2026-03-10.csv"},
		{"!active@today-6d..today & exposed", "not-active-today-6d-to-today-and-exposed_2026-03-10.csv"},
		{"atleast(2, active@2026-03-01..2026-03-03)", "atleast-2-active-2026-03-01-to-2026-03-03_2026-03-10.csv"},
		{strings.Repeat("exposed|", 100) + "exposed", strings.Repeat("exposed-or-", 7) + "exp_2026-03-10.csv"},
		{strings.Repeat("(", 9) + strings.Repeat("activ|", 100) + "d" + strings.Repeat(")", 9), strings.Repeat("activ-or-", 8) + "activ-or_2026-03-10.csv"},
	} {
		e, err := cohort.ParseExpr(tt.expr)
		if err != nil {
			t.Fatal(err)
		}
		if got := membersFile(e, cohort.DayOfDate(2026, time.March, 10)); got != tt.want {
			t.Errorf("the members of %.60s come as %s, want %s", tt.expr, got, tt.want)
		}
	}
}
