package catalog

import (
	"maps"
	"os"
	"regexp"
	"slices"

	"sundry/upstreams"
	"sundry/upstreams/declare"
	"sundry/upstreams/kinds"
)

// variablesFile describes the environment variables of sources, in an operator's
// directory as in this one.
const variablesFile = "data/variables.yaml"

// variableSpec describes a variable.
type variableSpec struct {
	// EN and ZH say what it is and what it is good for.
	EN declare.Text `yaml:"en" required:"true" example:"Key of Example."`
	ZH declare.Text `yaml:"zh" required:"true" example:"示例的 key。"`
	// Example of a value.
	Example declare.Text `yaml:"example" required:"true" example:"abc123"`
	// Secret is false for a value that may be shown, such as an address.
	Secret *bool `yaml:"secret" required:"true" example:"true"`
	// From is the page where it is to be had.
	From declare.Text `yaml:"from" required:"true" example:"https://example.org/"`
	// Cost is free (for an account), paid, or own (hosted by the operator).
	Cost declare.Text `yaml:"cost" required:"true" enum:"free,paid,own" example:"free"`
}

// readVariables reads what comes with the program, then what the operator adds.
func readVariables(dir string) (files []catalogFile, err error) {
	add := func(_ string, file catalogFile) error {
		files = append(files, file)
		return nil
	}
	if err = eachFile(builtin, "", add, variablesFile); err == nil && dir != "" {
		err = eachFile(os.DirFS(dir), dir, add, variablesFile)
	}
	return files, err
}

// mentioned finds the names of variables in a text, comments included.
var mentioned = regexp.MustCompile(`\bSUNDRY_[A-Z0-9_]+`)

// Variables are the names of all variables in the files, for those that do not compile.
func (f *Files) Variables() (names []string) {
	add := func(file catalogFile) {
		names = append(names, mentioned.FindAllString(string(file.data), -1)...)
	}
	for _, file := range f.specs {
		add(file)
		for _, part := range file.parts {
			add(part)
		}
	}
	for _, file := range slices.AppendSeq(slices.Clone(f.variables), maps.Values(f.shared)) {
		add(file)
	}
	return names
}

// compileVariables decodes the files; a later one overrides an earlier one.
func compileVariables(files []catalogFile) (map[string]upstreams.Variable, []error) {
	all := map[string]upstreams.Variable{}
	var failed []error
	for _, f := range files {
		var problems declare.Problems
		var specs map[string]variableSpec
		declare.Read(f.data, &specs, &problems)
		for _, name := range slices.Sorted(maps.Keys(specs)) {
			all[name] = specs[name].compile(name, &problems)
		}
		failed = append(failed, Mistakes(f.path, problems)...)
	}
	return all, failed
}

var variableName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

func (s variableSpec) compile(name string, problems *declare.Problems) upstreams.Variable {
	line := s.EN.Line
	if !variableName.MatchString(name) {
		problems.Add(line, "variable %q: expected capital letters, digits and underscores, for example SUNDRY_EXAMPLE_KEY", name)
	}
	for key, text := range map[string]declare.Text{"en": s.EN, "zh": s.ZH, "example": s.Example, "from": s.From, "cost": s.Cost} {
		if text.Value == "" {
			problems.Add(line, "variable %s: %s: missing; expected en, zh, example, secret, from and cost", name, key)
		}
	}
	if s.Secret == nil {
		problems.Add(line, "variable %s: secret: expected true, or false for a value that may be shown", name)
	}
	return upstreams.Variable{
		Name: name, EN: s.EN.Value, ZH: s.ZH.Value, Example: s.Example.Value, From: s.From.Value, Cost: s.Cost.Value,
		Secret: s.Secret == nil || *s.Secret,
	}
}

// undescribed lists the variables of a file's sources that no file describes.
func (s *endpointSpec) undescribed(described map[string]upstreams.Variable) declare.Problems {
	var problems declare.Problems
	for _, src := range s.allSources() {
		for _, variables := range []map[string]declare.Text{src.Secrets, src.Options} {
			for _, placeholder := range slices.Sorted(maps.Keys(variables)) {
				v := variables[placeholder]
				if _, ok := described[v.Value]; !ok {
					problems.Add(v.Line, "variable %s: not described; expected it in %s, for example %s: {en: Key of Example., zh: 示例的 key。, example: abc123, secret: true, from: 'https://example.org/', cost: free}", v.Value, variablesFile, v.Value)
				}
			}
		}
	}
	return problems
}

// allSources are those of every chain.
func (s *endpointSpec) allSources() []kinds.SourceSpec {
	sources := slices.Clone(s.Sources)
	for _, name := range slices.Sorted(maps.Keys(s.Chains)) {
		sources = append(sources, s.Chains[name].Sources...)
	}
	return sources
}

// VariableUse is a variable with the sources that read it.
type VariableUse struct {
	upstreams.Variable
	// Required and Optional are sources, as endpoint/source: the former are left out
	// without it.
	Required, Optional []string
}

// Variables lists those that sources read, by name.
func (c *Catalog) Variables() []VariableUse {
	uses := map[string]*VariableUse{}
	for _, e := range c.Endpoints {
		for _, chain := range e.Chains {
			for _, s := range chain.Declared {
				c.addUses(uses, e.Name+"/"+s.Declared, s.Credentials)
			}
		}
	}
	for _, a := range c.APIs {
		c.addUses(uses, a.Name, upstreams.Credentials{Variables: a.variables, Options: a.variables})
	}
	out := make([]VariableUse, 0, len(uses))
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		out = append(out, *uses[name])
	}
	return out
}

// Described are the names of all variables that a file of the catalog describes, those
// of endpoints that are turned off included.
func (c *Catalog) Described() []string { return slices.Sorted(maps.Keys(c.variables)) }

// addUses adds the variables of a source.
func (c *Catalog) addUses(uses map[string]*VariableUse, source string, given upstreams.Credentials) {
	for _, name := range given.Variables {
		if uses[name] == nil {
			uses[name] = &VariableUse{Variable: c.describe(name)}
		}
		into := &uses[name].Required
		if slices.Contains(given.Options, name) {
			into = &uses[name].Optional
		}
		if !slices.Contains(*into, source) { // another chain may ask it as well
			*into = append(*into, source)
		}
	}
}

func (c *Catalog) describe(name string) upstreams.Variable {
	if v, ok := c.variables[name]; ok {
		return v
	}
	return upstreams.Variable{Name: name, Secret: true}
}
