package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	scaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	network "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/yaml"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
	strict "sigs.k8s.io/json"
	convert "sigs.k8s.io/yaml"
)

// variants has values that an operator may set. Each variant is rendered and checked.
var variants = map[string]string{
	"default": `{}`,
	"secrets in variables, all else off": `
secrets: {as: env, encryptionKeyKey: ""}
migration: {enabled: false}
metrics: {enabled: false}
podDisruptionBudget: {enabled: false}
replicas: 1
`,
	"all of it": `
image: {repository: registry.example.com/atrium, tag: v1.2.3, digest: "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}
commonLabels: {team: platform}
autoscaling: {enabled: true, maxReplicas: 9, behavior: {scaleDown: {stabilizationWindowSeconds: 600}}}
ingress: {enabled: true, className: nginx, annotations: {a: b}, hosts: [atrium.example.com], tlsSecretName: edge}
httpRoute: {enabled: true, parentRefs: [{name: gateway}], hostnames: [atrium.example.com]}
networkPolicy: {enabled: true, from: [{podSelector: {}}], metricsFrom: [{namespaceSelector: {matchLabels: {a: monitoring}}}], egress: [{ports: [{port: 53, protocol: UDP}]}, {to: [{ipBlock: {cidr: 10.0.0.0/8}}], ports: [{port: 5432}]}]}
initContainers: [{name: sql-proxy, image: proxy, restartPolicy: Always, securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}}]
extraContainers: [{name: agent, image: agent, securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}}]
topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule}]
serviceAccount: {annotations: {eks.amazonaws.com/role-arn: a}}
caBundle: {configMapName: authorities}
envFrom: [{configMapRef: {name: more}}]
extraVolumes: [{name: documents, configMap: {name: documents}}]
extraVolumeMounts: [{name: documents, mountPath: /etc/atrium/documents, readOnly: true}]
imagePullSecrets: [{name: pull}]
settings: {audience: [https://atrium.example.com], public-url: https://atrium.example.com, drain-delay: 20s, drain-timeout: 1m, rate-limit: 50}
terminationGracePeriodSeconds: 85
tls: {secretName: atrium-tls}
service: {type: LoadBalancer, port: 443, annotations: {example.com/a: b}, loadBalancerClass: example.com/internal, loadBalancerSourceRanges: [10.0.0.0/8]}
metrics: {serviceMonitor: {enabled: true, labels: {release: prometheus}}, prometheusRule: {enabled: true, labels: {release: prometheus}}, dashboard: {enabled: true}}
podDisruptionBudget: {maxUnavailable: 50%}
env: [{name: OTEL_EXPORTER_OTLP_ENDPOINT, value: "http://collector:4318"}]
podAnnotations: {a: b}
podLabels: {a: b}
nodeSelector: {a: b}
tolerations: [{key: a, operator: Exists}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}
priorityClassName: high
migration: {resources: {limits: {memory: 512Mi}}, annotations: {argocd.argoproj.io/hook: PreSync}, podAnnotations: {a: b}, serviceAccountName: migrator}
`,
	"a gateway without TLS behind it": `
httpRoute: {enabled: true, parentRefs: [{name: gateway}], hostnames: [atrium.example.com]}
settings: {idle-timeout: 1h}
`,
	"one port": `
service: {grpcPort: 0, appProtocol: http}
httpRoute: {enabled: true, parentRefs: [{name: gateway}]}
`,
	onOpenShift: `
caBundle: {secretName: authorities, key: ca-bundle.crt}
networkPolicy: {enabled: true}
`,
}

// onOpenShift is the name of the variant that is rendered for OpenShift, whose restricted policy refuses pods that choose
// their user.
const onOpenShift = "on OpenShift"

