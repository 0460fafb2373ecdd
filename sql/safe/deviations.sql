-- title: By how much the tables of two files differ
-- source: Höhne, SAFE: A_S = Z_S'Z_S (counts) and T_S = Z_S'X (sums) for sets S of nominal columns. The cells of one file
--   count positive and those of the other negative; summed by cell values, what is left is the difference
-- reads: original, changed (combinations that occur, with n)
-- returns: a row per set S: table_id (as grouping() gives it: a bit per column, set where the column is not in S), cells, cells_changed, count_deviation,
--   count_max, and for the i-th numeric column sum_deviation_i and sum_max_i
-- params: original, changed, nominal, numeric, sets
WITH both_files AS (
  SELECT
    n AS signed_n
  {% for column in nominal %}
    , {{ column | ident }}
  {% endfor %}
  {% for column in numeric %}
    , n * CAST({{ column | ident }} AS DOUBLE) AS signed_{{ loop.index }}
  {% endfor %}
  FROM {{ original | ident }}
  UNION ALL
  SELECT
    -n AS signed_n
  {% for column in nominal %}
    , {{ column | ident }}
  {% endfor %}
  {% for column in numeric %}
    , -n * CAST({{ column | ident }} AS DOUBLE) AS signed_{{ loop.index }}
  {% endfor %}
  FROM {{ changed | ident }}
),
cells AS (
  SELECT
    {% if nominal %}grouping({{ nominal | idents }}){% else %}0{% endif %} AS table_id,
    sum(signed_n) AS deviation
  {% for column in numeric %}
    , coalesce(sum(signed_{{ loop.index }}), 0) AS deviation_{{ loop.index }}
  {% endfor %}
  FROM both_files
  GROUP BY GROUPING SETS ({{ sets | listed("\n    ({})") }}
  )
)
SELECT
  table_id,
  count(*) AS cells,
  count(*) FILTER (WHERE deviation <> 0) AS cells_changed,
  sum(abs(deviation)) AS count_deviation,
  max(abs(deviation)) AS count_max
{% for column in numeric %}
  , sum(abs(deviation_{{ loop.index }})) AS sum_deviation_{{ loop.index }}
  , max(abs(deviation_{{ loop.index }})) AS sum_max_{{ loop.index }}
{% endfor %}
FROM cells
GROUP BY table_id
ORDER BY table_id
