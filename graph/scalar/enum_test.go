package scalar

import "testing"

// The core takes no capability as no condition, so an unknown name must not become none.
func TestAnUnknownCapabilityIsAnError(t *testing.T) {
	t.Parallel()
	if c, err := UnmarshalCapability("TAG_CREATE"); c != "tag.create" || err != nil {
		t.Errorf("TAG_CREATE is %q and %v, want tag.create", c, err)
	}
	if c, err := UnmarshalCapability(nil); c != "" || err != nil { // The schema says where null is no value.
		t.Errorf("null is %q and %v, want no capability", c, err)
	}
	for _, name := range []any{"tag_create", "tag.create", ""} {
		if c, err := UnmarshalCapability(name); err == nil {
			t.Errorf("%v is the capability %q, want an error", name, c)
		}
	}
}
