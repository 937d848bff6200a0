package validate

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// decoder knows every field that the API does, and refuses all others.
func decoder(t *testing.T) runtime.Decoder {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), appsv1.AddToScheme(scheme), autoscalingv2.AddToScheme(scheme),
		policyv1.AddToScheme(scheme), networkingv1.AddToScheme(scheme), monitoringv1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme, json.SerializerOptions{Yaml: true, Strict: true})
}

func decode(t *testing.T, manifest []byte) (runtime.Object, error) {
	t.Helper()
	o, _, err := decoder(t).Decode(manifest, nil, nil)
	return o, err
}

// cluster is what one kustomization makes.
type cluster struct {
	deployments []*appsv1.Deployment
	services    []*corev1.Service
	configs     []*corev1.ConfigMap
	scalers     []*autoscalingv2.HorizontalPodAutoscaler
	budgets     []*policyv1.PodDisruptionBudget
	policies    []*networkingv1.NetworkPolicy
	monitors    []*monitoringv1.ServiceMonitor
	ingresses   []*networkingv1.Ingress
	alerts      []*monitoringv1.PrometheusRule
	dashboards  []*corev1.ConfigMap
	namespaces  []*corev1.Namespace
}

func (c *cluster) add(t *testing.T, o runtime.Object) {
	t.Helper()
	switch o := o.(type) {
	case *appsv1.Deployment:
		c.deployments = append(c.deployments, o)
	case *corev1.Service:
		c.services = append(c.services, o)
	case *corev1.ConfigMap:
		if o.Labels["grafana_dashboard"] == "1" {
			c.dashboards = append(c.dashboards, o)
		} else {
			c.configs = append(c.configs, o)
		}
	case *autoscalingv2.HorizontalPodAutoscaler:
		c.scalers = append(c.scalers, o)
	case *policyv1.PodDisruptionBudget:
		c.budgets = append(c.budgets, o)
	case *networkingv1.NetworkPolicy:
		c.policies = append(c.policies, o)
	case *networkingv1.Ingress:
		c.ingresses = append(c.ingresses, o)
	case *monitoringv1.ServiceMonitor:
		c.monitors = append(c.monitors, o)
	case *monitoringv1.PrometheusRule:
		c.alerts = append(c.alerts, o)
	case *corev1.Namespace:
		c.namespaces = append(c.namespaces, o)
	default:
		t.Errorf("no rule looks at a %T", o)
	}
}

// kustomizations are the directories that `kubectl apply -k` may be given.
func kustomizations(t *testing.T) []string {
	t.Helper()
	overlays, err := filepath.Glob(filepath.Join(top, "deploy/kubernetes/overlays/*"))
	if err != nil || len(overlays) == 0 {
		t.Fatalf("no overlays: %v", err)
	}
	return append(overlays, filepath.Join(top, "deploy/kubernetes/base"))
}

// build does what `kubectl kustomize` does, and decodes every object strictly.
func build(t *testing.T, dir string) *cluster {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{}
	for _, r := range made.Resources() {
		manifest, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		o, err := decode(t, manifest)
		if err != nil {
			t.Fatalf("%s: %v", r.CurId(), err)
		}
		c.add(t, o)
	}
	if len(c.deployments) != 1 || len(c.budgets) != 1 || len(c.policies) != 1 || len(c.configs) != 1 {
		t.Fatalf("not one of each: %+v", c)
	}
	return c
}

func TestKubernetesDecodingCatchesMistakes(t *testing.T) {
	for what, manifest := range map[string]string{
		"a misspelt field":           "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {prots: []}}",
		"a field in the wrong case":  "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {Replicas: 2}}",
		"a field in the wrong place": "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, maxUnavailable: 1}",
		"a field given twice":        "{apiVersion: v1, kind: Service, metadata: {name: a, name: b}}",
		"a wrong type":               "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {replicas: two}}",
		"a wrong version":            "{apiVersion: apps/v2, kind: Deployment, metadata: {name: a}}",
	} {
		if o, err := decode(t, []byte(manifest)); err == nil {
			t.Errorf("%s: decoded to %+v", what, o)
		}
	}
}

// TestKubernetesFilesAreAllUsed: a file that no kustomization names is checked by nobody.
func TestKubernetesFilesAreAllUsed(t *testing.T) {
	root := filepath.Join(top, "deploy/kubernetes")
	var kinds []string
	for _, dir := range kustomizations(t) {
		c := build(t, dir)
		if len(c.monitors) > 0 {
			kinds = append(kinds, "monitor")
		}
		if len(c.alerts) > 0 {
			kinds = append(kinds, "alerts")
		}
		if len(c.scalers) > 0 {
			kinds = append(kinds, "autoscaler")
		}
		if len(c.services) != 2 {
			t.Errorf("%s: %d services", dir, len(c.services))
		}
	}
	if !slices.Contains(kinds, "monitor") || !slices.Contains(kinds, "alerts") || !slices.Contains(kinds, "autoscaler") {
		t.Errorf("no overlay has all of the components prometheus-operator and autoscaler: %q", kinds)
	}
	files, err := filepath.Glob(filepath.Join(root, "base/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(root, "base/kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := filepath.Base(f); name != "kustomization.yaml" && !slices.Contains(words(string(list)), name) {
			t.Errorf("%s is not in the base's kustomization", name)
		}
	}
}
