package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	core "k8s.io/api/core/v1"
)

// checkEdge finds faults of what is between clients and pods.
func (m *manifests) checkEdge() error {
	var faults []error
	fail := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	leads := func(what, name string, port func(core.ServicePort) bool) {
		if !slices.ContainsFunc(m.services, func(s *core.Service) bool { return s.Name == name && slices.ContainsFunc(s.Spec.Ports, port) }) {
			fail("%s leads to the Service %s, which has no such port", what, name)
		}
	}
	if m.ingress != nil {
		for _, rule := range m.ingress.Spec.Rules {
			to := rule.HTTP.Paths[0].Backend.Service
			leads("the Ingress", to.Name, func(p core.ServicePort) bool { return p.Name == to.Port.Name })
		}
	}
	if m.route != nil {
		for _, rule := range m.route.Spec.Rules {
			to := rule.BackendRefs[0]
			leads("the HTTPRoute", string(to.Name), func(p core.ServicePort) bool { return p.Port == int32(*to.Port) && speaks(p, len(rule.Matches) > 0) })
		}
	}
	if m.network != nil {
		for _, rule := range m.network.Spec.Ingress {
			for _, port := range rule.Ports {
				if port.Port.StrVal == "metrics" && len(rule.From) == 0 {
					fail("the NetworkPolicy shows metrics and profiles to everybody")
				}
			}
			if len(rule.Ports) == 0 {
				fail("the NetworkPolicy opens every port")
			}
		}
	}
	return errors.Join(faults...)
}

// speaks reports whether a gateway uses the protocol that requests need at a port: HTTP/2 for gRPC, and HTTP/1.1 for websockets. By
// TLS they agree about it.
func speaks(port core.ServicePort, isGRPC bool) bool {
	protocol := ""
	if port.AppProtocol != nil {
		protocol = *port.AppProtocol
	}
	return protocol == "https" || (protocol == "kubernetes.io/h2c") == isGRPC
}

// checkMonitoring checks that the rules and the dashboard are those of the repository.
func (m *manifests) checkMonitoring() error {
	if m.rules != nil {
		count := 0
		for _, group := range m.rules.Spec.Groups {
			count += len(group.Rules)
		}
		if count < 10 {
			return fmt.Errorf("the PrometheusRule has %d rules", count)
		}
	}
	if m.dashboard != nil {
		var dashboard struct{ Panels []any }
		if err := json.Unmarshal([]byte(m.dashboard.Data["atrium.json"]), &dashboard); err != nil || len(dashboard.Panels) < 10 {
			return fmt.Errorf("the dashboard has %d panels: %v", len(dashboard.Panels), err)
		}
	}
	return nil
}

// findDifferences lists the variables and volumes of the server that the migration does not have.
func findDifferences(migration, server core.PodSpec) (faults []error) {
	job, pod := migration.Containers[0], server.Containers[0]
	for _, variable := range pod.Env {
		if !slices.ContainsFunc(job.Env, func(v core.EnvVar) bool { return v.Name == variable.Name }) {
			faults = append(faults, fmt.Errorf("the migration has no variable %s", variable.Name))
		}
	}
	if len(migration.InitContainers) != len(server.InitContainers) {
		faults = append(faults, errors.New("the migration has other containers before it than the server"))
	}
	if len(job.EnvFrom) != len(pod.EnvFrom) {
		faults = append(faults, errors.New("the migration has other variables than the server"))
	}
	for _, volume := range server.Volumes {
		own := volume.Name == "settings" || volume.Name == "tls" // The first does not exist yet, and a migration serves nothing.
		if !own && !slices.ContainsFunc(migration.Volumes, func(v core.Volume) bool { return v.Name == volume.Name }) {
			faults = append(faults, fmt.Errorf("the migration has no volume %s", volume.Name))
		}
	}
	return faults
}
