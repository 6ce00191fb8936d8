package core

// A thing is a resource in a group, for tests.
type thing struct {
	UID  UID    `json:"uid"`
	Name string `json:"name"`

	CreateTime Time `json:"createTime,omitzero"`
	UpdateTime Time `json:"updateTime,omitzero"`
}

// A thingFilter restricts a list of things.
type thingFilter struct{ Name string }

func (*thingFilter) Check(*Violations) {}

var thingKind = Kind[*thing]{
	Name: "Thing", Area: AreaRegistry, Parent: GroupRef, List: CapRepoList,
	Orders:       []OrderField[*thing]{{"name", nil, func(t *thing) any { return t.Name }}},
	DefaultOrder: Order{Field: "name"},
	UID:          func(t *thing) UID { return t.UID },
}
