-- title: Whom a series remembers of those who are not as they were, or sit in no class
-- source: sqlmicro
-- reads: differing (who, the columns)
-- returns: the columns
-- params: differing, columns
SELECT "who", "seat"
FROM "staging"."differing"
WHERE who IS NOT NULL