// refusals has values that the schema of the chart must reject.
var refusals = map[string]string{
	"an unknown value":                  `{replica: 3}`,
	"a secret among the settings":       `{settings: {encryption-key: abc}}`,
	"development mode":                  `{settings: {dev: true}}`,
	"a setting that there is not":       `{settings: {trusted-proxys: [10.0.0.0/8]}}`,
	"a container without an image":      `{extraContainers: [{name: agent}]}`,
	"a port that the chart has to know": `{settings: {addr: "0.0.0.0:1"}}`,
	"secrets that are nowhere":          `{secrets: {as: disk}}`,
	"a digest that is none":             `{image: {digest: latest}}`,
	"an ingress without hosts":          `{ingress: {enabled: true}}`,
	"a route without a gateway":         `{httpRoute: {enabled: true}}`,
	"two bundles of authorities":        `{caBundle: {configMapName: a, secretName: b}}`,
	"root":                              `{podSecurityContext: {runAsUser: 0}}`,
}

// checkChart lints the chart, and checks what it renders.
func checkChart(folder, program string) error {
	log.SetOutput(io.Discard) // Helm says for each link that it follows it.
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		objects, err := render(folder, variants[name], name == onOpenShift)
		if err == nil {
			err = errors.Join(objects.check(), objects.checkSettings(program))
		}
		if err != nil {
			return fmt.Errorf("%s, with the values of %q:\n%w", folder, name, err)
		}
		fmt.Printf("%s: %d objects\n", name, objects.count)
	}
	if err := errors.Join(writeReadme(folder, true), checkSettingNames(folder, program)); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(refusals)) {
		if _, err := render(folder, refusals[name], false); err == nil {
			return fmt.Errorf("%s accepts %s", folder, name)
		}
	}
	return nil
}

// manifests has the objects of one release.
type manifests struct {
	deployment *apps.Deployment
	job        *batch.Job
	budget     *policy.PodDisruptionBudget
	monitor    *monitoring.ServiceMonitor
	account    *core.ServiceAccount
	settings   *core.ConfigMap
	dashboard  *core.ConfigMap
	scaler     *scaling.HorizontalPodAutoscaler
	ingress    *network.Ingress
	route      *gateway.HTTPRoute
	network    *network.NetworkPolicy
	rules      *monitoring.PrometheusRule
	openShift  bool
	services   []*core.Service
	count      int
}

// render does what `helm lint --strict` and `helm template` do. It decodes each object
// as strictly as a Kubernetes API server with strict field validation.
func render(folder, text string, openShift bool) (*manifests, error) {
	values, err := chartutil.ReadValues([]byte(text))
	if err != nil {
		return nil, err
	}
	var faults []error
	for _, message := range lint.All(folder, values, "apps", true).Messages {
		if message.Severity > support.InfoSev {
			faults = append(faults, message)
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	chart, err := loader.Load(folder)
	if err != nil {
		return nil, err
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	if openShift {
		capabilities.APIVersions = append(capabilities.APIVersions, "security.openshift.io/v1")
	}
	all, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: "shop", Namespace: "apps", IsInstall: true}, capabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(chart, all)
	if err != nil {
		return nil, err
	}
	m := &manifests{openShift: openShift}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		for document := range strings.SplitSeq(files[name], "\n---\n") {
			if err := m.decode([]byte(document)); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", name, err, document)
			}
		}
	}
	return m, nil
}

// decode reads an object as its type. It fails if a field is unknown or appears twice.
func (m *manifests) decode(document []byte) error {
	var head meta.TypeMeta
	if err := yaml.Unmarshal(document, &head); err != nil || head.Kind == "" {
		return err // The template renders nothing.
	}
	m.count++
	switch id := head.APIVersion + " " + head.Kind; id {
	case "apps/v1 Deployment":
		return into(document, &m.deployment)
	case "batch/v1 Job":
		return into(document, &m.job)
	case "policy/v1 PodDisruptionBudget":
		return into(document, &m.budget)
	case "monitoring.coreos.com/v1 ServiceMonitor":
		return into(document, &m.monitor)
	case "v1 ServiceAccount":
		return into(document, &m.account)
	case "v1 ConfigMap":
		if strings.Contains(string(document), "\n  atrium.json: ") {
			return into(document, &m.dashboard)
		}
		return into(document, &m.settings)
	case "autoscaling/v2 HorizontalPodAutoscaler":
		return into(document, &m.scaler)
	case "networking.k8s.io/v1 Ingress":
		return into(document, &m.ingress)
	case "networking.k8s.io/v1 NetworkPolicy":
		return into(document, &m.network)
	case "gateway.networking.k8s.io/v1 HTTPRoute":
		return into(document, &m.route)
	case "monitoring.coreos.com/v1 PrometheusRule":
		return into(document, &m.rules)
	case "v1 Service":
		var service *core.Service
		err := into(document, &service)
		m.services = append(m.services, service)
		return err
	default:
		return fmt.Errorf("%s has a type that this check does not know", id)
	}
}

