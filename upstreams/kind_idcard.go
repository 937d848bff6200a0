package upstreams

import (
	"context"

	"go.yaml.in/yaml/v4"

	"sundry/upstreams/idcard"
)

// IDCardSpec tells what the parameter card says of its holder. Nothing is
// asked of anybody.
type IDCardSpec struct{}

type cardReader struct{}

func compileIDCard(c *Compiler, section *yaml.Node) Compiled {
	c.Decode(section, &IDCardSpec{})
	return Compiled{Fetcher: cardReader{}}
}

// Fetch implements Fetcher.
func (cardReader) Fetch(_ context.Context, in *input) (*reply, error) {
	card, _ := in.call.Params["card"].(string)
	info, err := idcard.Parse(card, in.call.Now)
	if err != nil {
		return nil, &Error{Kind: Invalid, Parameter: "card", Message: err.Error(), Err: err}
	}
	return &reply{body: info.Data()}, nil
}
