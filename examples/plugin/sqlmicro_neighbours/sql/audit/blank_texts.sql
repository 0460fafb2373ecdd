-- title: Share of blank texts
-- source: an example
-- reads: relation, the release
-- returns: blank, how many values are texts of blanks alone; records
-- params: relation, column
SELECT count(*) FILTER (WHERE trim(CAST({{ column | ident }} AS VARCHAR)) = '') AS blank, count(*) AS records
FROM {{ relation | ident }}
