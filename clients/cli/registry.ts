import type { Command, CommandOptions } from 'commander'
import { addArtifact } from './run-artifact.ts'
import { addCost } from './run-cost.ts'
import { addDecisions } from './run-decisions.ts'
import { addDiff } from './run-diff.ts'
import { addEvents } from './run-events.ts'
import { addExport } from './run-export.ts'
import { addList } from './run-list.ts'
import { addOutput } from './run-output.ts'
import { addPivot } from './run-pivot.ts'
import { addRecord } from './run-record.ts'
import { addRelease } from './run-release.ts'
import { addRetry } from './run-retry.ts'
import { addStatus } from './run-status.ts'
import { addStop } from './run-stop.ts'
import { addVerify } from './run-verify.ts'
import { addWatch } from './run-watch.ts'
import type { Session } from './session.ts'

type AddCommand = (parent: Command, session: Session, options?: CommandOptions) => void

/** The commands of `sluice run` that are also there without `run`, in the order of the help: a new one is a line. */
export const RUN_COMMANDS: readonly AddCommand[] = [
  addList,
  addStatus,
  addOutput,
  addArtifact,
  addWatch,
  addEvents,
  addDecisions,
  addStop,
  addRetry,
  addPivot,
  addDiff,
  addExport,
  addRelease,
  addVerify,
  addRecord,
  addCost,
]
