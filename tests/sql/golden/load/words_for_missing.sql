-- title: All words for a missing value that some columns of text have, as they are written
-- source: sqlmicro
-- reads: relation
-- returns: place (of the column, from 1), words
-- params: relation, columns, word (a regular expression), blanks
SELECT place, list(DISTINCT value ORDER BY value) AS words
FROM (
  SELECT generate_subscripts([r."a", r."net ""income""", r."b"], 1) AS place, unnest([r."a", r."net ""income""", r."b"]) AS value
  FROM "staging"."relation" AS r)
WHERE regexp_matches(trim(value, ' '), '^(?:n/a|[?]|-)$')
GROUP BY place
