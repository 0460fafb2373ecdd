-- title: The probability that a member of the population is in the release, by combination of values
-- source: Nergiz, Atzori & Clifton (2007): delta-presence
-- reads: cells, population (cells)
-- returns: the columns, records (members of the population), measure (the share of them that is in the release)
-- params: cells, population, columns
SELECT
{% for column in columns %}
  p.{{ column | ident }},
{% endfor %}
  p.size AS records,
  coalesce(c.size, 0) / p.size AS measure
FROM {{ population | ident }} AS p
LEFT JOIN {{ cells | ident }} AS c ON {{ columns | same("c", "p") }}
