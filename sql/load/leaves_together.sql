-- title: The sampled values of several tables
-- source: sqlmicro
-- reads: leaves (relations with place, path, value)
-- returns: place, path, value
-- params: leaves
{% for relation in leaves %}
SELECT place, path, value
FROM {{ relation | ident }}
{{ loop | between("UNION ALL") }}
{% endfor %}
