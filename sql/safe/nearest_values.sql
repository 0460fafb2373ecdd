-- title: The released records with values that were read, the nearest to their means
-- source: sqlmicro: of two that are equally near the lower. Means of a column of few values are otherwise more values than it has
-- reads: released, cells
-- returns: label, the columns, n
-- params: released, cells, plain, columns
SELECT
  r.label
{% for column in plain %}
  , r.{{ column | ident }}
{% endfor %}
{% for column in columns %}
  , CASE
      WHEN CAST(r.{{ column | ident }} AS DOUBLE) - below_{{ loop.index }}.place <= -above_{{ loop.index }}.place - CAST(r.{{ column | ident }} AS DOUBLE)
        THEN below_{{ loop.index }}.occurring
      ELSE coalesce(above_{{ loop.index }}.occurring, below_{{ loop.index }}.occurring)
    END AS {{ column | ident }}
{% endfor %}
  , r.n
FROM {{ released | ident }} AS r
{% for column in columns %}
ASOF LEFT JOIN (
  SELECT CAST({{ column | ident }} AS DOUBLE) AS place, min({{ column | ident }}) AS occurring
  FROM {{ cells | ident }}
  WHERE {{ column | ident }} IS NOT NULL
  GROUP BY CAST({{ column | ident }} AS DOUBLE)) AS below_{{ loop.index }}
  ON CAST(r.{{ column | ident }} AS DOUBLE) >= below_{{ loop.index }}.place
ASOF LEFT JOIN (
  SELECT -CAST({{ column | ident }} AS DOUBLE) AS place, min({{ column | ident }}) AS occurring
  FROM {{ cells | ident }}
  WHERE {{ column | ident }} IS NOT NULL
  GROUP BY -CAST({{ column | ident }} AS DOUBLE)) AS above_{{ loop.index }}
  ON -CAST(r.{{ column | ident }} AS DOUBLE) >= above_{{ loop.index }}.place
{% endfor %}
