package house

import (
	"reflect"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
)

// An interface that names all kinds makes everything know everything, and a fake needs all of it.
func TestNoInterfaceOfTheStoreNamesAllKinds(t *testing.T) {
	t.Parallel()
	const most = 40
	var check func(reflect.Type)
	check = func(of reflect.Type) {
		if of.Kind() == reflect.Struct {
			for i := range of.NumField() {
				check(of.Field(i).Type)
			}
		} else if of.NumMethod() > most {
			t.Errorf("%s has %d methods, want at most %d", of, of.NumMethod(), most)
		}
	}
	for _, of := range []reflect.Type{reflect.TypeFor[core.Conn](), reflect.TypeFor[core.Tx](), reflect.TypeFor[platform.Store](), reflect.TypeFor[platform.Tables]()} {
		check(of)
	}
}
