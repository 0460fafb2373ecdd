-- title: Whether any of the sampled values may be JSON, and whether any has a character that is not ASCII, a letter that is, or
--   a character that is neither a letter nor a digit of ASCII
-- source: sqlmicro
-- reads: sampled (value)
-- returns: one row: json, other_characters, letters, marks
-- params: sampled
SELECT
  coalesce(bool_or(starts_with(value, '{') OR starts_with(value, '[')), false) AS json,
  coalesce(bool_or(regexp_matches(value, '[^\x00-\x7F]')), false) AS other_characters,
  coalesce(bool_or(regexp_matches(value, '[A-Za-z]')), false) AS letters,
  coalesce(bool_or(regexp_matches(value, '[^0-9A-Za-z]')), false) AS marks
FROM {{ sampled | ident }}
