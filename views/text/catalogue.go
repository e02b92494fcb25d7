package text

import (
	"embed"
	"fmt"

	"go.yaml.in/yaml/v3"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed *.yaml
var catalogues embed.FS

// supported are the languages with a catalogue, the default first.
var supported = []language.Tag{language.English, language.MustParse("zh-CN")}

var (
	matcher  = language.NewMatcher(supported)
	printers = loadAll()
)

// messages are the forms of each key: most have only "other".
type messages map[string]forms

// forms are a message's plural forms by CLDR name.
type forms map[string]string

// UnmarshalYAML reads one string, or a mapping from plural forms to strings.
func (f *forms) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		*f = forms{"other": node.Value}
		return nil
	}
	plain := map[string]string{}
	if err := node.Decode(&plain); err != nil {
		return err
	}
	*f = plain
	return nil
}

// find returns a form of a key, or its other form, or the key.
func (m messages) find(key, form string) string {
	all, ok := m[key]
	if !ok {
		return key
	}
	if s, ok := all[form]; ok {
		return s
	}
	return all["other"]
}

// loadAll reads the embedded catalogues; one that cannot be read is a mistake
// in this package that no input can cause, and the tests find it first.
func loadAll() []*Printer {
	all := make([]*Printer, len(supported))
	for i, tag := range supported {
		m, err := load(tag.String())
		if err != nil {
			panic(err) //nolint:forbidigo // as regexp.MustCompile: the input is compiled in
		}
		all[i] = &Printer{tag: tag, messages: m, numbers: message.NewPrinter(tag)}
	}
	return all
}

func load(code string) (messages, error) {
	source, err := catalogues.ReadFile(code + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("catalogue %s: %w", code, err)
	}
	m := messages{}
	if err := yaml.Unmarshal(source, &m); err != nil {
		return nil, fmt.Errorf("catalogue %s: %w", code, err)
	}
	return m, nil
}
