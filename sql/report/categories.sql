-- title: The values of every nominal column that are frequent before and after, and how many records have others
-- source: sqlmicro: a value that fewer than k records have in either file never leaves the database
-- reads: original, released (values)
-- returns: column_name, place (by frequency; most + 1 stands for all others), value (NULL for these, and where it is
--   missing), before, after
-- params: original, released, columns, k, most
{% for column in columns %}
SELECT
  {{ column.name | lit }} AS column_name,
  place,
  CASE WHEN place <= {{ most }} THEN decode(min(value)) END AS value,
  CAST(sum(before) AS BIGINT) AS before,
  CAST(sum(after) AS BIGINT) AS after
FROM (
  SELECT
    value,
    before,
    after,
    CASE WHEN least(before, after) >= {{ k }}
      THEN least(position, {{ most }} + 1) ELSE {{ most }} + 1 END AS place
  FROM (
    SELECT
      {{ column | ident }} AS value,
      sum(before) AS before,
      sum(after) AS after,
      row_number() OVER (
        ORDER BY least(sum(before), sum(after)) >= {{ k }} DESC, sum(before) + sum(after) DESC, {{ column | ident }}
      ) AS position
    FROM (
      SELECT {{ column | ident }}, 1 AS before, 0 AS after FROM {{ original | ident }}
      UNION ALL
      SELECT {{ column | ident }}, 0, 1 FROM {{ released | ident }})
    GROUP BY {{ column | ident }}))
GROUP BY place
{{ loop | between("UNION ALL") }}
{% endfor %}
