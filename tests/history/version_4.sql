-- progress.sqlite as version 4 wrote it, by SQLite's dump. It stays as it is.
PRAGMA application_id = 1463898704;
PRAGMA user_version = 4;
BEGIN TRANSACTION;
CREATE TABLE grade (
            topic TEXT NOT NULL, moment TEXT NOT NULL, file TEXT NOT NULL, digest TEXT NOT NULL,
            verdict TEXT NOT NULL, rung TEXT, PRIMARY KEY (topic, moment, digest));
INSERT INTO "grade" VALUES('transpose','2026-11-04T12:00:00.000000+00:00','mine.cu','0000000000000000000000000000000000000000000000000000000000000000','pass','01_coalesced_writes');
CREATE TABLE outcome (
            session TEXT NOT NULL, item TEXT NOT NULL, moment TEXT NOT NULL, share REAL NOT NULL, rated REAL,
            level TEXT NOT NULL, topics TEXT NOT NULL, format TEXT NOT NULL, seconds REAL NOT NULL,
            PRIMARY KEY (session, item));
INSERT INTO "outcome" VALUES('one','banks/one_word','2026-11-02T12:00:00.000000+00:00',1.0,NULL,'mid','["transpose"]','quiz',10.0);
INSERT INTO "outcome" VALUES('one','banks/padding','2026-11-02T12:01:00.000000+00:00',1.0,NULL,'senior','["transpose"]','quiz',20.0);
INSERT INTO "outcome" VALUES('one','banks/bank_of','2026-11-02T12:02:00.000000+00:00',-0.25,NULL,'mid','["transpose"]','quiz',20.0);
INSERT INTO "outcome" VALUES('two','late_barrier/line','2026-11-03T12:00:00.000000+00:00',-0.25,NULL,'mid','[]','review',90.5);
CREATE TABLE sitting (
            id TEXT PRIMARY KEY, format TEXT NOT NULL, subject TEXT NOT NULL, started TEXT NOT NULL,
            seconds REAL NOT NULL, share REAL NOT NULL, rated REAL);
INSERT INTO "sitting" VALUES('one','quiz','banks','2026-11-02T12:00:00.000000+00:00',50.0,0.458,NULL);
CREATE INDEX outcome_by_moment ON outcome (moment);
COMMIT;
