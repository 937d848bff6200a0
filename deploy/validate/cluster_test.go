package validate

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// words splits at everything that is not of a file's name.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \n\t[],{}", r) })
}

// each runs a test on what every kustomization makes.
func each(t *testing.T, test func(t *testing.T, c *cluster)) {
	t.Helper()
	for _, dir := range kustomizations(t) {
		t.Run(dir[strings.LastIndexByte(dir, '/')+1:], func(t *testing.T) { test(t, build(t, dir)) })
	}
}

func matches(t *testing.T, selector *metav1.LabelSelector, of map[string]string) bool {
	t.Helper()
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		t.Fatal(err)
	}
	return !s.Empty() && s.Matches(labels.Set(of))
}

// TestKubernetesPodIsRestricted asks the admission plugin's own rules.
func TestKubernetesPodIsRestricted(t *testing.T) {
	rules, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	each(t, func(t *testing.T, c *cluster) {
		pod := c.deployments[0].Spec.Template
		for _, r := range rules.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec) {
			if !r.Allowed {
				t.Errorf("%s: %s", r.ForbiddenReason, r.ForbiddenDetail)
			}
		}
		container := pod.Spec.Containers[0]
		container.SecurityContext.AllowPrivilegeEscalation = nil
		loose := pod.Spec
		loose.Containers = []corev1.Container{container}
		if !slices.ContainsFunc(rules.EvaluatePod(restricted, &pod.ObjectMeta, &loose), func(r policy.CheckResult) bool { return !r.Allowed }) {
			t.Error("the rules catch nothing")
		}
	})
}

func TestKubernetesPodIsBoundAndProbed(t *testing.T) {
	each(t, func(t *testing.T, c *cluster) {
		pod := c.deployments[0].Spec.Template.Spec
		one := pod.Containers[0]
		for rule, kept := range map[string]bool{
			"a read-only file system":  *one.SecurityContext.ReadOnlyRootFilesystem,
			"no API token":             !*pod.AutomountServiceAccountToken,
			"no variables of services": !*pod.EnableServiceLinks,
			"a bound on memory":        !one.Resources.Limits.Memory().IsZero(),
			"requests":                 !one.Resources.Requests.Cpu().IsZero() && !one.Resources.Requests.Memory().IsZero(),
			"liveness":                 one.LivenessProbe.HTTPGet.Path == "/healthz",
			"readiness":                one.ReadinessProbe.HTTPGet.Path == "/readyz",
			"start":                    one.StartupProbe.HTTPGet != nil,
			"spread":                   len(pod.TopologySpreadConstraints) == 2,
			// 20 s of drain, and 4 s for the rest, are the server's own.
			"time to drain": time.Duration(*pod.TerminationGracePeriodSeconds)*time.Second >= delayOf(t, one)+24*time.Second,
			// The probes need that long to find out.
			"a delay": delayOf(t, one) >= time.Duration(one.ReadinessProbe.PeriodSeconds*one.ReadinessProbe.FailureThreshold)*time.Second,
		} {
			if !kept {
				t.Errorf("the pod lacks %s", rule)
			}
		}
		for _, probe := range []*corev1.Probe{one.LivenessProbe, one.ReadinessProbe, one.StartupProbe} {
			if !hasPort(one, probe.HTTPGet.Port) || probe.HTTPGet.Port.StrVal != "admin" { // which has connections reserved for it
				t.Errorf("probes at port %s", probe.HTTPGet.Port.String())
			}
		}
		if len(c.namespaces) > 0 && c.namespaces[0].Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
			t.Error("the namespace does not enforce the restricted standard")
		}
	})
}

// delayOf is how long the server goes on after it has said that it is not ready.
func delayOf(t *testing.T, c corev1.Container) time.Duration {
	t.Helper()
	for _, v := range c.Env {
		if v.Name == "SUNDRY_DRAIN_DELAY" {
			d, err := time.ParseDuration(v.Value)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
	}
	return 0
}

func hasPort(c corev1.Container, port intstr.IntOrString) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
		return port.Type == intstr.String && p.Name == port.StrVal || port.Type == intstr.Int && p.ContainerPort == port.IntVal
	})
}

// TestKubernetesNamesMeet: selectors, ports, volumes and references to one another.
func TestKubernetesNamesMeet(t *testing.T) {
	each(t, func(t *testing.T, c *cluster) {
		d := c.deployments[0]
		pod := d.Spec.Template
		selectors := []*metav1.LabelSelector{d.Spec.Selector, c.budgets[0].Spec.Selector, &c.policies[0].Spec.PodSelector}
		for _, s := range pod.Spec.TopologySpreadConstraints {
			selectors = append(selectors, s.LabelSelector)
		}
		for _, s := range c.services {
			selectors = append(selectors, &metav1.LabelSelector{MatchLabels: s.Spec.Selector})
			for _, p := range s.Spec.Ports {
				if !hasPort(pod.Spec.Containers[0], p.TargetPort) {
					t.Errorf("service %s: the pod has no port %s", s.Name, p.TargetPort.String())
				}
			}
		}
		for _, s := range selectors {
			if !matches(t, s, pod.Labels) {
				t.Errorf("%v does not select the pod", s)
			}
		}
		checkScale(t, c)
		if used := pod.Spec.Volumes[0].ConfigMap.Name; used != c.configs[0].Name || c.configs[0].Data["sundry.yaml"] == "" {
			t.Errorf("the pod mounts %s, the configuration is %s", used, c.configs[0].Name)
		}
	})
}

