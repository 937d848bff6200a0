package plainjson

// Object is a JSON object whose members keep their order.
type Object []Member

// Member is a member of an Object.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		value, err := Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		b = append(append(AppendString(b, m.Name), ':'), value...)
	}
	return append(b, '}'), nil
}
