package upstreams

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"sundry/metrics/words"
	"sundry/upstreams/declare"
	"sundry/upstreams/jq"
)

// RuleSpec is a judge rule as declared: all of its conditions must hold.
type RuleSpec struct {
	// Name of a rule under rules. A rule that is a name alone stands for that one.
	Name declare.Text `yaml:"name" example:"gone"`
	// Status lists the statuses that the rule is about; empty: the successful ones.
	Status []int `yaml:"status" example:"[404]" any:"condition"`
	// If is a jq condition on the decoded body, with $status, $params and $vars.
	// A redirect that is not followed has the body null.
	If *declare.Expr `yaml:"if" example:".code != 0" any:"condition"`
	// Is is the verdict: success, negative, limited, unavailable, malformed, skipped
	// where the source turns out not to serve the input, or invalid where the reply
	// says that a parameter's value is wrong.
	Is declare.Text `yaml:"is" required:"true" enum:"success,negative,limited,unavailable,malformed,skipped,invalid"`
	// Parameter is whose value an invalid one is.
	Parameter string `yaml:"parameter" example:"id"`
	// Message tells the caller what is wrong, what is expected, and an example. With is:
	// invalid.
	Message declare.Words `yaml:"message" example:"{en: \"not on sale; expected a number from the list, for example 7\", zh: 没有出售；应为列表中的编号，例如 7}"`
}

// Rule is a compiled judge rule.
type Rule struct {
	place   string // where it is declared
	status  []int
	cond    *jq.Program
	verdict ErrorKind
	success bool
	// Of the verdict invalid.
	parameter string
	message   words.Text
}

// CompileRules compiles judge rules, whose conditions may call defs. Mistakes go
// to problems.
func CompileRules(specs []RuleSpec, defs *jq.Defs, problems *declare.Problems) []Rule {
	rules := make([]Rule, 0, len(specs))
	for _, s := range specs {
		kind, _ := ParseErrorKind(s.Is.Value) // success has none
		if s.Is.Value == "" {
			problems.Add(s.Name.Line, "judge rule: is: expected its verdict, for example {status: [404], is: negative}")
		}
		for _, status := range s.Status {
			if status < 100 || status > 599 {
				problems.Add(s.Is.Line, "judge rule: status: there is no status %d; expected 100 to 599, for example [404]", status)
			}
		}
		if s.If == nil && len(s.Status) == 0 {
			problems.Add(s.Is.Line, "judge rule without a condition; expected status, as in status: [404], or if: a jq condition")
		}
		if blames := s.Parameter != "" && !s.Message.IsZero(); blames != (kind == Invalid) {
			problems.Add(s.Is.Line, "judge rule: parameter and message belong to the verdict invalid, which needs both, as in {is: invalid, parameter: phone, message: ...}; the verdict is %s", s.Is.Value)
		}
		rules = append(rules, Rule{
			place: fmt.Sprintf("line %d", s.Is.Line), status: s.Status, cond: jq.Compile(s.If, defs, problems), verdict: kind, success: s.Is.Value == "success",
			parameter: s.Parameter, message: s.Message.Text,
		})
	}
	return rules
}

// Reply is what an upstream has sent, before it is judged.
type Reply struct {
	Status int // 0 for sources without one
	Header http.Header
	Body   any    // decoded; nil when it could not be
	Blob   *Blob  // instead of a body
	Broken error  // why it could not be decoded
	Page   bool   // it could not, because it is a page for people
	Title  string // of that page
	Judged bool   // its parts were judged one by one
}

// Judge returns nil for a success, else an *Error with the verdict. The first rule
// that matches decides, then the default table. It sets the variables of the reply
// in env.
func Judge(ctx context.Context, rules []Rule, r *Reply, env *jq.Env) error {
	env.Status, env.Header = r.Status, r.Header // $status, $location, $cookies and $headers
	for i := range rules {
		fits, err := rules[i].fits(ctx, r, env)
		switch {
		case err != nil:
			return err
		case fits && rules[i].success:
			return nil
		case fits:
			failed := r.failure(rules[i].verdict, i+1, rules[i].place)
			failed.Parameter, failed.Message = rules[i].parameter, rules[i].message
			return failed
		}
	}
	kind, ok := ByStatus(r.Status)
	switch {
	case !ok:
		return r.failure(kind, 0, "")
	case r.Broken != nil:
		return r.failure(Malformed, 0, "")
	}
	return nil
}

// fits reports whether the rule matches a reply.
func (r *Rule) fits(ctx context.Context, re *Reply, env *jq.Env) (bool, error) {
	switch {
	case !r.covers(re.Status), r.cond != nil && re.Broken != nil:
		return false, nil
	case r.cond == nil:
		return true, nil
	}
	return r.cond.True(ctx, re.Body, env)
}

// covers reports whether the rule is about a status: those that it lists, else the
// successful ones. A rule about the body of an answer is not meant for that of an
// error.
func (r *Rule) covers(status int) bool {
	if len(r.status) > 0 {
		return slices.Contains(r.status, status)
	}
	return answers(status)
}

// answers reports whether a status is that of a whole answer. The other 2xx hold a
// part that was not asked for (206, 226), nothing (204, 205), or only an
// acknowledgement (202).
func answers(status int) bool {
	return status == 0 || status == http.StatusOK || status == http.StatusCreated || status == http.StatusNonAuthoritativeInfo
}

// ByStatus is the default table; ok for a success. 404 and 410 are unavailable
// unless a rule says otherwise: they are what a service answers whose path was
// renamed or that was given up.
func ByStatus(status int) (kind ErrorKind, ok bool) {
	switch {
	case answers(status):
		return 0, true
	case status == http.StatusTooManyRequests:
		return Limited, false
	case status == http.StatusRequestTimeout, status == http.StatusUnauthorized,
		status == http.StatusForbidden, status == http.StatusNotFound, status == http.StatusGone, status >= 500:
		return Unavailable, false
	}
	return Malformed, false
}

// failure is the error of a reply, by the rule with this number, 0 for none.
func (r *Reply) failure(kind ErrorKind, rule int, place string) *Error {
	why := &Refusal{Rule: rule, Place: place, Said: said(r.Body)}
	if answers(r.Status) { // else the status is the cause, whatever came with it
		why.Broken = r.Broken
	}
	if r.Page {
		why.Said, why.Page = r.Title, true
	}
	failed := &Error{Kind: kind, Status: r.Status, RetryAfter: retryAfter(r.Header)}
	if why.Error() != "" {
		failed.Err = why
	}
	return failed
}

// retryAfter reads the seconds of Retry-After, an hour at most; 0 for a date.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || n < 0 {
		return 0
	}
	return min(time.Duration(n)*time.Second, time.Hour)
}
