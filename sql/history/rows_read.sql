-- title: The rows of a release whose records were read
-- source: sqlmicro; a night of a series makes the others of what it remembers, and numbers them behind these
-- reads: relation
-- returns: its columns
-- params: relation, records (how many were read)
SELECT *
FROM {{ relation | ident }}
WHERE row_id < {{ records | lit }}
