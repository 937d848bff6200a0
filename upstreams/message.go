package upstreams

import (
	"errors"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/declare"
	"sundry/upstreams/lib/words"
)

// MessageSpec is a text for callers in a declaration: in both languages, or one for both.
type MessageSpec struct{ words.Text }

// bothLanguages is a text in both languages.
type bothLanguages struct {
	// EN is the English text.
	EN string `yaml:"en" required:"true" example:"not on sale"`
	// ZH is the Chinese text.
	ZH string `yaml:"zh" required:"true" example:"没有出售"`
}

// UnmarshalYAML takes a text, or a mapping with both languages.
func (m *MessageSpec) UnmarshalYAML(n *yaml.Node) error {
	var both bothLanguages
	switch n.Kind {
	case yaml.ScalarNode:
		m.Text = words.Name(n.Value)
		return nil
	case yaml.MappingNode:
		if err := n.Load(&both); err != nil {
			return err
		}
	}
	if both.EN == "" || both.ZH == "" {
		return errors.New("expected a text in both languages, as in {en: not on sale, zh: 没有出售}, or one for both")
	}
	m.Text = words.Say(both.EN, both.ZH)
	return nil
}

// Shape implements declare.Shaped.
func (MessageSpec) Shape(of func(any) *declare.Shape) *declare.Shape {
	return &declare.Shape{Kind: declare.Union, Of: []*declare.Shape{of(declare.Text{}), of(bothLanguages{})}}
}
