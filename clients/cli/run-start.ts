import { join } from 'node:path'
import type { Command } from 'commander'
import * as z from 'zod'
import type { Json } from '../../shared/canonical.ts'
import { callApi, chooseTarget, type Target } from './api.ts'
import { chooseDocument } from './choose-document.ts'
import { readFile } from './read-file.ts'
import { usage } from './refused.ts'
import { runInputs } from './run-inputs.ts'
import type { Session } from './session.ts'
import { type StartHow, startAndWatch, startOnly } from './start-run.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { withPlace } from './with-place.ts'

interface RunStartOptions extends TargetOptions {
  readonly example?: string
  readonly input: readonly string[]
  readonly contextJson?: string
  readonly watch?: true
  readonly yes?: true
}

export function addRunStart(run: Command, session: Session): void {
  withTarget(run.command('start').description('start a run; with no server there, run it to its end right here'))
    .argument('[file-or-name]', 'a DAG file, or a document of the server by name')
    .option('--example <name>', 'a document shipped with the package, for example basic')
    .option('--input <key=value>', 'a run input; repeat it', (pair, pairs: string[]) => [...pairs, pair], [])
    .option('--context-json <file>', 'free values from a JSON file with one object')
    .option('--watch', 'follow it to its end')
    .option('--yes', 'approve what it asks, without a person; follows it too')
    .action((given: string | undefined, options: RunStartOptions) => runStart(session, given, options))
}

async function runStart(session: Session, given: string | undefined, options: RunStartOptions): Promise<void> {
  const { body, declared } = chooseDocument(given, options.example)
  const values = runInputs({
    pairs: options.input,
    context: readContext(options.contextJson),
    ...(declared !== undefined && { declared }),
  })
  const target = chooseTarget(session, options.url)
  const request = { ...body, ...values }
  const how = { request, json: options.json === true, yes: options.yes === true }
  if (!target.named && !(await answers(target))) await runInside(session, how)
  else if (options.watch === true || how.yes) process.exitCode = (await startAndWatch(session, target, how)).exitCode
  else await startOnly(session, target, how)
}

/**
 * No server was there and none was named: the place runs inside this command, on a port of its own, until the run
 * has ended. Runs and objects stay in the data folder; `sluice start` there goes on with whatever is left.
 */
async function runInside(session: Session, how: StartHow): Promise<void> {
  await withPlace({ port: 0 }, async ({ target, dataDir, signal }) => {
    const ended = await startAndWatch(session, target, { ...how, signal, artifactsDir: join(dataDir, 'artifacts') })
    process.exitCode = ended.exitCode
  })
}

function readContext(path: string | undefined): Readonly<Record<string, Json>> {
  if (path === undefined) return {}
  const parsed = ContextSchema.safeParse(readJson(readFile(path, 'context file'), path))
  if (parsed.success) return parsed.data
  throw usage(`Cannot use context file "${path}": it must hold one JSON object.`)
}

/** JSON.parse makes JSON values only. */
const ContextSchema = z.record(
  z.string(),
  z.custom<Json>(() => true),
)

function readJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw usage(`Cannot read context file "${path}" as JSON: ${error instanceof Error ? error.message : error}.`)
  }
}

/** Whether a Sluice server is there; whatever else may listen on the port is none. */
async function answers(target: Target): Promise<boolean> {
  const health = z.looseObject({ status: z.literal('ok') })
  const request = { path: '/api/health', signal: AbortSignal.timeout(2_000) }
  return await callApi(target, health, request).then(
    () => true,
    () => false,
  )
}
