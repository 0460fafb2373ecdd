-- title: The records of a relation as they are
-- source: sqlmicro
-- reads: relation
-- returns: its columns
-- params: relation
SELECT *
FROM {{ relation | ident }}
