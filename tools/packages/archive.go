package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
)

// archiveChart does what `helm package` does for a release: the chart and the program have its version, and the image is that
// of the release, by its digest.
func archiveChart(folder, version, image, target string) error {
	loaded, err := loader.Load(folder)
	if err != nil {
		return err
	}
	repository, digest, found := strings.Cut(image, "@")
	if !found || !strings.HasPrefix(digest, "sha256:") {
		return fmt.Errorf("%s must have a digest, as in registry.example.com/atrium@sha256:...", image)
	}
	loaded.Metadata.Version, loaded.Metadata.AppVersion = strings.TrimPrefix(version, "v"), version
	// Artifact Hub scans these images, and hides what is before a release from those who do not ask for it.
	if loaded.Metadata.Annotations == nil {
		loaded.Metadata.Annotations = map[string]string{}
	}
	loaded.Metadata.Annotations["artifacthub.io/images"] = "- name: atrium\n  image: " + image + "\n"
	loaded.Metadata.Annotations["artifacthub.io/prerelease"] = strconv.FormatBool(strings.Contains(version, "-"))
	for _, file := range loaded.Raw {
		if file.Name == chartutil.ValuesfileName {
			if err := setImage(file, repository, digest); err != nil {
				return err
			}
		}
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	path, err := chartutil.Save(loaded, target)
	if err != nil {
		return err
	}
	fmt.Println(path)
	return nil
}

// setImage changes the lines of values.yaml, whose comments stay.
func setImage(file *chart.File, repository, digest string) error {
	text := string(file.Data)
	for _, change := range [][2]string{{"\n  repository: atrium\n", "\n  repository: " + repository + "\n"}, {"\n  digest: \"\"", "\n  digest: " + digest}} {
		if strings.Count(text, change[0]) != 1 {
			return fmt.Errorf("values.yaml has no line %q", strings.TrimSpace(change[0]))
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	file.Data = []byte(text)
	return nil
}
