-- What alerts look at once a minute: which practice groups have changes that wait, told by the index alone, and which agreements come to an end.
DROP INDEX changes_pending;
CREATE INDEX changes_pending ON changes (position) INCLUDE (practice_group_id, at) WHERE state = 'pending';
CREATE INDEX agreements_by_end ON agreements (ends_at) WHERE ends_at IS NOT NULL;
