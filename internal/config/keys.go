package config

import (
	_ "embed"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed defaults.yaml
var defaultsYAML []byte

// key is one leaf of the configuration.
type key struct {
	path string
	read func(b *builder, o *origin, path string, n *yaml.Node)
}

// keys are all leaves, in the order in which they are documented.
var keys = []key{
	{"timezone", value(setZone)},
	{"week_start", value(setWeekStart)},
	{"ids", value(setIDs)},
	{"redis", value(setRedis)},
	{"data_dir", value(setDataDir)},
	{"prefix", value(setPrefix)},
	{"segment_bits", value(setSegmentBits)},
	{"max_offset", value(setMaxOffset)},
	{"listen", value(setListen)},
	{"allow_remote", value(setAllowRemote)},
	{"metrics", readMetrics},
	{"known", readKnown},
	{"events", readEvents},
	{"engine.mode", value(setMode)},
	{"engine.max_bitop_bytes", value(setMaxBitopBytes)},
	{"engine.max_redis_share", value(setMaxRedisShare)},
	{"engine.burst", value(setBurst)},
	{"engine.offpeak", value(setOffpeak)},
	{"engine.job_cost_limit", value(setJobCostLimit)},
	{"engine.temp_ttl", value(setTempTTL)},
	{"cache.ttl_open", value(setTTLOpen)},
	{"cache.settle_after", value(setSettleAfter)},
	{"cache.catalogue_scan", value(setCatalogueScan)},
}

// value reads a key that holds a single value by handing its text to set.
func value(set func(c *Config, text string) error) func(*builder, *origin, string, *yaml.Node) {
	return func(b *builder, o *origin, path string, n *yaml.Node) {
		text, ok := o.text(path, n)
		if !ok {
			return
		}
		if err := set(&b.cfg, text); err != nil {
			o.wrong(n.Line, "%s: %v", path, err)
		}
	}
}

// environmentName returns the variable that sets a key.
func environmentName(path string) string {
	if path == "redis" {
		return "REDIS_URL"
	}
	return "BITBOARD_" + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// flagName returns the flag that sets a key, for the keys that have one.
func flagName(path string) string { return "--" + strings.ReplaceAll(path, "_", "-") }

// holdsTree reports whether the value of a key is a list or a mapping, which an
// environment variable gives as YAML.
func holdsTree(path string) bool { return path == "metrics" || path == "events" }

// named returns the names that may stand in a section; "" is the top level.
func named(section string) []string {
	var names []string
	for _, k := range keys {
		rest, inside := strings.CutPrefix(k.path, section)
		name, _, _ := strings.Cut(strings.TrimPrefix(rest, "."), ".")
		if inside && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Key describes one key of the configuration, for help texts.
type Key struct {
	// Path is the key's name, after its section's and a dot if it has one.
	Path string
	// Env is the environment variable that sets it.
	Env string
	// Default is the value without a file, as YAML; empty for lists and mappings,
	// and where there is none.
	Default string
	// Tree says that the value is a list or a mapping.
	Tree bool
}

// Keys describes every key, in order.
func Keys() []Key {
	o := &origin{}
	defaults := map[string]string{}
	flatten("", o.parse(defaultsYAML), defaults)
	described := make([]Key, len(keys))
	for i, k := range keys {
		described[i] = Key{Path: k.path, Env: environmentName(k.path), Default: defaults[k.path], Tree: holdsTree(k.path)}
	}
	return described
}

// flatten records the single values of a tree under their paths.
func flatten(prefix string, n *yaml.Node, values map[string]string) {
	for pair := range slices.Chunk(n.Content, 2) {
		path := prefix + pair[0].Value
		switch pair[1].Kind {
		case yaml.ScalarNode:
			values[path] = pair[1].Value
		case yaml.MappingNode:
			flatten(path+".", pair[1], values)
		}
	}
}
