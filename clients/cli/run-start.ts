import { type Command, Option } from 'commander'
import { chooseTarget } from './api.ts'
import { type ChosenDocument, chooseDocument } from './choose-document.ts'
import { requestFiles } from './request-files.ts'
import { requireOneVote } from './require-one-vote.ts'
import { doubtfulInputs, runInputs } from './run-inputs.ts'
import { runInside } from './run-inside.ts'
import { isServerThere } from './server-there.ts'
import type { Session } from './session.ts'
import { type StartHow, startAndWatch, startOnly } from './start-run.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { wholeNumber } from './whole-number.ts'

interface RunStartOptions extends TargetOptions {
  readonly example?: string
  readonly input?: readonly string[]
  readonly contextJson?: string
  readonly goalContract?: string
  readonly continue?: string
  readonly maxParallel?: number
  readonly failFast?: true
  readonly deadlineSec?: number
  readonly watch?: true
  readonly yes?: true
}

export function addRunStart(run: Command, session: Session): void {
  withTarget(run.command('start').description('start a run; with no server there, run it to its end right here'))
    .argument('[file-or-name]', 'a DAG file, or a document of the server by name')
    .option('--example <name>', 'a document shipped with the package, for example basic')
    .option('--input <key=value>', 'a run input; repeat it', (pair, pairs: string[] = []) => [...pairs, pair])
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
    .option('--watch', 'follow it to its end')
    .option('--yes', 'approve what it asks, without a person; follows it too')
    .action((given: string | undefined, options: RunStartOptions) => runStart(session, given, options))
}

async function runStart(session: Session, given: string | undefined, options: RunStartOptions): Promise<void> {
  const chosen = chooseDocument(given, options.example)
  const how = { request: requestOf(chosen, options), json: options.json === true, yes: options.yes === true }
  if (how.yes && chosen.dag !== undefined) requireOneVote(chosen.dag, session.settings.command)
  for (const line of chosen.dag === undefined ? [] : doubtfulInputs(options.input ?? [], chosen.dag)) {
    session.warn(line)
  }
  const target = chooseTarget(session, options.url)
  if (!target.named && !(await isServerThere(target))) await runInside(session, chosen, how)
  else if (options.watch === true || how.yes) process.exitCode = (await startAndWatch(session, target, how)).exitCode
  else await startOnly(session, target, how)
}

/** The body of POST /api/dag/run. */
function requestOf({ body, dag }: ChosenDocument, options: RunStartOptions): StartHow['request'] {
  const { input: pairs = [], maxParallel, failFast, deadlineSec, continue: continues } = options
  const { context, ...files } = requestFiles(options)
  const chosen = {
    ...(maxParallel !== undefined && { max_parallel: maxParallel }),
    ...(failFast !== undefined && { fail_fast: failFast }),
    ...(deadlineSec !== undefined && { deadline_sec: deadlineSec }),
  }
  return {
    ...body,
    ...runInputs({ pairs, context, ...(dag !== undefined && { declared: dag.inputs }) }),
    ...files,
    ...(continues !== undefined && { continues }),
    ...(Object.keys(chosen).length > 0 && { options: chosen }),
  }
}
