-- title: How often the rarest of some combinations of values occurs
-- source: Samarati & Sweeney (1998): a combination that occurs once makes k 1, whatever the others do
-- reads: relation
-- returns: one row: rarest (NULL for a table without records)
-- params: relation, columns, most (records whose combination is looked at)
WITH looked_at AS (
  SELECT DISTINCT {{ columns | idents }}
  FROM (
    SELECT {{ columns | idents }}
    FROM {{ relation | ident }}
    LIMIT {{ most }})
)
SELECT min(records) AS rarest
FROM (
  SELECT count(*) AS records
  FROM {{ relation | ident }} AS r
  JOIN looked_at AS l
    ON {{ columns | same("r", "l") }}
  GROUP BY {{ columns | listed("l.{}") }})
