-- title: The sampled values of several tables
-- source: sqlmicro
-- reads: samples (relations with place, path, value)
-- returns: place, path, value
-- params: samples
{% for relation in samples %}
SELECT place, path, value
FROM {{ relation | ident }}
{{ loop | between("UNION ALL") }}
{% endfor %}
