-- title: All words for a missing value that some columns of text have, as they are written
-- source: sqlmicro
-- reads: relation
-- returns: place (of the column, from 1), words
-- params: relation, columns, word (a regular expression), blanks
SELECT place, list(DISTINCT value ORDER BY value) AS words
FROM (
  SELECT generate_subscripts([{{ columns | listed("r.{name}") }}], 1) AS place, unnest([{{ columns | listed("r.{name}") }}]) AS value
  FROM {{ relation | ident }} AS r)
WHERE regexp_matches(trim(value, {{ blanks | lit }}), {{ word | lit }})
GROUP BY place
