-- title: Sums and sums of products of the columns, each scaled to [0, 1]
-- source: sqlmicro. The scaled values are summed as whole multiples of 2^-60: a sum of whole numbers does not depend
--   on the order, so one, two or eight threads give the same ordering of the records
-- reads: relation
-- returns: one row: records, and for columns i <= j (counted from 1) count_i, sum_i, count_i_j, sum_i_j
-- params: relation, columns
WITH extent AS (
  SELECT
    count(*) AS records
  {% for column in columns %}
    , min(CAST({{ column | ident }} AS DOUBLE)) AS low_{{ loop.index }}
    , nullif(max(CAST({{ column | ident }} AS DOUBLE)) - low_{{ loop.index }}, 0) AS width_{{ loop.index }}
  {% endfor %}
  FROM {{ relation | ident }}
),
scaled AS (
  SELECT
    records
  {% for column in columns %}
    , (CAST({{ column | ident }} AS DOUBLE) - low_{{ loop.index }}) / width_{{ loop.index }} AS u_{{ loop.index }}
  {% endfor %}
  FROM {{ relation | ident }}, extent
)
SELECT
  max(records) AS records
{% for first in range(1, columns | length + 1) %}
  , count(u_{{ first }}) AS count_{{ first }}
  , CAST(sum(CAST(u_{{ first }} * 1152921504606846976 AS HUGEINT)) AS DOUBLE) / 1152921504606846976 AS sum_{{ first }}
{% for second in range(first, columns | length + 1) %}
  , count(u_{{ first }} * u_{{ second }}) AS count_{{ first }}_{{ second }}
  , CAST(sum(CAST(u_{{ first }} * u_{{ second }} * 1152921504606846976 AS HUGEINT)) AS DOUBLE)
    / 1152921504606846976 AS sum_{{ first }}_{{ second }}
{% endfor %}
{% endfor %}
FROM scaled
