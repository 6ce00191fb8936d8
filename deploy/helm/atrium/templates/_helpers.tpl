{{/* The name of everything in a release. */}}
{{- define "atrium.name" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{- else -}}{{ printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" }}{{- end -}}
{{- end -}}

{{/* What the pods of the server are found by. */}}
{{- define "atrium.selector" -}}
app.kubernetes.io/name: atrium
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end -}}

{{- define "atrium.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: atrium
{{- end -}}

{{- define "atrium.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{/* The user of the image, who may do nothing. */}}
{{- define "atrium.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "atrium.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* The variables that secrets are in, or that name their files. */}}
{{- define "atrium.secretEnv" -}}
{{- if eq .Values.secrets.as "file" -}}
- name: ATRIUM_DATABASE_URL_FILE
  value: /etc/atrium/secrets/{{ .Values.secrets.databaseURLKey }}
{{- with .Values.secrets.databaseDirectURLKey }}
- name: ATRIUM_DATABASE_DIRECT_URL_FILE
  value: /etc/atrium/secrets/{{ . }}
{{- end }}
{{- with .Values.secrets.readDatabaseURLKey }}
- name: ATRIUM_READ_DATABASE_URL_FILE
  value: /etc/atrium/secrets/{{ . }}
{{- end }}
{{- with .Values.secrets.encryptionKeyKey }}
- name: ATRIUM_ENCRYPTION_KEY_FILE
  value: /etc/atrium/secrets/{{ . }}
{{- end }}
{{- else -}}
- name: ATRIUM_DATABASE_URL
  valueFrom: {secretKeyRef: {name: {{ .Values.secrets.name | quote }}, key: {{ .Values.secrets.databaseURLKey | quote }}}}
{{- with .Values.secrets.databaseDirectURLKey }}
- name: ATRIUM_DATABASE_DIRECT_URL
  valueFrom: {secretKeyRef: {name: {{ $.Values.secrets.name | quote }}, key: {{ . | quote }}}}
{{- end }}
{{- with .Values.secrets.readDatabaseURLKey }}
- name: ATRIUM_READ_DATABASE_URL
  valueFrom: {secretKeyRef: {name: {{ $.Values.secrets.name | quote }}, key: {{ . | quote }}}}
{{- end }}
{{- with .Values.secrets.encryptionKeyKey }}
- name: ATRIUM_ENCRYPTION_KEY
  valueFrom: {secretKeyRef: {name: {{ $.Values.secrets.name | quote }}, key: {{ . | quote }}}}
{{- end }}
{{- end -}}
{{- end -}}

{{- define "atrium.secretVolume" -}}
name: secrets
secret:
  secretName: {{ .Values.secrets.name | quote }}
  defaultMode: 0440
{{- end -}}
