package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// maxFileBytes is more than any sensible configuration and stops a wrong file
// from being read whole.
const maxFileBytes = 1 << 20

// Sources says where settings come from besides the defaults; each is stronger
// than the one before.
type Sources struct {
	// File is the path of the YAML file; empty for none.
	File string
	// Env returns an environment variable, as os.Getenv does; an empty one counts as not set.
	Env func(name string) string
	// Flags holds the values of the flags that were given, by the path of their key.
	Flags map[string]string
}

// Load reads all sources. Its error is Mistakes.
func Load(s Sources) (Config, error) {
	b := &builder{}
	b.document(b.origin("defaults"), defaultsYAML)
	if s.File != "" {
		b.file(s.File)
	}
	for _, k := range keys {
		if text := s.Env(environmentName(k.path)); text != "" {
			b.single(b.origin(environmentName(k.path)), k, text)
		}
	}
	for _, k := range keys {
		if text, given := s.Flags[k.path]; given {
			b.single(b.origin(flagName(k.path)), k, text)
		}
	}
	b.finish()
	return b.cfg, gather(b.origins)
}

// builder is a configuration in the making.
type builder struct {
	cfg     Config
	origins []*origin
	metrics metricList
	known   knownKey
	events  eventTable
}

func (b *builder) origin(name string) *origin {
	o := &origin{name: name}
	b.origins = append(b.origins, o)
	return o
}

func (b *builder) file(path string) {
	o := b.origin(path)
	text, err := readFile(path)
	if err != nil {
		o.wrong(0, "%v", err)
		return
	}
	b.document(o, text)
}

// readFile reads a configuration file; its error says what is wrong with the
// file without naming it.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	switch {
	case err != nil:
		return nil, unreadable(err)
	case len(text) > maxFileBytes:
		return nil, errors.New("is larger than 1 MiB; give a YAML file with the configuration")
	case !utf8.Valid(text) || slices.Contains(text, 0):
		return nil, errors.New("is not a text file; give a YAML file in UTF-8")
	}
	return text, nil
}

// unreadable drops the operation and the path, which the message has already.
func unreadable(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return errors.New("cannot read the configuration: " + err.Error())
}

func (b *builder) document(o *origin, text []byte) {
	root := o.parse(text)
	if root == nil || shape(root) == "nothing" {
		return
	}
	b.section(o, "", root)
}

// section reads the keys of the top level ("") or of a named section.
func (b *builder) section(o *origin, section string, n *yaml.Node) {
	if section != "" && shape(resolve(n)) == "nothing" {
		return
	}
	where := section
	if where == "" {
		where = "the configuration"
	}
	known := named(section)
	o.entries(where, n, func(name, value *yaml.Node) {
		path := strings.TrimPrefix(section+"."+name.Value, ".")
		i := slices.IndexFunc(keys, func(k key) bool { return k.path == path })
		switch {
		case i >= 0:
			keys[i].read(b, o, path, value)
		case section == "" && slices.Contains(known, name.Value):
			b.section(o, name.Value, value)
		default:
			o.unknown(name.Line, name.Value, under(section), known)
		}
	})
}

// single reads one key from an environment variable or a flag.
func (b *builder) single(o *origin, k key, text string) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if holdsTree(k.path) {
		if n = o.parse([]byte(text)); n == nil {
			return
		}
	}
	k.read(b, o, k.path, n)
}

// finish makes the checks that need the whole configuration. The default
// events hold for other metrics too, as far as they fit.
func (b *builder) finish() {
	b.cfg.Workspace.Metrics = b.metrics.metrics
	b.existing()
	defaults := b.origins[0]
	if b.events.from == defaults && b.metrics.from != defaults {
		b.cfg.Events = b.events.fitting(b.metrics)
		return
	}
	b.cfg.Events = b.events.check(b.metrics)
}
