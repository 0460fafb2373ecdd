-- title: How many units have more than one value in each of some columns
-- source: Codd (1972), functional dependency; NULL is a value of its own
-- reads: relation (by row_id), members (row_id, unit)
-- returns: one row: units, repeated (those of more than one record); for every column how many of them have two values
--   or more
-- params: relation, members, columns
SELECT
  count(*) AS units,
  count(*) FILTER (WHERE times > 1) AS repeated
{% for column in columns %}
  , count(*) FILTER (WHERE smallest_{{ loop.index }} IS DISTINCT FROM largest_{{ loop.index }}
      OR known_{{ loop.index }} NOT IN (0, times)) AS differing_{{ loop.index }}
{% endfor %}
FROM (
  SELECT
    count(*) AS times
  {% for column in columns %}
    , min(r.{{ column | ident }}) AS smallest_{{ loop.index }}
    , max(r.{{ column | ident }}) AS largest_{{ loop.index }}
    , count(r.{{ column | ident }}) AS known_{{ loop.index }}
  {% endfor %}
  FROM {{ relation | ident }} AS r
  JOIN {{ members | ident }} AS m USING (row_id)
  GROUP BY m.unit)
