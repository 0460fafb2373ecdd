-- title: The normal score of every value: the normal quantile of its rank
-- source: Sullivan (1989). The score is that of (rank - 1/2) / n; equal values share their ranks at random, by the
--   draws, so that a column with few values has as many scores as records. Normal quantile: Acklam (2003), relative
--   error 1.2e-9
-- reads: drawn (with hash_1)
-- returns: row_id, record (the hash of its values, for further draws), the columns; no score where there is no value
-- params: drawn, terms (column, draw)
WITH ranked AS (
  SELECT
    row_id,
    hash_1 AS record
  {% for column, draw in terms %}
    , CASE WHEN {{ column | ident }} IS NOT NULL THEN (row_number() OVER (
        ORDER BY {{ column | ident }} NULLS LAST,
          {{ draw | ident }}, row_id) - 0.5e0)
      / count({{ column | ident }}) OVER () END AS u_{{ loop.index }}
  {% endfor %}
  FROM {{ drawn | ident }}
),
tails AS (
  SELECT
    *
  {% for column, draw in terms %}
    , sqrt(-2e0 * ln(CASE WHEN u_{{ loop.index }} < 0.5e0 THEN u_{{ loop.index }} ELSE 1 - u_{{ loop.index }} END))
      AS low_{{ loop.index }}
    , (u_{{ loop.index }} - 0.5e0) ** 2 AS width_{{ loop.index }}
  {% endfor %}
  FROM ranked
)
SELECT
  row_id,
  record
{% for column, draw in terms %}
  , CASE WHEN u_{{ loop.index }} BETWEEN 0.02425e0 AND 0.97575e0 THEN (u_{{ loop.index }} - 0.5e0)
      * (((((-3.969683028665376e1 * width_{{ loop.index }} + 2.209460984245205e2) * width_{{ loop.index }}
      - 2.759285104469687e2) * width_{{ loop.index }} + 1.383577518672690e2) * width_{{ loop.index }}
      - 3.066479806614716e1) * width_{{ loop.index }} + 2.506628277459239e0)
      / (((((-5.447609879822406e1 * width_{{ loop.index }} + 1.615858368580409e2) * width_{{ loop.index }}
      - 1.556989798598866e2) * width_{{ loop.index }} + 6.680131188771972e1) * width_{{ loop.index }}
      - 1.328068155288572e1) * width_{{ loop.index }} + 1)
    ELSE sign(0.5e0 - u_{{ loop.index }})
      * (((((-7.784894002430293e-3 * low_{{ loop.index }} - 3.223964580411365e-1) * low_{{ loop.index }}
      - 2.400758277161838e0) * low_{{ loop.index }} - 2.549732539343734e0) * low_{{ loop.index }}
      + 4.374664141464968e0) * low_{{ loop.index }} + 2.938163982698783e0)
      / ((((7.784695709041462e-3 * low_{{ loop.index }} + 3.224671290700398e-1) * low_{{ loop.index }}
      + 2.445134137142996e0) * low_{{ loop.index }} + 3.754408661907416e0) * low_{{ loop.index }} + 1)
    END AS {{ column | ident }}
{% endfor %}
FROM tails
