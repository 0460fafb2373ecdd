-- title: What a run knew every record by
-- source: sqlmicro: the hash of load/typed.sql
-- reads: relation (typed)
-- returns: record, in the order of the table
-- params: relation
SELECT record
FROM "staging"."typed"
