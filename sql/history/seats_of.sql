-- title: The seats of some persons of a series
-- source: sqlmicro
-- reads: persons (seat)
-- returns: seat
-- params: persons
SELECT seat
FROM {{ persons | ident }}
