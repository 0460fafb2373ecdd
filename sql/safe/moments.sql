-- title: Mean, variance and covariance of the numeric columns
-- source: Höhne, SAFE: mean, variance and covariance of the numeric columns before and after
-- reads: cells
-- returns: one row: for the i-th numeric column mean_i, for each pair covariance_i_j (divisor n - 1, over records with both)
-- params: cells, numeric, pairs (numbers of two columns, counted from 1)
WITH centre AS (
  SELECT
    0 AS nothing
  {% for column in numeric %}
    , sum(n * CAST({{ column | ident }} AS DOUBLE)) / sum(n) FILTER (WHERE {{ column | ident }} IS NOT NULL) AS mean_{{ loop.index }}
  {% endfor %}
  FROM {{ cells | ident }}
),
centred AS (
  SELECT
    c.n
  {% for column in numeric %}
    , m.mean_{{ loop.index }}
    , CAST(c.{{ column | ident }} AS DOUBLE) - m.mean_{{ loop.index }} AS u_{{ loop.index }}
  {% endfor %}
  FROM {{ cells | ident }} AS c, centre AS m
)
SELECT
  0 AS nothing
{% for column in numeric %}
  , max(mean_{{ loop.index }}) AS mean_{{ loop.index }}
{% endfor %}
{% for first, second in pairs %}
  , sum(n * u_{{ first }} * u_{{ second }})
    / nullif(sum(n) FILTER (WHERE u_{{ first }} * u_{{ second }} IS NOT NULL) - 1, 0) AS covariance_{{ first }}_{{ second }}
{% endfor %}
FROM centred
