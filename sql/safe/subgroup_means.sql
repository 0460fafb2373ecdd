-- title: By how much the means of subgroups shift between two files
-- source: the standard error of a mean, s / sqrt(n), of every subgroup in the original
-- reads: original, changed (combinations that occur, with n)
-- returns: a row per set of nominal columns: table_id (as grouping() gives it: a bit per column, set where the column is not in the set), and for the
--   i-th numeric column the number of subgroups with enough records whose values differ: subgroups_i, shifted_i (by more than a standard error, or gone),
--   gone_i, and largest_i, the largest shift in standard errors
-- params: original, changed, nominal, numeric, sets, unit (what an average record counts in n), least (records)
WITH centre AS (
  SELECT
    0 AS nothing
  {% for column in numeric %}
    , sum(n * CAST({{ column | ident }} AS DOUBLE)) / sum(n) FILTER (WHERE {{ column | ident }} IS NOT NULL) AS mean_{{ loop.index }}
  {% endfor %}
  FROM {{ original | ident }}
),
both_files AS (
  SELECT
    CAST(o.n AS DOUBLE) / {{ unit | lit }} AS before,
    NULL AS after
  {% for column in nominal %}
    , o.{{ column | ident }}
  {% endfor %}
  {% for column in numeric %}
    , CAST(o.{{ column | ident }} AS DOUBLE) - m.mean_{{ loop.index }} AS u_{{ loop.index }}
  {% endfor %}
  FROM {{ original | ident }} AS o, centre AS m
  UNION ALL
  SELECT
    NULL AS before,
    CAST(r.n AS DOUBLE) / {{ unit | lit }} AS after
  {% for column in nominal %}
    , r.{{ column | ident }}
  {% endfor %}
  {% for column in numeric %}
    , CAST(r.{{ column | ident }} AS DOUBLE) - m.mean_{{ loop.index }} AS u_{{ loop.index }}
  {% endfor %}
  FROM {{ changed | ident }} AS r, centre AS m
),
summed AS (
  SELECT
    grouping({{ nominal | idents }}) AS table_id
  {% for column in numeric %}
    , sum(before) FILTER (WHERE u_{{ loop.index }} IS NOT NULL) AS records_{{ loop.index }}
    , sum(before * u_{{ loop.index }}) / sum(before) FILTER (WHERE u_{{ loop.index }} IS NOT NULL) AS before_{{ loop.index }}
    , sum(before * u_{{ loop.index }} * u_{{ loop.index }}) AS squares_{{ loop.index }}
    , sum(after * u_{{ loop.index }}) / sum(after) FILTER (WHERE u_{{ loop.index }} IS NOT NULL) AS after_{{ loop.index }}
    , min(u_{{ loop.index }}) FILTER (WHERE before IS NOT NULL) < max(u_{{ loop.index }}) FILTER (WHERE before IS NOT NULL) AS varies_{{ loop.index }}
  {% endfor %}
  FROM both_files
  GROUP BY GROUPING SETS ({{ sets | listed("\n    ({})") }}
  )
),
errors AS (
  SELECT
    *
  {% for column in numeric %}
    , sqrt(greatest(squares_{{ loop.index }} - records_{{ loop.index }} * before_{{ loop.index }} * before_{{ loop.index }}, 0) / nullif(greatest(records_{{ loop.index }} - 1, 0), 0) / records_{{ loop.index }}) AS error_{{ loop.index }}
  {% endfor %}
  FROM summed
),
subgroups AS (
  SELECT
    table_id
  {% for column in numeric %}
    , varies_{{ loop.index }} AND error_{{ loop.index }} > 0 AND records_{{ loop.index }} >= {{ least | lit }} - 1e-6 AS counts_{{ loop.index }}
    , after_{{ loop.index }} IS NULL AS gone_{{ loop.index }}
    , abs(after_{{ loop.index }} - before_{{ loop.index }}) / nullif(error_{{ loop.index }}, 0) AS shift_{{ loop.index }}
  {% endfor %}
  FROM errors
)
SELECT
  table_id
{% for column in numeric %}
  , count(*) FILTER (WHERE counts_{{ loop.index }}) AS subgroups_{{ loop.index }}
  , count(*) FILTER (WHERE counts_{{ loop.index }} AND (gone_{{ loop.index }} OR shift_{{ loop.index }} > 1 + 1e-9)) AS shifted_{{ loop.index }}
  , count(*) FILTER (WHERE counts_{{ loop.index }} AND gone_{{ loop.index }}) AS gone_{{ loop.index }}
  , max(shift_{{ loop.index }}) FILTER (WHERE counts_{{ loop.index }}) AS largest_{{ loop.index }}
{% endfor %}
FROM subgroups
GROUP BY table_id
ORDER BY table_id
