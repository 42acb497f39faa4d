package main

import "helm.sh/helm/v3/pkg/chart"

// proofChart is a chart of ten kinds; one object is there only with the value `extra`.
func proofChart() *chart.Chart {
	out := &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: "proof", Version: "0.1.0", Type: "application"},
		Values:   map[string]any{"generation": "0", "extra": false, "selector": "proof"},
	}
	for name, text := range templates {
		out.Templates = append(out.Templates, &chart.File{Name: "templates/" + name + ".yaml", Data: []byte(text)})
	}
	return out
}

// head opens each template. The label is what every step changes.
const head = `
metadata:
  name: proof
  labels: {generation: {{ .Values.generation | quote }}, app.kubernetes.io/managed-by: {{ .Release.Service }}}
`

const podSpec = `
      containers:
      - name: main
        image: registry.example/main:{{ .Values.generation }}
        env: [{name: GENERATION, value: {{ .Values.generation | quote }}}]
        ports: [{name: http, containerPort: 8080}]
`

var templates = map[string]string{
	"configmap": `
apiVersion: v1
kind: ConfigMap` + head + `
data:
  generation: {{ .Values.generation | quote }}
  {{- if .Values.extra }}
  extra: "yes"
  {{- end }}
`,
	"secret": `
apiVersion: v1
kind: Secret` + head + `
stringData: {password: "of-{{ .Values.generation }}"}
`,
	"serviceaccount": `
apiVersion: v1
kind: ServiceAccount` + head,
	"service": `
apiVersion: v1
kind: Service` + head + `
spec:
  selector: {app: proof}
  ports:
  - {name: http, port: 80, targetPort: http}
  {{- if .Values.extra }}
  - {name: metrics, port: 9090}
  {{- end }}
`,
	"deployment": `
apiVersion: apps/v1
kind: Deployment` + head + `
spec:
  replicas: {{ .Values.generation }}
  selector: {matchLabels: {app: {{ .Values.selector }}}}
  template:
    metadata: {labels: {app: {{ .Values.selector }}}}
    spec:` + podSpec,
	"statefulset": `
apiVersion: apps/v1
kind: StatefulSet` + head + `
spec:
  serviceName: proof
  replicas: {{ .Values.generation }}
  selector: {matchLabels: {app: proof}}
  template:
    metadata: {labels: {app: proof}}
    spec:` + podSpec,
	"cronjob": `
apiVersion: batch/v1
kind: CronJob` + head + `
spec:
  schedule: "{{ .Values.generation }} * * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, image: "registry.example/job:{{ .Values.generation }}"}]
`,
	"role": `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role` + head + `
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get]}
`,
	"rolebinding": `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding` + head + `
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: proof}
subjects: [{kind: ServiceAccount, name: proof, namespace: {{ .Release.Namespace }}}]
`,
	"ingress": `
apiVersion: networking.k8s.io/v1
kind: Ingress` + head + `
spec:
  rules:
  - host: g{{ .Values.generation }}.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: proof, port: {name: http}}}}]}
`,
	"budget": `
{{- if .Values.extra }}
apiVersion: policy/v1
kind: PodDisruptionBudget` + head + `
spec: {minAvailable: 1, selector: {matchLabels: {app: proof}}}
{{- end }}
`,
}
