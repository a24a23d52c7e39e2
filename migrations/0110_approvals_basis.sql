-- A digest of the object that a request for approval is about, as it was when the request was made. Null: the request is about no such object.
ALTER TABLE approvals ADD COLUMN basis text;

-- The operator that created this one. Null for people of the provider, for the first operator, and for operators from before this column.
ALTER TABLE operators ADD COLUMN created_by text REFERENCES operators;
