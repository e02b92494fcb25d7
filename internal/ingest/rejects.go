package ingest

import (
	"bufio"
	"fmt"
	"io"
)

// RejectLog writes rejected rows as text, one line each.
type RejectLog struct {
	to    *bufio.Writer
	most  int64
	total int64
}

// NewRejectLog returns a log that writes the first rejects, at most so many,
// or all of them when most is 0.
func NewRejectLog(to io.Writer, most int64) *RejectLog {
	return &RejectLog{to: bufio.NewWriter(to), most: most}
}

// Write writes one reject as FILE:LINE: code: message.
func (l *RejectLog) Write(source string, r Reject) error {
	l.total++
	if l.most > 0 && l.total > l.most {
		return nil
	}
	_, err := fmt.Fprintf(l.to, "%s:%d: %s: %s\n", source, r.Line, r.Code, r.Message)
	return err
}

// Close says how many rejects were left out, and writes what is buffered. It
// leaves the writer open.
func (l *RejectLog) Close() error {
	if l.most > 0 && l.total > l.most {
		if _, err := fmt.Fprintf(l.to, "… and %d more\n", l.total-l.most); err != nil {
			return err
		}
	}
	return l.to.Flush()
}
