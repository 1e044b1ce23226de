"""Runs a command of Warpladder's with workers that Slurm starts, and has them end with it.

    python slurm.py 20 ladder course autograde transpose --course cuda

starts 20 jobs, runs the command with `--engine dask --scheduler ADDRESS` after it, and cancels what is left of the jobs
when it has ended. Start it on a login node, in the environment that Warpladder is installed in, in a folder that all
nodes see: certificates are put there while it runs.
"""

import os
import subprocess
import sys
from pathlib import Path

from dask_jobqueue import SLURMCluster
from distributed.security import Security

WORKER = {  # a job each; what else can be asked for: https://jobqueue.dask.org
    "cores": 1,
    "memory": "4GB",
    "walltime": "02:00:00",
    "local_directory": "/tmp",  # of the node
    # "queue": "teaching",
    # "account": "cuda-course",
    # On a GPU, one for each job, in a course with c.MarkKernels.device = "pycuda":
    # "job_extra_directives": ["--gres=gpu:1"], "worker_extra_args": ["--resources", "GPU=1"],
}


def main(jobs: int, command: list[str]) -> int:
    """Run the command; returns its exit status."""
    security = Security.temporary()  # who has no certificate of this run's is not talked to
    shared = Path.cwd() / ".dask"
    shared.mkdir(mode=0o700, exist_ok=True)
    with SLURMCluster(
        **WORKER,
        protocol="tls://",
        security=security,
        shared_temp_directory=str(shared),
        log_directory=str(shared),
        scheduler_options={"dashboard": False},
    ) as cluster:
        cluster.scale(jobs=jobs)
        certificates = {
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE": security.tls_ca_file,
            "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT": security.tls_client_cert,
            "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY": security.tls_client_key,
        }
        engine = ["--engine", "dask", "--scheduler", cluster.scheduler_address]
        done = subprocess.run([*command, *engine], env={**os.environ, **certificates}, check=False)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2:]))
