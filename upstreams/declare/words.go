package declare

import (
	"cmp"

	"go.yaml.in/yaml/v4"

	"sundry/metrics/words"
)

// Words are a text that people read, in one language or in both.
type Words struct{ words.Text }

// InLanguages is a text in each language. One alone stands for both.
type InLanguages struct {
	// EN is the English text; without it, the Chinese one stands for both.
	EN string `yaml:"en" any:"language" example:"A joke."`
	// ZH is the Chinese text; without it, the English one stands for both.
	ZH string `yaml:"zh" any:"language" example:"笑话"`
}

// Text returns the text in both languages; nothing where there is none in either.
func (t InLanguages) Text() words.Text { return words.Say(cmp.Or(t.EN, t.ZH), cmp.Or(t.ZH, t.EN)) }

// UnmarshalYAML takes a text for both languages, or a mapping with one for each.
func (w *Words) UnmarshalYAML(n *yaml.Node) error {
	var each InLanguages
	switch n.Kind {
	case yaml.ScalarNode:
		w.Text = words.Name(n.Value)
	case yaml.MappingNode:
		if err := n.Load(&each); err != nil {
			return err
		}
		w.Text = each.Text()
	}
	if w.IsZero() {
		return words.NewError("expected a text, or one in each language, as in {en: A joke., zh: 笑话}", "应为文本，或两种语言各一个，例如 {en: A joke., zh: 笑话}")
	}
	return nil
}

// Shape implements Shaped.
func (Words) Shape(of func(any) *Shape) *Shape {
	return &Shape{Kind: Union, Of: []*Shape{of(Text{}), of(InLanguages{})}}
}
