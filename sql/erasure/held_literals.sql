-- title: Which of some literals occur in a column of a table, compared as text
-- source: none needed, this is counting
-- reads: relation
-- returns: literal
-- params: relation, columns, literals
{% for column in columns %}
SELECT DISTINCT CAST({{ column | ident }} AS VARCHAR) AS literal
FROM {{ relation | ident }}
WHERE list_contains({{ literals | lit }}, CAST({{ column | ident }} AS VARCHAR))
{{ loop | between("UNION") }}
{% endfor %}
