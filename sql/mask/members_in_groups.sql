-- title: The members of the population whose values are in the ranges and sets of their group
-- source: LeFevre, DeWitt & Ramakrishnan (2006); Sweeney (2002): k-map
-- reads: members (row_id, label), population, grouped (the records with label)
-- returns: row_id, label
-- params: members, population, grouped, ranges, sets
WITH boxes AS (
  SELECT
    label
  {% for column in ranges %}
    , min({{ column | ident }}) AS low_{{ loop.index }}
    , max({{ column | ident }}) AS high_{{ loop.index }}
    , bool_or({{ column | ident }} IS NULL) AS gap_{{ loop.index }}
  {% endfor %}
  {% for column in sets %}
    , list(DISTINCT {{ column | ident }}) AS set_{{ loop.index }}
    , bool_or({{ column | ident }} IS NULL) AS missing_{{ loop.index }}
  {% endfor %}
  FROM {{ grouped | ident }}
  GROUP BY label
)
SELECT
  m.row_id,
  m.label
FROM {{ members | ident }} AS m
JOIN {{ population | ident }} AS p USING (row_id)
JOIN boxes AS b USING (label)
WHERE true
{% for column in ranges %}
  AND CASE WHEN p.{{ column | ident }} IS NULL THEN b.gap_{{ loop.index }}
    ELSE p.{{ column | ident }} BETWEEN b.low_{{ loop.index }} AND b.high_{{ loop.index }} END
{% endfor %}
{% for column in sets %}
  AND CASE WHEN p.{{ column | ident }} IS NULL THEN b.missing_{{ loop.index }}
    ELSE list_contains(b.set_{{ loop.index }}, p.{{ column | ident }}) END
{% endfor %}
