package graphql

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"atrium/internal/graphql/limit"
)

func TestAnOperationCostsWhatItCanRead(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	for _, c := range []struct {
		query string
		cost  int
	}{
		{`{ping __typename}`, 0},
		{`{item{id name}}`, 1},
		{`{item{item{id}}}`, 2},
		{`{items{totalCount}}`, 1},
		{`{items{totalCount pageInfo{endCursor}}}`, 1},
		{`{items(first: 10){nodes{id}}}`, 11},
		{`{items(first: 10){edges{cursor}}}`, 11},
		{`{items(first: 10){edges{node{id}}}}`, 11},
		{`{items(first: 10){edges{node{item{id}}}}}`, 21},
		{`{items(last: 7){nodes{id}}}`, 8},
		{`{items{nodes{id}}}`, 51},
		{`{items(first: null){nodes{id}}}`, 51},
		{`{items(first: 0){totalCount nodes{id}}}`, 1},
		{`{items(last: 0){nodes{id}}}`, 1},
		{`{items(first: -3){nodes{id}}}`, 1},
		{`{items(first: 100000){nodes{id}}}`, 201},
		{`{ten{nodes{id}}}`, 11},
		{`{items(first: 20){nodes{items(first: 10){nodes{item{id}}}}}}`, 1 + 20*(1+1+10*2)},
		{`{items(first: 3){...F}} fragment F on ItemConnection {nodes{...G} totalCount} fragment G on Item {item{id}}`, 7},
		{`{a: items(first: 3){...F} b: items(first: 5){...F}} fragment F on ItemConnection {nodes{id}}`, 10},
		{`{items(first: 3){... on ItemConnection {nodes{id}}}}`, 4},
		{`{node(id: "1"){id ... on Item{item{id}}}}`, 2},
		{`{nodes(ids: ["1", "2", "3"]){id ... on Item{item{id}}}}`, 6},
		{`{nodes(ids: []){id}}`, 1},
		{`{nodes(ids: "1"){id}}`, 1},
		{`{list{id}}`, 1},
		{`{whole{id item{id}}}`, 100},
		{`{whole(of: null){id}}`, 50},
		{`{whole(of: ["1", "2"]){id}}`, 2},
		{`{items(first: 1, where: {ids: ["1", "2"]}){nodes{id}}}`, 2},
		{`{items(first: 1, where: {color: RED}){nodes{id}}}`, 2 + 400},
		{`{items(first: 1, where: {color: null}){nodes{id}}}`, 2},
		{`{items(first: 1, where: {color: RED}){...F}} fragment F on ItemConnection{nodes{id}}`, 2 + 400},
		{`{item @skip(if: true){id} ping}`, 0},
		{`{item @include(if: false){id} ...F @include(if: false) ... on Query @skip(if: true){item{id}}} fragment F on Query {item{id}}`, 0},
		{`mutation{touch{id}}`, 1},
		{`mutation{batchTouch(input: {}){ids items{id}}}`, 2},
		{`mutation{batchTouch(input: {requests: [{}, {}, {}]}){ids item{id} items{item{id}}}}`, 1 + 1 + 3*2},
		{`mutation{batchTouch(input: {uids: ["1", "2"]}){items{items(first: 10){nodes{id}}}}}`, 1 + 2*(1+11)},
		{`mutation{a: batchTouch(input: {uids: ["1", "2"]}){...F} b: batchTouch(input: {requests: {}}){...F}} fragment F on BatchTouchPayload{items{item{id}}}`, 1 + 2*2 + 1 + 2},
		{`{__schema{types{name}}}`, 1000},
		{`{__type(name: "Item"){name}}`, 100},
	} {
		r := post(t, h, c.query).expectSuccess()
		if got, want := fmt.Sprint(r.Extensions["cost"]), fmt.Sprintf("map[limit:5000 requested:%d]", c.cost); got != want {
			t.Errorf("%s costs %s, want %s", c.query, got, want)
		}
	}
}

