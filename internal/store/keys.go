package store

import (
	"strconv"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"bitboard/internal/cohort"
)

// keys builds every key of one prefix. The part in braces is a Redis Cluster
// hash tag: a command or a transaction over several keys stays within one tag.
type keys struct{ prefix string }

const (
	cellSlots = 1024
	// printBase is the base in which a history's key has its print, and a list's its version.
	printBase = 36

	dayWord   = "day"
	flagWord  = "flag"
	knownWord = "known"
	histWord  = "hist"
	listWord  = "list"
	tempWord  = "tmp:"
	liveWord  = "live:"
	beatWord  = "beat:"
	beatsWord = "beats:"

	countSuffix = ":count"
)

func (k keys) segment(segment int) string {
	return k.prefix + ":{s" + strconv.Itoa(segment) + "}:"
}

// live is the key of the bitmap of who is there, and liveCount that of how many
// those are.
func (k keys) live(metric string, segment int) string { return k.segment(segment) + liveWord + metric }
func (k keys) liveCount(metric string, segment int) string {
	return k.live(metric, segment) + countSuffix
}

// beat is the key of the bitmap of whose heartbeat came in a minute, and beats
// that of the hash of how many those were in each minute of a day, both in UTC.
func (k keys) beat(metric string, segment int, minute time.Time) string {
	return k.segment(segment) + beatWord + metric + ":" + minute.UTC().Format("200601021504")
}

func (k keys) beats(metric string, segment int, day time.Time) string {
	return k.segment(segment) + beatsWord + metric + ":" + day.UTC().Format("20060102")
}

// bitmap is the key of a stored bitmap in a segment, e.g. bb:{s12}:day:active:20260301.
// That of a history ends with its print, so that it never holds another state.
func (k keys) bitmap(b cohort.Bitmap, segment int) string {
	if b.Kind == cohort.HistoryBitmap {
		return k.segment(segment) + member(b) + ":" + strconv.FormatUint(b.Print, printBase)
	}
	return k.segment(segment) + member(b)
}

// temp is the key of an intermediate result in a segment's slot.
func (k keys) temp(segment int, job string, n int) string {
	return k.segment(segment) + tempWord + job + ":" + strconv.Itoa(n)
}

// pending is the key whose presence says that a committed sync has yet to be
// applied to a segment.
func (k keys) pending(segment int, sync string) string {
	return k.segment(segment) + tempWord + sync + ":pending"
}

// all is the pattern that matches every key of ours.
func (k keys) all() string { return k.prefix + ":{*" }

// segments is the pattern that matches the keys of all segments.
func (k keys) segments() string { return k.prefix + ":{s*}:*" }

func (k keys) meta(name string) string { return k.prefix + ":{meta}:" + name }

func (k keys) layout() string           { return k.meta("layout") }
func (k keys) epoch() string            { return k.meta("epoch") }
func (k keys) catalogue() string        { return k.meta("catalogue") }
func (k keys) catalogueVersion() string { return k.meta("catalogue:version") }
func (k keys) tokens() string           { return k.meta("tokens") }
func (k keys) prints() string           { return k.meta("prints") }
func (k keys) writes() string           { return k.meta("writes") }
func (k keys) nextOffset() string       { return k.meta("next_offset") }
func (k keys) syncLease() string        { return k.meta("sync_lease") }
func (k keys) syncs() string            { return k.meta("syncs") }
func (k keys) swaps() string            { return k.meta("swaps") }
func (k keys) halfReplaced() string     { return k.meta("half_replaced") }
func (k keys) idImportLease() string    { return k.meta("import_ids_lease") }

// cohorts is the key of the hash of the saved cohorts, and cohortsVersion that of
// the name of their state.
func (k keys) cohorts() string        { return k.meta("cohorts") }
func (k keys) cohortsVersion() string { return k.meta("cohorts:version") }

// imported is the key of the list of ranges of offsets, as FROM-END, that were
// set aside for imports of IDs.
func (k keys) imported() string { return k.meta("imported") }

// forgotten is the key of the offsets of forgotten users, each with the version
// of the forgotten that it came with, which is itself under forgottenVersion.
// Those under forgetting may still have something stored.
func (k keys) forgotten() string        { return k.meta("forgotten") }
func (k keys) forgottenVersion() string { return k.meta("forgotten:version") }
func (k keys) forgetting() string       { return k.meta("forgetting") }

// jobs is the key of the list of jobs by when they were made, job that of one,
// jobLease says who runs it, jobOrder what others want of it, jobResult what came of
// it, jobAsked which job asks a question now, and jobTurn whose turn it is to work.
func (k keys) jobs() string                    { return k.ofJob("all") }
func (k keys) job(id string) string            { return k.ofJob("job:" + id) }
func (k keys) jobLease(id string) string       { return k.ofJob("lease:" + id) }
func (k keys) jobOrder(id, what string) string { return k.ofJob(what + ":" + id) }
func (k keys) jobResult(id string) string      { return k.ofJob("result:" + id) }
func (k keys) jobTurn() string                 { return k.ofJob("turn") }
func (k keys) jobAsked(question string) string {
	return k.ofJob("asked:" + strconv.FormatUint(xxhash.Sum64String(question), printBase))
}

func (k keys) ofJob(name string) string { return k.prefix + ":{job}:" + name }

// sync is the key of the commit record of a sync.
func (k keys) sync(id string) string { return k.meta("sync:" + id) }

// segmentsOf is the key of the bitmap of the segments in which a catalogue member exists.
func (k keys) segmentsOf(member string) string { return k.meta("segments:" + member) }

