-- title: The bin of every value as text: [low, high), < high, >= low
-- source: sqlmicro
-- reads: bins
-- returns: value, recoded
-- params: bins
SELECT
  value,
  CASE
    WHEN value IS NULL THEN NULL
    WHEN low IS NULL AND high IS NULL THEN '*'
    WHEN low IS NULL THEN '< ' || regexp_replace(CAST(high AS VARCHAR), '\.0$', '')
    WHEN high IS NULL THEN '>= ' || regexp_replace(CAST(low AS VARCHAR), '\.0$', '')
    ELSE '[' || regexp_replace(CAST(low AS VARCHAR), '\.0$', '') || ', '
      || regexp_replace(CAST(high AS VARCHAR), '\.0$', '') || ')'
  END AS recoded
FROM {{ bins | ident }}
