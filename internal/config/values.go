package config

import (
	"fmt"
	"math"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // the zones must exist where the system has none, as in a bare image

	"github.com/dustin/go-humanize"

	"bitboard/internal/fault"
	"bitboard/internal/store/address"
)

func setZone(c *Config, text string) error {
	// Both load, as the machine's zone and as UTC, but name no zone.
	if text != "Local" && text != "" {
		if zone, err := time.LoadLocation(text); err == nil {
			c.Workspace.Zone = zone
			return nil
		}
	}
	return fmt.Errorf("%s is not a time zone that exists; give an IANA name such as UTC or Europe/Berlin", fault.Show(text))
}

func setWeekStart(c *Config, text string) error {
	i, err := oneOf(text, "monday", "sunday")
	if err == nil {
		c.Workspace.Calendar.WeekStart = []time.Weekday{time.Monday, time.Sunday}[i]
	}
	return err
}

func setIDs(c *Config, text string) error {
	i, err := oneOf(text, "dictionary", "dense")
	c.DenseIDs = i == 1
	return err
}

func setMode(c *Config, text string) error {
	_, err := oneOf(text, "auto", "bitop", "fold")
	c.Engine.Mode = text
	return err
}

// oneOf returns the index of text among what is accepted.
func oneOf(text string, accepted ...string) (int, error) {
	if i := slices.Index(accepted, text); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("%s is not accepted; give one of %s", fault.Show(text), strings.Join(accepted, ", "))
}

func setRedis(c *Config, text string) error {
	c.Redis = text
	if text == Embedded {
		return nil
	}
	if _, err := address.Parse(text); err != nil {
		return fmt.Errorf("%w, or the word embedded", err)
	}
	return nil
}

func setDataDir(c *Config, text string) error {
	if text == "" || strings.ContainsRune(text, 0) {
		return fmt.Errorf("%s is not a folder; give a path such as ./data", fault.Show(text))
	}
	c.DataDir = text
	return nil
}

// safePrefix leaves out braces, blanks and what SCAN's patterns give a meaning.
var safePrefix = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,64}$`)

func setPrefix(c *Config, text string) error {
	if !safePrefix.MatchString(text) {
		return fmt.Errorf("%s is not a key prefix; give 1 to 64 letters, digits and _ . : -", fault.Show(text))
	}
	c.Prefix = text
	return nil
}

// maxSegmentBits is what the longest string of Redis holds, 512 MiB.
const maxSegmentBits = 1 << 32

func setSegmentBits(c *Config, text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 || n%64 != 0 || n > maxSegmentBits {
		return fmt.Errorf("%s is not a positive multiple of 64 up to %d", fault.Show(text), maxSegmentBits)
	}
	c.SegmentBits = n
	return nil
}

func setMaxOffset(c *Config, text string) error {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return fmt.Errorf("%s is not a whole number from 0 to %d", fault.Show(text), uint32(math.MaxUint32))
	}
	c.MaxOffset = uint32(n)
	return nil
}

func setListen(c *Config, text string) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return fmt.Errorf("%s is not HOST:PORT with a port from 0 to 65535; give for example 127.0.0.1:8080", fault.Show(text))
	}
	c.Listen = text
	return nil
}

func setAllowRemote(c *Config, text string) error {
	i, err := oneOf(text, "false", "true")
	c.AllowRemote = i == 1
	return err
}

func setMaxRedisShare(c *Config, text string) error {
	share, err := strconv.ParseFloat(text, 64)
	if err != nil || !(share > 0 && share <= 1) { // false for NaN too
		return fmt.Errorf("%s is not a share; give a number above 0 and up to 1", fault.Show(text))
	}
	c.Engine.MaxRedisShare = share
	return nil
}

var windowForm = regexp.MustCompile(`^([01][0-9]|2[0-3]):([0-5][0-9])-([01][0-9]|2[0-3]):([0-5][0-9])$`)

func setOffpeak(c *Config, text string) error {
	m := windowForm.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf(`%s is not a time of day from and to; give for example "01:00-06:00"`, fault.Show(text))
	}
	minutes := func(hour, minute string) int {
		h, _ := strconv.Atoi(hour) // digits by windowForm
		m, _ := strconv.Atoi(minute)
		return 60*h + m
	}
	c.Engine.Offpeak = Window{From: minutes(m[1], m[2]), To: minutes(m[3], m[4])}
	if c.Engine.Offpeak.From == c.Engine.Offpeak.To {
		return fmt.Errorf("%s begins and ends at the same minute; give two different times", fault.Show(text))
	}
	return nil
}

func setMaxBitopBytes(c *Config, text string) error { return setSize(&c.Engine.MaxBitopBytes, text) }
func setJobCostLimit(c *Config, text string) error  { return setSize(&c.Engine.JobCostLimit, text) }

func setSize(size *int64, text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n == 0 || n > math.MaxInt64 {
		return fmt.Errorf("%s is not a size; give a number of bytes above 0, such as 1MiB", fault.Show(text))
	}
	*size = int64(n)
	return nil
}

func setBurst(c *Config, text string) error { return setDuration(&c.Engine.Burst, text, 0) }
func setTempTTL(c *Config, text string) error {
	return setDuration(&c.Engine.TempTTL, text, time.Second)
}
func setTTLOpen(c *Config, text string) error     { return setDuration(&c.Cache.TTLOpen, text, 0) }
func setSettleAfter(c *Config, text string) error { return setDuration(&c.Cache.SettleAfter, text, 0) }
func setCatalogueScan(c *Config, text string) error {
	return setDuration(&c.Cache.CatalogueScan, text, 0)
}

func setDuration(duration *time.Duration, text string, least time.Duration) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < least {
		return fmt.Errorf("%s is not a duration of at least %s; give for example 90s, 15m or 2h", fault.Show(text), least)
	}
	*duration = d
	return nil
}
