-- The practice software may send a fraction as the sort position of a submission type: 1.5 stands between 1 and 2.
ALTER TABLE submission_types ALTER COLUMN "order" TYPE double precision;
