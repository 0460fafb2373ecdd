-- title: The classes that persons were in, in one earlier release
-- source: sqlmicro
-- reads: memory (release, who, class)
-- returns: who, class
-- params: memory, release
SELECT who, class
FROM "staging"."memory"
WHERE release = 1
