package store

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"bitboard/internal/bitmap"
	"bitboard/internal/cohort"
	"bitboard/internal/store/address"
)

// byHand is the job that temporary keys of commands given by hand belong to.
const byHand = "by-hand"

// Commands returns the commands that Run would send for a segment, each as its
// words, with $s in place of the segment's number. The last BITCOUNT's reply is the
// count of a program that counts once.
func (s *Store) Commands(ctx context.Context, inputs []cohort.Bitmap, p bitmap.Program) ([][]string, error) {
	if err := checkProgram(len(inputs), p); err != nil {
		return nil, err
	}
	t := s.newTransaction(ctx, 0, inputs, p)
	t.job = byHand
	for _, st := range p.Steps {
		t.step(st)
	}
	t.removeTemps()
	own, every := s.keys.segment(0), strings.Replace(s.keys.segment(0), "{s0}", "{s$s}", 1)
	var commands [][]string
	for _, cmd := range t.pipe.Cmds() {
		var words []string
		for _, arg := range cmd.Args() {
			word := fmt.Sprint(arg)
			if name, found := strings.CutPrefix(word, own); found {
				word = every + name
			}
			words = append(words, word)
		}
		words[0] = strings.ToUpper(words[0])
		if words[0] == "BITOP" {
			words[1] = strings.ToUpper(words[1])
		}
		commands = append(commands, words)
	}
	return commands, nil
}

// CLI is how redis-cli reaches the store, as its words, without the password.
func (s *Store) CLI() []string {
	words := []string{"redis-cli"}
	a, err := address.Parse(s.config.URL)
	if err != nil {
		return words
	}
	if a.Kind == address.Cluster {
		words = append(words, "-c")
	}
	if a.TLS {
		words = append(words, "--tls")
	}
	if a.User != "" {
		words = append(words, "--user", a.User)
	}
	switch {
	case a.Socket != "":
		words = append(words, "-s", a.Socket)
	case a.Kind == address.Sentinel:
		words = append(words, "-h", a.Master) // the sentinels know the host
	default:
		host, port, _ := net.SplitHostPort(a.Servers[0]) // as Parse made it
		words = append(words, "-h", host, "-p", port)
	}
	if a.Database != 0 {
		words = append(words, "-n", strconv.Itoa(a.Database))
	}
	return words
}
