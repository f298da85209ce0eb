import { type Command, type CommandOptions, Option } from 'commander'
import { LIMITS } from '../../../shared/limits.ts'
import { RunGraphSchema } from '../../../shared/plan/graph-schema.ts'
import { addDecisionCommands } from '../approvals/decision-commands.ts'
import { callApi, chooseTarget } from '../server/api.ts'
import { type TargetOptions, wholeNumber, withReadingOptionsButJson, withTargetOptions } from '../terminal/options.ts'
import { type GraphOptions, sayGraph, withFormatOption } from '../terminal/print-graph.ts'
import type { Session } from '../terminal/session.ts'
import { addArtifact } from './artifacts.ts'
import { addBulk } from './bulk.ts'
import { addCost } from './cost.ts'
import { addCount } from './count.ts'
import { addDiff } from './diff.ts'
import { addErase } from './erase.ts'
import { addEvents } from './events.ts'
import { addExport } from './export.ts'
import { addRunGoal } from './goal.ts'
import { addList } from './list.ts'
import { addLog } from './log.ts'
import { addNotes } from './notes.ts'
import { addOutput } from './outputs.ts'
import { addPause } from './pause.ts'
import { addRecord } from './record.ts'
import { addPivot, addRetry } from './retry-and-pivot.ts'
import { addSearch } from './search.ts'
import { addWatch } from './start-and-watch.ts'
import type { RunStartOptions } from './start-document.ts'
import { addStatus } from './status.ts'
import { addRelease, addStop } from './stop-and-release.ts'
import { addTranscript } from './transcript.ts'
import { addVerify } from './verify.ts'

/** `sluice run ..`; all but `start` and `graph` are also there without `run`, which the help does not repeat. */
export function addRun(parent: Command, session: Session): void {
  const run = parent.command('run').description('start, watch, decide and stop runs')
  addRunStart(run, session)
  // Not without `run`: `sluice graph` draws a file, `sluice goal` works on files.
  addRunGraph(run, session)
  addRunGoal(run, session)
  addBulk(run, session)
  for (const add of RUN_COMMANDS) {
    add(run, session)
    add(parent, session, { hidden: true })
  }
}

type AddCommand = (parent: Command, session: Session, options?: CommandOptions) => void

/** The commands of `sluice run` that are also there without `run`, in the order of the help: a new one is a line. */
const RUN_COMMANDS: readonly AddCommand[] = [
  addList,
  addSearch,
  addCount,
  addStatus,
  addOutput,
  addArtifact,
  addWatch,
  addEvents,
  addLog,
  addTranscript,
  addDecisionCommands,
  addStop,
  addPause,
  addRetry,
  addPivot,
  addDiff,
  addExport,
  addRelease,
  addNotes,
  addErase,
  addVerify,
  addRecord,
  addCost,
]

function addRunStart(run: Command, session: Session): void {
  withTargetOptions(run.command('start').description('start a run; with no server there, run it to its end right here'))
    .argument('[file-or-name]', 'a DAG file, or a document of the server by name')
    .option('--example <name>', 'a document shipped with the package, for example basic')
    .option('--input <key=value>', 'a run input; repeat it', (pair, pairs: string[] = []) => [...pairs, pair])
    .option('--label <key=value>', 'what the run is found by; repeat it', (pair, pairs: string[] = []) => [
      ...pairs,
      pair,
    ])
    .option('--subject <id>', 'whose data the run holds; repeat it', (id, ids: string[] = []) => [...ids, id])
    .option('--context-json <file>', 'free values from a JSON file with one object')
    .option(
      '--goal-contract <file>',
      'what the run is to reach (YAML or JSON), in place of the contract of its document',
    )
    .option('--continue <run>', 'go on from a run that has ended: its context and artifacts are seen')
    .addOption(
      new Option('--max-parallel <n>', 'blocks at once, 0 = as many as the place allows').argParser(
        wholeNumber(0, 1_000),
      ),
    )
    .option('--fail-fast', 'end the run at the first failed block')
    .addOption(
      new Option('--deadline-sec <n>', 'cancel it after that long; waiting for people does not count').argParser(
        wholeNumber(1, 31_536_000),
      ),
    )
    .addOption(
      new Option('--priority <seconds>', 'stand in queues as if started that much earlier; below 0: later').argParser(
        wholeNumber(-LIMITS.priority_sec, LIMITS.priority_sec),
      ),
    )
    .option('--watch', 'follow it to its end')
    .option('--quiet', 'follow it to its end, and print its result alone')
    .option('--yes', 'approve what it asks, without a person; follows it too')
    .action(async (given: string | undefined, options: RunStartOptions) => {
      const { startDocument } = await import('./start-document.ts')
      await startDocument(session, given, options)
    })
}

/** Without `run` the name is that of the command that draws a file, so this one is there only as `run graph`. */
function addRunGraph(parent: Command, session: Session, hidden?: CommandOptions): void {
  const command = parent.command('graph', hidden).description('draw a run with the state of each block')
  withFormatOption(withReadingOptionsButJson(command))
    .argument('<run-id>')
    .action(async (runId: string, options: GraphOptions & TargetOptions) => {
      const target = chooseTarget(session, options.url)
      const graph = await callApi(target, RunGraphSchema, (api) =>
        api.GET('/api/dag/runs/{run_id}/graph', { params: { path: { run_id: runId } } }),
      )
      await sayGraph(session, graph, options)
    })
}
