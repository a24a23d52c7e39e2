-- An erasure is written down before its first step, and each step adds to it what it found: one that is broken off loses nobody of whom it knows. The same
-- call again goes on with it, and finds it by a hash of the object under a key of the deployment, which goes as soon as nothing is left to erase.
-- `places`: where in the feed its events stood, and until when, as [{position, event, at}]. Who had read them there is asked of the access log last of all.
ALTER TABLE erasures ADD COLUMN object_hash bytea, ADD COLUMN places jsonb NOT NULL DEFAULT '[]';
CREATE UNIQUE INDEX erasures_unfinished ON erasures (practice_group_id, object_hash) WHERE object_hash IS NOT NULL;
