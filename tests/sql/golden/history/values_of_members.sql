-- title: The sensitive values of the classes of this release and of others of the same people
-- source: sqlmicro; 0 is the release that is about to be published
-- reads: class_values, remembered (release, column_name, class, value)
-- returns: release, column_name, class, value
-- params: class_values, remembered, releases (their numbers)
SELECT 0 AS release, column_name, class, value FROM "staging"."class_values"
UNION ALL
SELECT release, column_name, class, value FROM "staging"."remembered" WHERE list_contains([2], release)
