-- title: The classes that persons are in, in the release that is about to be published
-- source: sqlmicro; it is release 0
-- reads: classes
-- returns: release, who, class, value
-- params: classes
SELECT 0 AS release, who, class, value
FROM {{ classes | ident }}
