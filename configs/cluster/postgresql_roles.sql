-- Two roles for the log of a team: who reads it, and who writes to it. Run once by the owner of the log, after a command
-- has created its tables:
--   psql postgresql://OWNER@HOST/DATABASE -f configs/cluster/postgresql_roles.sql
--   psql postgresql://OWNER@HOST/DATABASE -c 'GRANT hindsight_writer TO alice; GRANT hindsight_reader TO bob'
-- A log in a schema of its own: add -v schema=NAME. Running it again changes nothing.
\if :{?schema}
\else
\set schema public
\endif
SELECT format('CREATE ROLE %I', name) FROM (VALUES ('hindsight_reader'), ('hindsight_writer')) AS wanted(name)
 WHERE NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = name) \gexec
GRANT hindsight_reader TO hindsight_writer;
GRANT USAGE ON SCHEMA :"schema" TO hindsight_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA :"schema" TO hindsight_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA :"schema" GRANT SELECT ON TABLES TO hindsight_reader;
-- What was evaluated is never changed or deleted: writers insert. They update what says how far something is.
GRANT INSERT ON ALL TABLES IN SCHEMA :"schema" TO hindsight_writer;
REVOKE INSERT ON :"schema".schema_migrations FROM hindsight_writer;
GRANT UPDATE ON :"schema".runs, :"schema".spaces, :"schema".workloads, :"schema".proposals, :"schema".checkpoints,
  :"schema".tasks TO hindsight_writer;
GRANT DELETE ON :"schema".workload_context TO hindsight_writer;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA :"schema" TO hindsight_writer;
