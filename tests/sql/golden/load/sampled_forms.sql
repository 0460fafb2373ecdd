-- title: Whether any of the sampled values may be JSON, whether any has a character that is not ASCII, a letter that is, or a
--   digit, which other characters they have, and how long the longest is
-- source: sqlmicro
-- reads: sampled (value)
-- returns: one row: json, other_characters, letters, digits, marks (of the values, one after the other), longest
-- params: sampled
SELECT
  coalesce(bool_or(starts_with(value, '{') OR starts_with(value, '[')), false) AS json,
  coalesce(bool_or(regexp_matches(value, '[^\x00-\x7F]')), false) AS other_characters,
  coalesce(bool_or(regexp_matches(value, '[A-Za-z]')), false) AS letters,
  coalesce(bool_or(regexp_matches(value, '[0-9]')), false) AS digits,
  coalesce(string_agg(DISTINCT regexp_replace(value, '[0-9A-Za-z]+', '', 'g'), ''), '') AS marks,
  coalesce(max(length(value)), 0) AS longest
FROM "staging"."sampled"
