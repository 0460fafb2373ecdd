-- title: The values of the classes that are opened: those of their founders, who are alike
-- source: sqlmicro
-- reads: founders (row_id, label), relation
-- returns: label, the columns
-- params: founders, relation, columns
SELECT DISTINCT
  f.label
{% for column in columns %}
  , r.{{ column | ident }}
{% endfor %}
FROM {{ founders | ident }} AS f
JOIN {{ relation | ident }} AS r USING (row_id)
