-- The trace that an event came from (W3C Trace Context), where the service was told to trace: its deliveries go on with it. Null otherwise.
ALTER TABLE events ADD COLUMN traceparent text;
