-- title: Whether any of the sampled values may be JSON, and whether any has a character that is not ASCII
-- source: sqlmicro
-- reads: sampled (value)
-- returns: one row: json, other_characters
-- params: sampled
SELECT
  coalesce(bool_or(starts_with(value, '{') OR starts_with(value, '[')), false) AS json,
  coalesce(bool_or(regexp_matches(value, '[^\x00-\x7F]')), false) AS other_characters
FROM {{ sampled | ident }}
