#!/bin/bash
# A sweep as a Slurm job array: one machine a share of the cells. Submit it and, after it, the merge:
#   job=$(sbatch --parsable --array=1-4 slurm.sh sweep.json parts)
#   sbatch --dependency=afterany:$job --wrap 'pterun report parts/part-*.json --json sweep-report.json'
# usage: slurm.sh CONFIG.json OUT     PTERUN=path of the program (default: pterun)
#SBATCH --exclusive
#SBATCH --time=01:00:00
set -eu
config=$1
out=$2
k=$SLURM_ARRAY_TASK_ID
n=$SLURM_ARRAY_TASK_COUNT
mkdir -p "$out"
# A task that was requeued goes on from its finished processes.
exec "${PTERUN:-pterun}" bench --config "$config" --shard "$k/$n" --resume "$out/part-$k.jsonl" --json "$out/part-$k.json"