func into[T any](document []byte, to **T) error {
	*to = new(T)
	text, err := convert.YAMLToJSONStrict(document)
	if err != nil {
		return err
	}
	faults, err := strict.UnmarshalStrict(text, *to)
	return errors.Join(append(faults, err)...)
}

// check finds faults that types allow: objects that do not find each other, and pods with
// more rights than they need.
func (m *manifests) check() error {
	var faults []error
	fail := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if m.deployment == nil || m.settings == nil || m.account == nil {
		return errors.New("a Deployment, a ConfigMap or a ServiceAccount is missing")
	}
	template := m.deployment.Spec.Template
	pod, container := template.Spec, template.Spec.Containers[0]
	finds := func(what string, selector map[string]string) {
		if len(selector) == 0 || !labels.SelectorFromSet(selector).Matches(labels.Set(template.Labels)) {
			fail("%s does not select the pods", what)
		}
	}
	finds("the Deployment", m.deployment.Spec.Selector.MatchLabels)
	for _, service := range m.services {
		finds("the Service "+service.Name, service.Spec.Selector)
		for _, port := range service.Spec.Ports {
			if !slices.ContainsFunc(container.Ports, func(p core.ContainerPort) bool { return p.Name == port.TargetPort.StrVal }) {
				fail("the Service %s leads to a port %s that no container has", service.Name, port.TargetPort.String())
			}
		}
		isOther := func(port core.ServicePort) bool { return port.TargetPort.StrVal != "http" }
		if service.Spec.Type != "" && service.Spec.Type != core.ServiceTypeClusterIP && slices.ContainsFunc(service.Spec.Ports, isOther) {
			fail("the Service %s shows another port than that of the server outside of the cluster", service.Name)
		}
	}
	if m.budget != nil {
		finds("the PodDisruptionBudget", m.budget.Spec.Selector.MatchLabels)
	}
	if m.job != nil {
		job := m.job.Spec.Template
		for _, service := range m.services {
			if labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(job.Labels)) {
				fail("the Service %s selects the pod of the migration", service.Name)
			}
		}
		faults = append(faults, findExcessRights("the migration", job.Spec, m.openShift)...)
		faults = append(faults, findDifferences(job.Spec, pod)...)
		if !strings.Contains(m.job.Annotations["helm.sh/hook"], "pre-upgrade") {
			fail("the migration is not run before an upgrade")
		}
	}
	if m.monitor != nil {
		selector := labels.SelectorFromSet(m.monitor.Spec.Selector.MatchLabels)
		found := slices.DeleteFunc(slices.Clone(m.services), func(s *core.Service) bool { return !selector.Matches(labels.Set(s.Labels)) })
		if len(found) != 1 || found[0].Spec.Ports[0].Name != m.monitor.Spec.Endpoints[0].Port {
			fail("the ServiceMonitor finds %d Services with its port", len(found))
		} else if job := found[0].Labels[m.monitor.Spec.JobLabel]; job != "atrium" {
			fail("the job of Prometheus is %q, and the alert rules are for atrium", job)
		}
	}
	faults = append(faults, findExcessRights("the server", pod, m.openShift)...)
	faults = append(faults, m.checkEdge(), m.checkMonitoring())
	if m.scaler != nil && (m.deployment.Spec.Replicas != nil || m.scaler.Spec.ScaleTargetRef.Name != m.deployment.Name) {
		fail("the HorizontalPodAutoscaler does not decide how many replicas there are")
	}
	if m.network != nil {
		finds("the NetworkPolicy", m.network.Spec.PodSelector.MatchLabels)
	}
	for name, probe := range map[string]*core.Probe{"startup": container.StartupProbe, "readiness": container.ReadinessProbe, "liveness": container.LivenessProbe} {
		if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Port.StrVal != "http" {
			fail("there is no probe of %s", name)
		}
	}
	if container.LivenessProbe.HTTPGet.Path != "/livez" {
		fail("a server whose database is away would be killed: its liveness is asked at %s", container.LivenessProbe.HTTPGet.Path)
	}
	return errors.Join(faults...)
}

