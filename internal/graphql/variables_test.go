package graphql

import (
	"fmt"
	"strings"
	"testing"
)

// The specification says which JSON is a value of each type. gqlparser accepts more, and less.
func TestAVariableHasTheJSONOfItsType(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	const query = "query($n: Int, $id: ID, $ids: [ID!] = [], $where: ItemFilter, $long: Boolean){items(first: $n, where: $where){totalCount} item(id: $id){name(long: $long)} nodes(ids: $ids){id}}"
	for _, c := range []struct{ variables, want string }{ // the variable and what is wrong with it; "" means nothing
		{`{"n": 1.0}`, ""}, {`{"n": 1e0}`, ""}, {`{"n": 10e-1}`, ""}, {`{"n": -0}`, ""}, {`{"n": 2147483647}`, ""}, {`{"n": null}`, ""},
		{`{"n": "1"}`, `n: Int cannot represent non-integer value: "1"`},
		{`{"n": 1.5}`, "n: Int cannot represent non-integer value: 1.5"},
		{`{"n": true}`, "n: Int cannot represent non-integer value: true"},
		{`{"n": [1]}`, "n: Int cannot represent non-integer value: [1]"},
		{`{"n": 2147483648}`, "n: Int cannot represent non 32-bit signed integer value: 2147483648"},
		{`{"n": 92233720368547758080}`, "n: Int cannot represent non 32-bit signed integer value: 92233720368547758080"},
		{`{"n": 1e400}`, "n: Int cannot represent non-integer value: 1e400"},
		{`{"id": "x"}`, ""}, {`{"id": 4}`, ""}, {`{"id": 92233720368547758080}`, ""}, {`{"id": 4.0}`, ""},
		{`{"id": 1.5}`, "id: ID cannot represent a non-string and non-integer value: 1.5"},
		{`{"id": true}`, "id: ID cannot represent a non-string and non-integer value: true"},
		{`{"id": {"a": 1}}`, `id: ID cannot represent a non-string and non-integer value: {"a":1}`},
		{`{"ids": ["x", 2.5]}`, "ids[1]: ID cannot represent a non-string and non-integer value: 2.5"},
		{`{"ids": 2.5}`, "ids: ID cannot represent a non-string and non-integer value: 2.5"},
		{`{"long": "true"}`, `long: Boolean cannot represent a non boolean value: "true"`},
		{`{"long": 1}`, "long: Boolean cannot represent a non boolean value: 1"},
		{`{"where": {"name": "x"}}`, ""},
		{`{"where": {"name": 5}}`, "where.name: String cannot represent a non string value: 5"},
		{`{"where": {"within": {"ids": ["x", true]}}}`, "where.within.ids[1]: ID cannot represent a non-string and non-integer value: true"},
		{`{"where": {"nam": "x"}}`, `where.nam: Field "nam" is not defined by type "ItemFilter". Did you mean "name"?`},
		{`{"where": {"Name": "x"}}`, `where.Name: Field "Name" is not defined by type "ItemFilter". Did you mean "name"?`},
		{`{"where": {"within": {"qqqqqqqq": "x"}}}`, `where.within.qqqqqqqq: Field "qqqqqqqq" is not defined by type "ItemFilter".`},
		{`{"where": {"__typename": "ItemFilter"}}`, ""},
		{`{"n": "` + strings.Repeat("x", 200) + `"}`, `n: Int cannot represent non-integer value: "` + strings.Repeat("x", 99) + "..."},
	} {
		r := send(t, h, "POST", "/", fmt.Sprintf(`{"query": %q, "variables": %s}`, query, c.variables))
		if c.want == "" {
			r.expectSuccess()
			continue
		}
		variable, fault, _ := strings.Cut(c.want, ": ")
		field, message := strings.TrimPrefix(variable, "where."), fmt.Sprintf(`Variable "$%s": %s`, variable, fault)
		if len(r.Errors) != 1 || r.Data != nil || !strings.Contains(r.body, "GRAPHQL_VALIDATION_FAILED") || r.Errors[0]["message"] != message || !strings.Contains(r.body, `"field":"`+field+`"`) {
			t.Errorf("%s gives %s, want the error %s", c.variables, r.body, c.want)
		}
	}
}

func TestAMissingVariableIsNamed(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	for variables, fault := range map[string]string{`{}`: "must be defined", `{"first": null}`: "cannot be null"} {
		r := send(t, h, "POST", "/", `{"query": "query($first: Int!) {items(first: $first) {totalCount}}", "variables": `+variables+`}`)
		if want := `Variable "$first": ` + fault; len(r.Errors) != 1 || r.Errors[0]["message"] != want {
			t.Errorf("%s gives %s, want %s", variables, r.body, want)
		}
	}
}

// A literal is not read in another way than a variable.
func TestALiteralHasTheRangeOfItsType(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	for _, first := range []string{"2147483648", "-2147483649", "9223372036854775807"} {
		r := post(t, h, "{items(first: "+first+"){totalCount}}")
		if len(r.Errors) != 1 || r.Errors[0]["message"] != "Int cannot represent non 32-bit signed integer value: "+first {
			t.Errorf("%s gives %s", first, r.body)
		}
	}
	post(t, h, "{items(first: 2147483647){totalCount} item(id: 9223372036854775807){id}}").expectSuccess()
}

func TestARequestChoosesAmongSeveralOperations(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	for name, want := range map[string]string{
		"":     "Give operationName: the document has 2 operations, and the request names none of them",
		`"C"`:  `The document has no operation named "C"`,
		`"B"`:  "",
		`null`: "Give operationName: the document has 2 operations, and the request names none of them",
	} {
		member := ""
		if name != "" {
			member = `, "operationName": ` + name
		}
		r := send(t, h, "POST", "/", `{"query": "query A {ping} query B {ping}"`+member+`}`)
		if want == "" {
			r.expectSuccess()
		} else if len(r.Errors) != 1 || r.Errors[0]["message"] != want || !strings.Contains(r.body, `"field":"operationName"`) {
			t.Errorf("%s gives %s, want %s", name, r.body, want)
		}
	}
}
