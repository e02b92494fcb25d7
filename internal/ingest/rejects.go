package ingest

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
)

// mostReasons is how many different reasons are added up each for itself.
const mostReasons = 20

// RejectLog writes rejected rows as text, one line each.
type RejectLog struct {
	to      *bufio.Writer
	most    int64
	total   int64
	reasons map[reason]int64
	others  int64 // rows with none of the reasons
}

// reason is why rows were rejected.
type reason struct{ code, message string }

// NewRejectLog returns a log that writes the first rejects, at most so many,
// or all of them when most is 0.
func NewRejectLog(to io.Writer, most int64) *RejectLog {
	return &RejectLog{to: bufio.NewWriter(to), most: most, reasons: map[reason]int64{}}
}

// Write writes one reject as FILE:LINE: code: message.
func (l *RejectLog) Write(source string, r Reject) error {
	l.total++
	if l.most > 0 {
		l.add(reason{r.Code, r.Message})
		if l.total > l.most {
			return nil
		}
	}
	_, err := fmt.Fprintf(l.to, "%s:%d: %s: %s\n", source, r.Line, r.Code, r.Message)
	return err
}

func (l *RejectLog) add(why reason) {
	if _, known := l.reasons[why]; !known && len(l.reasons) == mostReasons {
		l.others++
		return
	}
	l.reasons[why]++
}

// Close says how many rejects were left out, with all of them added up by
// their reasons, and writes what is buffered. It leaves the writer open.
func (l *RejectLog) Close() error {
	if l.most > 0 && l.total > l.most {
		if err := l.addUp(); err != nil {
			return err
		}
	}
	return l.to.Flush()
}

func (l *RejectLog) addUp() error {
	whys := make([]reason, 0, len(l.reasons))
	for why := range l.reasons {
		whys = append(whys, why)
	}
	slices.SortFunc(whys, func(a, b reason) int {
		return cmp.Or(cmp.Compare(l.reasons[b], l.reasons[a]), cmp.Compare(a.code, b.code), cmp.Compare(a.message, b.message))
	})
	lines := []string{fmt.Sprintf("… and %d more; all %d by reason:", l.total-l.most, l.total)}
	for _, why := range whys {
		lines = append(lines, fmt.Sprintf("%8d × %s: %s", l.reasons[why], why.code, why.message))
	}
	if l.others > 0 {
		lines = append(lines, fmt.Sprintf("%8d × other reasons", l.others))
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(l.to, line); err != nil {
			return err
		}
	}
	return nil
}
