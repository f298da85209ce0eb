import type { Command } from 'commander'
import { addArtifact } from './run-artifact.ts'
import { addDecisions } from './run-decisions.ts'
import { addEvents } from './run-events.ts'
import { addRunGraph } from './run-graph.ts'
import { addList } from './run-list.ts'
import { addOutput } from './run-output.ts'
import { addRunStart } from './run-start.ts'
import { addStatus } from './run-status.ts'
import { addStop } from './run-stop.ts'
import { addWatch } from './run-watch.ts'
import type { Session } from './session.ts'

/** `sluice run ..`; all but `start` and `graph` are also there without `run`, which the help does not repeat. */
export function addRun(parent: Command, session: Session): void {
  const run = parent.command('run').description('start, watch, decide and stop runs')
  addRunStart(run, session)
  // Not without `run`: `sluice graph` draws a file.
  addRunGraph(run, session)
  for (const add of [addList, addStatus, addOutput, addArtifact, addWatch, addEvents, addDecisions, addStop]) {
    add(run, session)
    add(parent, session, { hidden: true })
  }
}