// findExcessRights lists the rights that a pod has and does not need.
func findExcessRights(what string, pod core.PodSpec, openShift bool) (faults []error) {
	fail := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%s: %s", what, fmt.Sprintf(format, args...)))
	}
	is := func(b *bool, want bool) bool { return b != nil && *b == want }
	if s := pod.SecurityContext; s == nil || !is(s.RunAsNonRoot, true) || s.SeccompProfile == nil {
		fail("it may run as root or without seccomp")
	} else if chooses := s.RunAsUser != nil || s.RunAsGroup != nil || s.FSGroup != nil; chooses == openShift {
		fail("that it chooses its user is %t, and that this is OpenShift is %t", chooses, openShift)
	}
	if !is(pod.AutomountServiceAccountToken, false) {
		fail("it has a token of the cluster")
	}
	volumes := map[string]bool{}
	for _, volume := range pod.Volumes {
		volumes[volume.Name] = true
	}
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		s := container.SecurityContext
		if s == nil || !is(s.ReadOnlyRootFilesystem, true) || !is(s.AllowPrivilegeEscalation, false) || s.Capabilities == nil || !slices.Contains(s.Capabilities.Drop, "ALL") {
			fail("its container may write to its root or has capabilities")
		}
		for _, mount := range container.VolumeMounts {
			if !volumes[mount.Name] {
				fail("it mounts %s, which is no volume", mount.Name)
			}
		}
		for _, variable := range container.Env {
			path, names := variable.Value, strings.HasSuffix(variable.Name, "_FILE")
			if names && !slices.ContainsFunc(container.VolumeMounts, func(m core.VolumeMount) bool { return filepath.Dir(path) == m.MountPath }) {
				fail("%s names %s, which is in no volume", variable.Name, path)
			}
		}
	}
	return faults
}

// checkSettings lets the program check its settings, with the files and variables of the
// pod.
func (m *manifests) checkSettings(program string) error {
	folder, err := os.MkdirTemp("", "atrium-chart-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	secrets := map[string]string{"database-url": "postgres://atrium:secret@db/atrium", "encryption-key": strings.Repeat("ab", 32)}
	for name, text := range secrets {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	container := m.deployment.Spec.Template.Spec.Containers[0]
	args := []string{"admin", "config"}
	for _, arg := range container.Args[1:] {
		if strings.HasPrefix(arg, "/") {
			text := strings.ReplaceAll(m.settings.Data[filepath.Base(arg)], "/etc/atrium/tls/", folder+"/")
			arg = filepath.Join(folder, filepath.Base(arg))
			if err := os.WriteFile(arg, []byte(text), 0o600); err != nil {
				return err
			}
		}
		args = append(args, arg)
	}
	if err := makeCertificate(folder); err != nil {
		return err
	}
	command := exec.Command(program, args...)
	command.Env = []string{}
	for _, variable := range container.Env {
		value := variable.Value
		switch {
		case variable.ValueFrom != nil:
			value = secrets[variable.ValueFrom.SecretKeyRef.Key]
		case strings.HasSuffix(variable.Name, "_FILE"):
			value = filepath.Join(folder, filepath.Base(value))
		}
		command.Env = append(command.Env, variable.Name+"="+value)
	}
	said, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("the program rejects its settings: %w\n%s", err, said)
	}
	if !strings.Contains(string(said), "database-url: postgres://atrium:xxxxx@db/atrium # $ATRIUM_DATABASE_URL") {
		return fmt.Errorf("the program does not find its database:\n%s", said)
	}
	return checkGracePeriod(string(said), m.deployment.Spec.Template.Spec.TerminationGracePeriodSeconds)
}
