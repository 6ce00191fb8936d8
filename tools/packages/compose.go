package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// checkCompose loads a project as `docker compose config` does, and finds faults that this
// command does not check.
func checkCompose(path string, needed []string) error {
	secrets := types.Mapping{}
	for _, name := range needed {
		secrets[name] = "secret"
	}
	for name := range secrets {
		without := secrets.Clone()
		delete(without, name)
		if _, err := load(path, without); err == nil || !strings.Contains(err.Error(), name) {
			return fmt.Errorf("%s is loaded without %s: %v", path, name, err)
		}
	}
	project, err := load(path, secrets)
	if err != nil {
		return err
	}
	var faults []error
	for _, service := range project.Services {
		fail := func(format string, args ...any) {
			faults = append(faults, fmt.Errorf("%s: service %s %s", path, service.Name, fmt.Sprintf(format, args...)))
		}
		if service.Build == nil && !hasDigest.MatchString(service.Image) {
			fail("has an image without a version and a digest: %s", service.Image)
		}
		if service.Logging == nil || service.Logging.Options["max-size"] == "" {
			fail("may fill the disk with logs")
		}
		if service.MemLimit == 0 || service.CPUS == 0 || service.PidsLimit == 0 {
			fail("has no limits of memory, CPU and processes")
		}
		if service.HealthCheck == nil && service.Build == nil {
			fail("has no health check")
		}
		for _, port := range service.Ports {
			if port.HostIP != "127.0.0.1" {
				fail("is reached from other machines at port %s", port.Published)
			}
		}
		for _, volume := range service.Volumes {
			if _, err := os.Stat(volume.Source); volume.Type == types.VolumeTypeBind && err != nil {
				fail("mounts what is not there: %v", err)
			}
		}
	}
	fmt.Printf("%s: %d services, %d volumes\n", path, len(project.Services), len(project.Volumes))
	return errors.Join(faults...)
}

// load reads a project with only this environment.
func load(path string, environment types.Mapping) (*types.Project, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	return loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir: filepath.Dir(path), ConfigFiles: []types.ConfigFile{{Filename: path}}, Environment: environment,
	})
}
