-- title: The classes that persons were in, in this release and in others of the same people
-- source: sqlmicro; 0 is the release that is about to be published
-- reads: classes, memory (release, who, class, value)
-- returns: release, who, class, value
-- params: classes, memory, releases (their numbers)
SELECT 0 AS release, who, class, value FROM "staging"."classes"
UNION ALL
SELECT release, who, class, value FROM "staging"."memory" WHERE list_contains([1, 3], release)