// cells is the key of the hash that keeps the counts of a report's row. There
// are enough slots to spread the rows over a cluster.
func (k keys) cells(row string) string {
	return k.prefix + ":{c" + strconv.FormatUint(xxhash.Sum64String(row)%cellSlots, 10) + "}:" + row
}

// forward is the key of the hash of a bucket of the dictionary, ID to offset.
func (k keys) forward(bucket uint64) string {
	return k.prefix + ":{i" + strconv.FormatUint(bucket, 10) + "}:f"
}

// reverse is the key of the packed records of a block of the dictionary, offset to ID.
func (k keys) reverse(block uint32) string {
	return k.prefix + ":{i" + strconv.FormatUint(uint64(block), 10) + "}:r"
}

// reverseBlocks is the pattern that matches the keys of all reverse entries.
func (k keys) reverseBlocks() string { return k.prefix + ":{i*}:r" }

// parseReverse reads what reverse writes.
func (k keys) parseReverse(key string) (block uint32, ok bool) {
	number, _ := strings.CutPrefix(strings.TrimSuffix(key, "}:r"), k.prefix+":{i")
	n, err := strconv.ParseUint(number, 10, 32)
	return uint32(n), err == nil && k.reverse(uint32(n)) == key
}

// parse reads the key of a stored bitmap; ok is false for any other key.
func (k keys) parse(key string) (b cohort.Bitmap, segment int, ok bool) {
	rest, found := strings.CutPrefix(key, k.prefix+":{s")
	if !found {
		return cohort.Bitmap{}, 0, false
	}
	number, name, found := strings.Cut(rest, "}:")
	segment, err := strconv.Atoi(number)
	if !found || err != nil || segment < 0 || strconv.Itoa(segment) != number {
		return cohort.Bitmap{}, 0, false
	}
	b, ok = parseName(name)
	return b, segment, ok
}

// parseName reads a bitmap's name within its key.
func parseName(name string) (b cohort.Bitmap, ok bool) {
	if !strings.HasPrefix(name, histWord+":") {
		return parseMember(name)
	}
	at := strings.LastIndexByte(name, ':')
	state, err := strconv.ParseUint(name[at+1:], printBase, 64)
	if b, ok = parseMember(name[:at]); !ok || err != nil || strconv.FormatUint(state, printBase) != name[at+1:] {
		return cohort.Bitmap{}, false
	}
	b.Print = state
	return b, true
}

// member is a bitmap's name within its segment, which is also its name in the
// catalogue: day:active:20260301, flag:exposed, list:loyal:3k9 or known; and
// hist:active:20260331, whose token there is its print.
func member(b cohort.Bitmap) string {
	switch b.Kind {
	case cohort.DayBitmap:
		return dayWord + ":" + b.Metric + ":" + b.Day.Compact()
	case cohort.FlagBitmap:
		return flagWord + ":" + b.Metric
	case cohort.HistoryBitmap:
		return histWord + ":" + b.Metric + ":" + b.Day.Compact()
	case cohort.ListBitmap:
		return listWord + ":" + b.Metric + ":" + strconv.FormatUint(b.Print, printBase)
	default:
		return knownWord
	}
}

// parseMember reads what member writes.
func parseMember(name string) (cohort.Bitmap, bool) {
	word, rest, _ := strings.Cut(name, ":")
	switch word {
	case dayWord, histWord:
		metric, date, _ := strings.Cut(rest, ":")
		day, ok := cohort.ParseCompactDay(date)
		if ok = ok && cohort.ValidName(metric); word == histWord {
			return cohort.HistoryOf(metric, day, 0), ok
		}
		return cohort.DayOfMetric(metric, day), ok
	case flagWord:
		return cohort.Flag(rest), cohort.ValidName(rest)
	case listWord:
		metric, text, _ := strings.Cut(rest, ":")
		version, err := strconv.ParseUint(text, printBase, 64)
		return cohort.ListOf(metric, version), err == nil && version != 0 && cohort.ValidName(metric) && strconv.FormatUint(version, printBase) == text
	default:
		return cohort.Known(), name == knownWord
	}
}

// isRecord reports whether a key holds what this version keeps under {meta}
// for ever.
func (k keys) isRecord(key string) bool {
	switch key {
	case k.layout(), k.epoch(), k.catalogue(), k.catalogueVersion(), k.nextOffset(), k.syncs(), k.swaps(), k.halfReplaced(),
		k.imported(), k.forgotten(), k.forgottenVersion(), k.forgetting(), k.cohorts(), k.cohortsVersion():
		return true
	}
	return strings.HasPrefix(key, k.sync("")) || strings.HasPrefix(key, k.segmentsOf(""))
}

// The types of a key, as the command TYPE names them.
const (
	absentType = "none"
	stringType = "string"
	hashType   = "hash"
	listType   = "list"
	setType    = "set"
	zsetType   = "zset"
)

// typeOf is the type that a key of ours has: a string unless it is listed here.
func (k keys) typeOf(key string) string {
	switch key {
	case k.layout(), k.tokens(), k.prints(), k.cohorts():
		return hashType
	case k.catalogue(), k.forgotten(), k.writes(), k.jobs():
		return zsetType
	case k.syncs(), k.halfReplaced(), k.forgetting():
		return setType
	case k.imported():
		return listType
	}
	if _, name, found := strings.Cut(key, "}:"); found && strings.HasPrefix(key, k.prefix+":{s") && strings.HasPrefix(name, beatsWord) {
		return hashType
	}
	if strings.HasPrefix(key, k.prefix+":{c") || strings.HasPrefix(key, k.prefix+":{i") && strings.HasSuffix(key, "}:f") {
		return hashType
	}
	return stringType
}
