-- title: How many members of the population have the combination of each class
-- source: Sweeney (2002): k-map; a combination that nobody in the population has counts 0
-- reads: cells, population (cells)
-- returns: the columns, records, size, total (members of the population)
-- params: cells, population, columns
SELECT
{% for column in columns %}
  c.{{ column | ident }},
{% endfor %}
  c.records,
  c.size,
  coalesce(p.size, 0) AS total
FROM {{ cells | ident }} AS c
LEFT JOIN {{ population | ident }} AS p ON {{ columns | same("c", "p") }}
