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
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "atrium.image" -}}
{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end -}}

{{/* OpenShift gives each namespace its own numbers, and refuses others. */}}
{{- define "atrium.podSecurity" -}}
{{- $context := .Values.podSecurityContext -}}
{{- if .Capabilities.APIVersions.Has "security.openshift.io/v1" }}{{ $context = omit $context "runAsUser" "runAsGroup" "fsGroup" }}{{ end -}}
{{- toYaml $context -}}
{{- end -}}

{{- define "atrium.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (.Values.serviceAccount.create | ternary (include "atrium.name" .) "default") -}}
{{- end -}}

{{/* What server and migration have alike: variables, volumes, and where these are. */}}
{{- define "atrium.env" -}}
env:
  {{- include "atrium.secretEnv" . | nindent 2 }}
  {{- if or .Values.caBundle.configMapName .Values.caBundle.secretName }}
  # Certificates in a folder count beside those in the file of the image.
  - {name: SSL_CERT_DIR, value: /etc/atrium/ca}
  {{- end }}
  {{- with .Values.env }}{{ toYaml . | nindent 2 }}{{ end }}
{{- with .Values.envFrom }}
envFrom: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "atrium.volumeMounts" -}}
{{- if eq .Values.secrets.as "file" }}
- {name: secrets, mountPath: /etc/atrium/secrets, readOnly: true}
{{- end }}
{{- if or .Values.caBundle.configMapName .Values.caBundle.secretName }}
- {name: ca, mountPath: /etc/atrium/ca, readOnly: true}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "atrium.volumes" -}}
{{- if eq .Values.secrets.as "file" }}
- {{- include "atrium.secretVolume" . | nindent 2 }}
{{- end }}
{{- with .Values.caBundle.configMapName }}
- name: ca
  configMap: {name: {{ . | quote }}, items: [{key: {{ $.Values.caBundle.key | quote }}, path: ca.crt}]}
{{- end }}
{{- with .Values.caBundle.secretName }}
- name: ca
  secret: {secretName: {{ . | quote }}, defaultMode: 0440, items: [{key: {{ $.Values.caBundle.key | quote }}, path: ca.crt}]}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
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
{{- with .Values.secrets.newEncryptionKeyKey }}
- name: ATRIUM_NEW_ENCRYPTION_KEY_FILE
  value: /etc/atrium/secrets/{{ . }}
{{- end }}
{{- with .Values.secrets.smtpURLKey }}
- name: ATRIUM_SMTP_URL_FILE
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
{{- with .Values.secrets.newEncryptionKeyKey }}
- name: ATRIUM_NEW_ENCRYPTION_KEY
  valueFrom: {secretKeyRef: {name: {{ $.Values.secrets.name | quote }}, key: {{ . | quote }}}}
{{- end }}
{{- with .Values.secrets.smtpURLKey }}
- name: ATRIUM_SMTP_URL
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
