"""Children that launch: one that is started again whatever a kernel did to it, and all those of a climb or grade."""