// checkScale: at least two pods, by the autoscaler or by the deployment, but never by both.
func checkScale(t *testing.T, c *cluster) {
	t.Helper()
	d := c.deployments[0]
	if len(c.scalers) == 0 {
		if d.Spec.Replicas == nil || *d.Spec.Replicas < 2 {
			t.Error("a single pod, and no autoscaler")
		}
		return
	}
	spec := c.scalers[0].Spec
	if ref := spec.ScaleTargetRef; ref.Kind != "Deployment" || ref.Name != d.Name || ref.APIVersion != "apps/v1" || *spec.MinReplicas < 2 {
		t.Errorf("the autoscaler scales %+v", ref)
	}
	checkTarget(t, d.Spec.Template.Spec.Containers[0].Resources.Requests.Cpu().String(), spec.Metrics[0].Resource.Target)
	if d.Spec.Replicas != nil {
		t.Error("replicas would undo what the autoscaler decides")
	}
}

// checkTarget: the figures are those that sizing.md derives.
func checkTarget(t *testing.T, request string, target autoscalingv2.MetricTarget) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(top, "deploy/sizing.md"))
	if err != nil {
		t.Fatal(err)
	}
	if target.AverageValue == nil {
		t.Error("the autoscaler's target depends on what a pod requests")
		return
	}
	for _, want := range []string{"A pod requests `" + request + "`", "above `" + target.AverageValue.String() + "` each", "per second at " + request + " | at " + target.AverageValue.String()} {
		if !strings.Contains(string(b), want) {
			t.Errorf("sizing.md does not derive %q", want)
		}
	}
}

// TestKubernetesIngressLeadsToTheService, by a name that Sundry knows for its own.
func TestKubernetesIngressLeadsToTheService(t *testing.T) {
	c := build(t, filepath.Join(top, "deploy/kubernetes/overlays/example"))
	if len(c.ingresses) != 1 {
		t.Fatalf("%d ingresses", len(c.ingresses))
	}
	spec := c.ingresses[0].Spec
	rule, settings := spec.Rules[0], c.configs[0].Data["sundry.yaml"]
	if !slices.Equal(spec.TLS[0].Hosts, []string{rule.Host}) || !strings.Contains(settings, "own_hosts: ["+rule.Host+"]") {
		t.Errorf("%s has the certificate of %v; the settings are %s", rule.Host, spec.TLS[0].Hosts, settings)
	}
	to := rule.HTTP.Paths[0].Backend.Service
	if !slices.ContainsFunc(c.services, func(s *corev1.Service) bool {
		return s.Name == to.Name && slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == to.Port.Name })
	}) {
		t.Errorf("no service has the port that %+v names", to)
	}
}

func TestKubernetesMonitorFindsTheAdminPort(t *testing.T) {
	each(t, func(t *testing.T, c *cluster) {
		for _, m := range c.monitors {
			found := 0
			for _, s := range c.services {
				if !matches(t, &m.Spec.Selector, s.Labels) {
					continue
				}
				found++
				if !slices.ContainsFunc(s.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == m.Spec.Endpoints[0].Port }) {
					t.Errorf("service %s has no port %s", s.Name, m.Spec.Endpoints[0].Port)
				}
			}
			if found != 1 {
				t.Errorf("the monitor selects %d services", found)
			}
			token := m.Spec.Endpoints[0].Authorization.Credentials
			if !slices.ContainsFunc(c.deployments[0].Spec.Template.Spec.Containers[0].Env, func(e corev1.EnvVar) bool {
				return e.Name == "SUNDRY_ADMIN_READ_TOKEN" && e.ValueFrom.SecretKeyRef.Name == token.Name && e.ValueFrom.SecretKeyRef.Key == token.Key
			}) {
				t.Errorf("the monitor shows %s/%s, which is not the pod's token", token.Name, token.Key)
			}
		}
	})
}

// TestKubernetesPolicyIsSound: what the API server would refuse.
func TestKubernetesPolicyIsSound(t *testing.T) {
	each(t, func(t *testing.T, c *cluster) {
		spec := c.policies[0].Spec
		if !slices.Equal(spec.PolicyTypes, []networkingv1.PolicyType{"Ingress", "Egress"}) {
			t.Errorf("policy of %v", spec.PolicyTypes)
		}
		for _, rule := range spec.Egress {
			if len(rule.To) == 0 || len(rule.Ports) == 0 {
				t.Error("an egress rule is open to all")
			}
			for _, to := range rule.To {
				if to.IPBlock != nil {
					checkBlock(t, to.IPBlock)
				}
			}
		}
	})
}

func checkBlock(t *testing.T, b *networkingv1.IPBlock) {
	t.Helper()
	whole, err := netip.ParsePrefix(b.CIDR)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range b.Except {
		p, err := netip.ParsePrefix(text)
		if err != nil || p != p.Masked() || !whole.Contains(p.Addr()) || p.Bits() <= whole.Bits() {
			t.Errorf("exception %s of %s: %v", text, whole, err)
		}
	}
}
