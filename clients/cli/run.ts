import type { Command } from 'commander'
import { RUN_COMMANDS } from './registry.ts'
import { addRunGoal } from './run-goal.ts'
import { addRunGraph } from './run-graph.ts'
import { addRunStart } from './run-start.ts'
import type { Session } from './session.ts'

/** `sluice run ..`; all but `start` and `graph` are also there without `run`, which the help does not repeat. */
export function addRun(parent: Command, session: Session): void {
  const run = parent.command('run').description('start, watch, decide and stop runs')
  addRunStart(run, session)
  // Not without `run`: `sluice graph` draws a file, `sluice goal` works on files.
  addRunGraph(run, session)
  addRunGoal(run, session)
  for (const add of RUN_COMMANDS) {
    add(run, session)
    add(parent, session, { hidden: true })
  }
}
