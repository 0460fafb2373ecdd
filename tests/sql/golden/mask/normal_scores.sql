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
    , CASE WHEN "x" IS NOT NULL THEN (row_number() OVER (
        ORDER BY "x" NULLS LAST,
          "draw_1", row_id) - 0.5e0)
      / count("x") OVER () END AS u_1
    , CASE WHEN "net ""income""" IS NOT NULL THEN (row_number() OVER (
        ORDER BY "net ""income""" NULLS LAST,
          "draw_2", row_id) - 0.5e0)
      / count("net ""income""") OVER () END AS u_2
  FROM "staging"."drawn"
),
tails AS (
  SELECT
    *
    , sqrt(-2e0 * ln(CASE WHEN u_1 < 0.5e0 THEN u_1 ELSE 1 - u_1 END))
      AS low_1
    , (u_1 - 0.5e0) ** 2 AS width_1
    , sqrt(-2e0 * ln(CASE WHEN u_2 < 0.5e0 THEN u_2 ELSE 1 - u_2 END))
      AS low_2
    , (u_2 - 0.5e0) ** 2 AS width_2
  FROM ranked
)
SELECT
  row_id,
  record
  , CASE WHEN u_1 BETWEEN 0.02425e0 AND 0.97575e0 THEN (u_1 - 0.5e0)
      * (((((-3.969683028665376e1 * width_1 + 2.209460984245205e2) * width_1
      - 2.759285104469687e2) * width_1 + 1.383577518672690e2) * width_1
      - 3.066479806614716e1) * width_1 + 2.506628277459239e0)
      / (((((-5.447609879822406e1 * width_1 + 1.615858368580409e2) * width_1
      - 1.556989798598866e2) * width_1 + 6.680131188771972e1) * width_1
      - 1.328068155288572e1) * width_1 + 1)
    ELSE sign(0.5e0 - u_1)
      * (((((-7.784894002430293e-3 * low_1 - 3.223964580411365e-1) * low_1
      - 2.400758277161838e0) * low_1 - 2.549732539343734e0) * low_1
      + 4.374664141464968e0) * low_1 + 2.938163982698783e0)
      / ((((7.784695709041462e-3 * low_1 + 3.224671290700398e-1) * low_1
      + 2.445134137142996e0) * low_1 + 3.754408661907416e0) * low_1 + 1)
    END AS "x"
  , CASE WHEN u_2 BETWEEN 0.02425e0 AND 0.97575e0 THEN (u_2 - 0.5e0)
      * (((((-3.969683028665376e1 * width_2 + 2.209460984245205e2) * width_2
      - 2.759285104469687e2) * width_2 + 1.383577518672690e2) * width_2
      - 3.066479806614716e1) * width_2 + 2.506628277459239e0)
      / (((((-5.447609879822406e1 * width_2 + 1.615858368580409e2) * width_2
      - 1.556989798598866e2) * width_2 + 6.680131188771972e1) * width_2
      - 1.328068155288572e1) * width_2 + 1)
    ELSE sign(0.5e0 - u_2)
      * (((((-7.784894002430293e-3 * low_2 - 3.223964580411365e-1) * low_2
      - 2.400758277161838e0) * low_2 - 2.549732539343734e0) * low_2
      + 4.374664141464968e0) * low_2 + 2.938163982698783e0)
      / ((((7.784695709041462e-3 * low_2 + 3.224671290700398e-1) * low_2
      + 2.445134137142996e0) * low_2 + 3.754408661907416e0) * low_2 + 1)
    END AS "net ""income"""
FROM tails
