-- title: How diverse each class is, and at most as many as it has persons
-- source: sqlmicro: a person with four visits and four diagnoses is no class of four; l-diversity of
--   Machanavajjhala et al. (2007) takes a record for each person
-- reads: classes (measure), cells (size: persons)
-- returns: the columns, records (persons), measure
-- params: classes, cells, columns
SELECT
{% for column in columns %}
  c.{{ column | ident }},
{% endfor %}
  c.records,
  least(m.measure, c.size) AS measure
FROM {{ classes | ident }} AS m
JOIN {{ cells | ident }} AS c ON {{ columns | same("c", "m") }}
