package kinds

import (
	"context"

	"go.yaml.in/yaml/v4"

	"sundry/metrics/words"
	"sundry/upstreams"
	"sundry/upstreams/lib/idcard"
)

// IDCardSpec declares a source that reads what the ID number in the parameter card
// says about its holder. It is computed locally: the number is not sent anywhere.
type IDCardSpec struct{}

func compileIDCard(c *upstreams.Compiler, section *yaml.Node) upstreams.Compiled {
	c.Decode(section, &IDCardSpec{})
	return upstreams.Compiled{Fetch: readCard}
}

func readCard(_ context.Context, a *upstreams.Attempt) (*upstreams.Reply, error) {
	card, _ := a.Call.Params["card"].(string)
	data, err := idcard.Parse(card, a.Call.Now)
	if err != nil {
		return nil, upstreams.Mistaken("card", err, words.Say("the value is not an identity number", "所给的值不是身份证号码"))
	}
	return &upstreams.Reply{Body: data}, nil
}
