{{/* The verbs of requests for objects, as the API server reads them from a request line. RBAC knows no pattern in a verb. */}}
{{- define "gatehouse.objectVerbs" -}}
["get","list","watch","create","update","patch","delete","deletecollection"]
{{- end }}

{{/* Verbs in somebody else's name, for constrained impersonation: a list of verbs as a JSON list. */}}
{{- define "gatehouse.verbsInTheirNames" -}}
{{- $verbs := list -}}
{{- range . -}}
{{- $verbs = append $verbs (print "impersonate-on:user-info:" .) -}}
{{- end -}}
{{- toJson $verbs -}}
{{- end }}
