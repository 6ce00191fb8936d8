package platform

import "reflect"

// kinds is the one list of all kinds. What goes over all of them is derived from
// it: the types of events, the areas of errors, and what tests check of each kind.
func kinds() []interface{ Info() KindInfo } {
	return []interface{ Info() KindInfo }{
		&groupKind, &identityKind, &roleKind, &roleBindingKind, &identityProviderKind, &accountAssociationKind,
		&groupInviteKind, &externalGroupRoleMappingKind, &termsKind,
		&repoKind, &tagKind,
		&subscriptionKind, &deliveryKind,
		&advisoryKind, &vulnerabilityKind,
		&artifactKind, &artifactVersionKind,
	}
}

// Kinds tells what is known of every kind.
func Kinds() []KindInfo {
	var all []KindInfo
	for _, k := range kinds() {
		all = append(all, k.Info())
	}
	return all
}

// A KindInfo is what is known of a kind, without the type of its rows.
type KindInfo struct {
	Name, Plural, Area, Parent   string
	Number                       byte
	Event                        string   // the middle of its event types
	Verbs                        []string // what events tell of it
	EventBody                    string   // what the bodies of its events are
	List, Create, Update, Delete Capability
	Required                     []string // fields without which none is created
	Orders                       []string // fields that lists are ordered by
	Row                          reflect.Type
}

// Info tells what is known of the kind.
func (k *Kind[T]) Info() KindInfo {
	orders := make([]string, len(k.Orders))
	for i, o := range k.Orders {
		orders[i] = o.Name
	}
	return KindInfo{
		Name: k.Name, Plural: k.Plural, Area: k.Area, Parent: k.Parent, Number: k.Number,
		Event: k.Event, Verbs: k.Verbs, EventBody: k.bodyType(),
		List: k.List, Create: k.Create, Update: k.Update, Delete: k.Delete,
		Required: k.Required, Orders: orders, Row: reflect.TypeFor[T](),
	}
}
