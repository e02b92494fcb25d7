package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"bitboard/internal/fault"
)

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// parse returns the root of the only document in text, or nil when it holds
// none or is not valid YAML.
func (o *origin) parse(text []byte) *yaml.Node {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var document, next yaml.Node
	if err := d.Decode(&document); err != nil {
		if !errors.Is(err, io.EOF) {
			o.syntax(err)
		}
		return nil
	}
	switch err := d.Decode(&next); {
	case errors.Is(err, io.EOF):
	case err != nil:
		o.syntax(err)
	default:
		o.wrong(next.Line, "a second YAML document starts here; only one is read")
	}
	return document.Content[0]
}

// syntax reports what the YAML reader says, at the line that it names.
func (o *origin) syntax(err error) {
	line, text := 0, err.Error()
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = strings.TrimPrefix(text, m[0])
	}
	o.wrong(line, "not valid YAML: %s", text)
}

// resolve follows an alias to the node that it stands for.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// shape names what a node is, for messages.
func shape(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		return "nothing"
	}
	return fault.Show(n.Value)
}

// text returns the text of a node that must hold a single value.
func (o *origin) text(path string, n *yaml.Node) (string, bool) {
	v := resolve(n)
	if v.Kind != yaml.ScalarNode || v.ShortTag() == "!!null" {
		o.wrong(n.Line, "%s must be a single value; got %s", path, shape(v))
		return "", false
	}
	return v.Value, true
}

// items returns the nodes of a list.
func (o *origin) items(path string, n *yaml.Node) ([]*yaml.Node, bool) {
	v := resolve(n)
	if v.Kind != yaml.SequenceNode {
		o.wrong(n.Line, "%s must be a list; got %s", path, shape(v))
		return nil, false
	}
	return v.Content, true
}

// entries calls each for every key of a mapping, in order. A key that is there
// twice is reported and its first value is used.
func (o *origin) entries(path string, n *yaml.Node, each func(key, value *yaml.Node)) bool {
	v := resolve(n)
	if v.Kind != yaml.MappingNode {
		o.wrong(n.Line, "%s must be a mapping of keys to values; got %s", path, shape(v))
		return false
	}
	lines := map[string]int{}
	for pair := range slices.Chunk(v.Content, 2) {
		key := resolve(pair[0])
		if key.Kind != yaml.ScalarNode {
			o.wrong(pair[0].Line, "a key must be a name; got %s", shape(key))
			continue
		}
		if first := lines[key.Value]; first > 0 {
			o.wrong(pair[0].Line, "key %s is given twice, first on line %d", fault.Show(key.Value), first)
			continue
		}
		lines[key.Value] = pair[0].Line
		each(key, pair[1])
	}
	return true
}

// unknown reports a key that has no meaning at its place.
func (o *origin) unknown(line int, key, place string, known []string) {
	o.wrong(line, "unknown key %s%s%s", fault.Show(key), place, hint(key, known))
}

// under says in which part of the file a key stands, for messages.
func under(section string) string {
	if section == "" {
		return ""
	}
	return fmt.Sprintf(" under %s", section)
}
