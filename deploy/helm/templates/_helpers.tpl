{{- define "cdn-chatops.labels" -}}
app.kubernetes.io/name: cdn-chatops
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "cdn-chatops.pod" -}}
{{- $ := .root -}}
automountServiceAccountToken: false
{{- with $.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
# An open answer may take 15 seconds, an export under way 10.
terminationGracePeriodSeconds: 30
volumes:
  - name: tmp
    emptyDir: {}
  - name: data
    emptyDir: {}
{{- with $.Values.caSecretName }}
  - name: ca
    secret: { secretName: {{ . }} }
{{- end }}
containers:
  - name: {{ .role }}
    image: "{{ $.Values.image.repository }}:{{ $.Values.image.tag | default $.Chart.AppVersion }}"
    imagePullPolicy: {{ $.Values.image.pullPolicy }}
    args: [{{ .role }}]
    envFrom:
      - secretRef: { name: {{ $.Values.secretName | quote }} }
    env:
      - { name: PORT, value: "3000" }
      - { name: METRICS_PORT, value: {{ $.Values.operatorPort | quote }} }
      - { name: PGSSLMODE, value: {{ $.Values.databaseSslMode | quote }} }
      {{- if $.Values.caSecretName }}
      - { name: NODE_EXTRA_CA_CERTS, value: /ca/ca.crt }
      {{- end }}
      {{- range $name, $value := $.Values.env }}
      - { name: {{ $name }}, value: {{ $value | quote }} }
      {{- end }}
    {{- if ne .role "migrate" }}
    ports:
      {{- if eq .role "web" }}
      - { name: http, containerPort: 3000 }
      {{- end }}
      - { name: operator, containerPort: {{ $.Values.operatorPort }} }
    # A worker has no other port.
    startupProbe:
      httpGet: { path: /readyz, port: operator }
      periodSeconds: 2
      failureThreshold: 30
    readinessProbe:
      httpGet: { path: /readyz, port: operator }
      periodSeconds: 5
    livenessProbe:
      httpGet: { path: /healthz, port: operator }
      periodSeconds: 15
      timeoutSeconds: 5
    {{- end }}
    resources: {{ toYaml $.Values.resources | nindent 6 }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
    volumeMounts:
      - { name: tmp, mountPath: /tmp }
      - { name: data, mountPath: /data }
      {{- if $.Values.caSecretName }}
      - { name: ca, mountPath: /ca, readOnly: true }
      {{- end }}
{{- end }}
