-- title: The bin of every date as text: [low, high), < high, >= low
-- source: sqlmicro
-- reads: bins (in days)
-- returns: value, recoded
-- params: bins
SELECT
  value,
  CASE
    WHEN value IS NULL THEN NULL
    WHEN low IS NULL AND high IS NULL THEN '*'
    WHEN low IS NULL THEN '< ' || CAST(DATE '1970-01-01' + CAST(high AS INTEGER) AS VARCHAR)
    WHEN high IS NULL THEN '>= ' || CAST(DATE '1970-01-01' + CAST(low AS INTEGER) AS VARCHAR)
    ELSE '[' || CAST(DATE '1970-01-01' + CAST(low AS INTEGER) AS VARCHAR) || ', '
      || CAST(DATE '1970-01-01' + CAST(high AS INTEGER) AS VARCHAR) || ')'
  END AS recoded
FROM {{ bins | ident }}