func TestVariablesCountByTheirValues(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	query := `query($n: Int = 4, $ids: [ID!] = ["1"], $no: Boolean = false) {
		items(first: $n){nodes{id}} nodes(ids: $ids){id} item @include(if: $no){id} }`
	for _, c := range []struct {
		variables string
		cost      int
	}{
		{`{}`, 6},
		{`{"n": 9}`, 11},
		{`{"n": null}`, 52},
		{`{"n": 9.0}`, 11},
		{`{"n": 0}`, 2},
		{`{"n": 300}`, 202},
		{`{"n": 2147483647}`, 202},
		{`{"ids": ["1", "2", "3"]}`, 8},
		{`{"ids": "1"}`, 6},
		{`{"no": true}`, 7},
	} {
		body := fmt.Sprintf(`{"query": %q, "variables": %s}`, strings.Join(strings.Fields(query), " "), c.variables)
		r := send(t, h, "POST", "/", body)
		if got := r.Extensions["cost"]; got == nil || got.(map[string]any)["requested"] != float64(c.cost) {
			t.Errorf("%s costs %v, want %d: %.200s", c.variables, got, c.cost, r.body)
		}
	}
}

func TestNoValueOfAnArgumentOrVariablePanics(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	values := []string{`null`, `true`, `-1`, `1.5`, `1e400`, `99999999999999999999999`, `"text"`, `[]`, `[null]`, `[[1]]`, `{}`, `{"name": null}`, `[{"a": 1}]`}
	for _, value := range values {
		for _, declared := range []string{"Int", "Int!", "[ID!]!", "[ID!]", "ItemFilter", "Boolean!", "Boolean = true", "ID"} {
			for _, use := range []string{"items(first: $v){nodes{id}}", "items(last: $v){nodes{id}}", "nodes(ids: $v){id}", "items(where: $v){totalCount}", "item @include(if: $v){id}", "item(id: $v){id}"} {
				body := fmt.Sprintf(`{"query": "query($v: %s){%s}", "variables": {"v": %s}}`, declared, use, value)
				expectNoInternalError(t, send(t, h, "POST", "/", body), body)
			}
		}
		literal := strings.ReplaceAll(strings.ReplaceAll(value, `"name"`, "name"), `"a"`, "a")
		for _, use := range []string{"items(first: %s){nodes{id}}", "nodes(ids: %s){id}", "nodes(ids: [%s]){id}", "items(where: %s){totalCount}", "item @include(if: %s){id}", "item(id: %s){id}"} {
			query := fmt.Sprintf("{"+use+"}", literal)
			expectNoInternalError(t, post(t, h, query), query)
		}
	}
}

// expectNoInternalError accepts any answer except an internal error.
func expectNoInternalError(t *testing.T, r reply, asked string) {
	t.Helper()
	for _, err := range r.Errors {
		if code := err["extensions"].(map[string]any)["code"]; code == "INTERNAL" {
			t.Errorf("%s: %s", asked, r.body)
		}
	}
}

func TestKeysAreLimited(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{Limits: &limit.Limits{Keys: 200}})
	ids := func(n int) []string { return strings.Split(strings.Repeat("x,", n-1)+"x", ",") }
	literal := func(n int) string {
		list, _ := json.Marshal(ids(n))
		return fmt.Sprintf("{nodes(ids: %s){id}}", list)
	}
	query := "query($ids: [ID!]!) {nodes(ids: $ids){id}}"
	post(t, h, query, "ids", ids(200)).expectSuccess()
	post(t, h, query, "ids", ids(201)).expectRefusal("ids", 200, 201)
	post(t, h, literal(200)).expectSuccess()
	post(t, h, literal(201)).expectRefusal("ids", 200, 201)
}

func TestARejectionShowsTheCost(t *testing.T) {
	t.Parallel()
	r := post(t, stageHandler(stageOptions{}), "{items(first: 200){nodes{items(first: 200){nodes{id}}}}}")
	r.expectRefusal("cost", 5000, 1+200*202)
	if got := fmt.Sprint(r.Extensions["cost"]); got != "map[limit:5000 requested:40401]" {
		t.Errorf("got cost %s, want map[limit:5000 requested:40401]", got)
	}
}

func TestCostsDoNotOverflow(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{Limits: &limit.Limits{Cost: 5000}})
	query := "{items(first: 200){nodes" + strings.Repeat("{items(first: 200){nodes", 30) + "{id}" + strings.Repeat("}}", 30) + "}}"
	post(t, h, query).expectRefusal("cost", 5000, 1<<30)
}
