package core

import (
	"errors"
	"testing"
)

// Dashboards have names of their own for zones.
func TestATimeZoneIsNamedAsDashboardsNameIt(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"UTC", "utc", "Utc"} {
		if zone, err := loadTimeZone(&name); err != nil || zone.String() != "UTC" {
			t.Errorf("%s is %v, %v", name, zone, err)
		}
	}
	browser := "browser"
	if _, err := loadTimeZone(&browser); !errors.Is(err, errBrowserZone) {
		t.Errorf("browser gives %v, want what it means", err)
	}
}
