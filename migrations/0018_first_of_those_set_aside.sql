-- The age of the queue is that of its oldest letter, and the first that a webhook's lane has set aside is found without reading the
-- others: a partner that is away for a day leaves millions. Only letters that failed once are in this index. It is made on yet
-- another expression that is webhook_no (see 0011), so that the steps of the engine keep to theirs.
CREATE INDEX deliveries_set_aside_in_order ON deliveries ((least(webhook_no, 2147483647)), sequence) WHERE retry_at IS NOT NULL;
