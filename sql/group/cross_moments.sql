-- title: Means and sums of products of the columns, each scaled to [0, 1] and then centred
-- source: sqlmicro. The values are summed as whole multiples of 2^-60: a sum of whole numbers does not depend on the
--   order, so one, two or eight threads give the same ordering of the records. A missing value counts as the mean
-- reads: relation
-- returns: one row: records, and for columns i <= j (counted from 1) mean_i and sum_i_j; NULL for a constant column
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
),
centre AS (
  SELECT
    max(records) AS records
  {% for first in range(1, columns | length + 1) %}
    , CAST(sum(CAST(u_{{ first }} * 1152921504606846976 AS HUGEINT)) AS DOUBLE) / 1152921504606846976
      / count(u_{{ first }}) AS mean_{{ first }}
  {% endfor %}
  FROM scaled
),
centred AS (
  SELECT
    c.*
  {% for first in range(1, columns | length + 1) %}
    , coalesce(s.u_{{ first }} - c.mean_{{ first }}, 0) AS u_{{ first }}
  {% endfor %}
  FROM scaled AS s, centre AS c
)
SELECT
  max(records) AS records
{% for first in range(1, columns | length + 1) %}
  , max(mean_{{ first }}) AS mean_{{ first }}
{% for second in range(first, columns | length + 1) %}
  , CAST(sum(CAST(u_{{ first }} * u_{{ second }} * 1152921504606846976 AS HUGEINT)) AS DOUBLE)
    / 1152921504606846976 AS sum_{{ first }}_{{ second }}
{% endfor %}
{% endfor %}
FROM centred
