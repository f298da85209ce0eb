import { basename, dirname, join } from 'node:path'
import { dump } from 'js-yaml'
import * as z from 'zod'
import { RUN_DATA_ROUTES } from '../../../shared/api/run-data-routes.ts'
import { RECORD_RUN } from '../../../shared/api/verify-routes.ts'
import { PLACE_PROVIDERS } from '../../../shared/providers/provider.ts'
import type { Recording } from '../../../shared/providers/recording.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { isRunEnd } from '../../../shared/runs/event-types.ts'
import type { Json } from '../../../shared/text/json.ts'
import { redactSecretsIn } from '../../../shared/text/redact.ts'
import { callApi, chooseTarget, type Target } from '../server/api.ts'
import { fetchEvents, fetchRun, type RunAnswer } from '../server/fetch-run.ts'
import { writeNewFile } from '../terminal/files.ts'
import type { TargetOptions } from '../terminal/options.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText } from '../terminal/text.ts'

export interface RecordCaseOptions extends TargetOptions {
  readonly output?: string
  readonly force?: true
}

/** Outputs longer than this are no lines of a case: what they must hold is said by hand. */
const LONGEST = 2_000

/** `sluice test record RUN`: what it was given, what its models answered, what people decided, and what came of it. */
export async function recordCase(session: Session, runId: string, options: RecordCaseOptions): Promise<void> {
  const target = chooseTarget(session, options.url)
  const run = await fetchRun(target, runId)
  const { dag_name, run_id } = run.run
  const file = options.output ?? join('tests', `${dag_name}-${run_id.slice(-6)}.yaml`)
  const events = await fetchEvents(target, run_id)
  const end = events.find(({ type }) => isRunEnd(type))
  if (end === undefined) throw goesOn(run_id, run.run.state)
  const recording = await fetchRecording(target, run_id)
  const recorded = modelsOf(recording)
  const path = `recordings/${basename(file).replace(/\.ya?ml$/, '')}.json`
  const models = Object.fromEntries(recorded.map((name) => [name, { recording: path }]))
  const outputs = await fetchOutputs(target, run)
  const one = {
    name: `as in ${run_id}`,
    inputs: await fetchInputs(target, run),
    ...(recorded.length === 0 ? {} : { models }),
    ...stepsOf(run, outputs),
    ...decisionsOf(run, events),
    expect: expectedOf(run, events, outputs),
  }
  const given = redactSecretsIn({ dag: dag_name, cases: [one] })
  const text = dump(given, { lineWidth: 120, noRefs: true })
  if (recorded.length > 0) {
    const kept = join(dirname(file), path)
    writeNewFile(kept, `${jsonText(recording, 2)}\n`, options.force)
  }
  writeNewFile(file, `${HEAD}${text}`, options.force)
  tell(session, options, { file, recording: recorded.length > 0 ? path : undefined, left_out: leftOut(run) })
}

const HEAD = '# Made by `sluice test record`. What must hold is yours to say: take out of `expect` what may change.\n'

interface Written {
  readonly file: string
  readonly recording: string | undefined
  readonly left_out: readonly string[]
}

function tell(session: Session, { json }: RecordCaseOptions, { file, recording, left_out }: Written): void {
  if (json === true) {
    session.say(jsonText({ file, ...(recording && { recording }), left_out }, 2))
    return
  }
  const also = recording === undefined ? '' : `, and what models answered in ${join(dirname(file), recording)}`
  session.say(`Wrote ${file}${also}`)
  for (const line of left_out) session.warn(line)
  session.say(`Play it: ${session.settings.command} test ${file}`)
}

function goesOn(runId: string, state: string): Refused {
  const detail = `Cannot make a case of run ${runId}: it is ${state}. Wait until it has ended, or stop it.`
  return new Refused({ code: 'run_not_ended', detail })
}

async function fetchRecording(target: Target, run_id: string): Promise<Recording> {
  const { recording } = await callApi(target, RECORD_RUN.answer, (api) =>
    api.GET('/api/dag/runs/{run_id}/recording', { params: { path: { run_id } } }),
  )
  if (recording !== undefined) return recording
  const detail = 'The recording is larger than one answer carries: no case can be made of it.'
  throw new Refused({ code: 'recording_too_large', detail })
}

/** Tools of the place answer in a case as they did. */
function modelsOf({ calls }: Recording): readonly string[] {
  const names = new Set(calls.map(({ provider }) => provider))
  return [...names].filter((name) => !PLACE_PROVIDERS.some((own) => own === name))
}

type Outputs = Readonly<Record<string, Readonly<Record<string, Json>>>>

const OutputsSchema = z.looseObject({ outputs: RUN_DATA_ROUTES['get-outputs'].answer.shape.outputs })

async function fetchOutputs(target: Target, { run, blocks }: RunAnswer): Promise<Outputs> {
  const completed = Object.entries(blocks).filter(([, { state }]) => state === 'completed')
  const read = completed.map(async ([block_id]) => {
    const path = { run_id: run.run_id, block_id }
    const { outputs } = await callApi(target, OutputsSchema, (api) =>
      api.GET('/api/dag/runs/{run_id}/outputs/{block_id}', { params: { path } }),
    ).catch(nothingPublished)
    return [block_id, outputs] as const
  })
  return Object.fromEntries(await Promise.all(read))
}

function nothingPublished(error: unknown): { readonly outputs: Readonly<Record<string, Json>> } {
  if (error instanceof Refused && error.reason.code === 'no_outputs') return { outputs: {} }
  throw error
}

const DocumentSchema = z.looseObject({
  inputs: z.record(z.string(), z.unknown()).default({}),
  blocks: z.array(
    z.looseObject({
      id: z.string(),
      handler: z.string().optional(),
      outputs: z.record(z.string(), z.unknown()).default({}),
    }),
  ),
})

/** The run inputs it had, those its document fills in too. */
async function fetchInputs(target: Target, { run, dag }: RunAnswer): Promise<Readonly<Record<string, Json>>> {
  const { values } = await callApi(target, RUN_DATA_ROUTES['get-context'].answer, (api) =>
    api.GET('/api/dag/runs/{run_id}/context', { params: { path: { run_id: run.run_id } } }),
  )
  const declared = Object.keys(DocumentSchema.parse(dag).inputs)
  return Object.fromEntries(Object.entries(values).filter(([key]) => declared.includes(key)))
}

/** What code of the project gave is scripted: the case is about the document. */
function stepsOf({ dag }: RunAnswer, outputs: Outputs) {
  const steps = DocumentSchema.parse(dag).blocks.filter(({ handler }) => handler !== undefined && /^\.\//.test(handler))
  const scripted = steps.flatMap(({ id }) =>
    outputs[id] === undefined ? [] : [[id, [{ outputs: outputs[id] }]] as const],
  )
  return scripted.length === 0 ? {} : { steps: Object.fromEntries(scripted) }
}

function decisionsOf({ approvals, run }: RunAnswer, events: readonly RunEvent[]) {
  const decided = events.flatMap((event) => (event.type === 'approval:decided' ? [event] : []))
  const starter = events.flatMap((event) => (event.type === 'run:started' ? [event.data.starter] : []))[0]
  const decisions = decided.map(({ block_id, data }) => {
    const by = `${data.by.kind}:${data.by.id}`
    const said = approvals.find(({ approval_id }) => approval_id === data.approval_id)
    const feedback = FeedbackSchema.safeParse(said).data?.feedback
    return {
      block: block_id ?? run.dag_name,
      decision: data.decision,
      ...(by === starter ? {} : { by: data.by.id }),
      ...(feedback === undefined ? {} : { feedback }),
    }
  })
  return decisions.length === 0 ? {} : { decisions }
}

const FeedbackSchema = z.looseObject({ feedback: z.string().optional() })

function expectedOf({ run, blocks }: RunAnswer, events: readonly RunEvent[], outputs: Outputs) {
  const verdicts = events.flatMap((event) =>
    event.type === 'block:gate' && event.item === undefined
      ? [[`${event.block_id}.${event.data.gate}`, event.data.status] as const]
      : [],
  )
  const states = Object.entries(blocks).map(([id, { state }]) => [id, state] as const)
  const values = Object.entries(outputs).flatMap(([id, ports]) =>
    Object.entries(ports).flatMap(([port, value]) =>
      isTold(value) ? [[`${id}.${port}`, asExpected(value)] as const] : [],
    ),
  )
  return {
    status: run.state,
    blocks: Object.fromEntries(states),
    ...(verdicts.length === 0 ? {} : { gates: Object.fromEntries(verdicts) }),
    ...(values.length === 0 ? {} : { outputs: Object.fromEntries(values) }),
  }
}

/** Refs of files are of the run, and long texts are said better by what they hold. */
function isTold(value: Json): boolean {
  const text = JSON.stringify(value)
  return text.length <= LONGEST && !text.includes('objstore://')
}

/** A mapping would be read as what is asked of the value. */
function asExpected(value: Json): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { equals: value } : value
}

function leftOut({ blocks }: RunAnswer): readonly string[] {
  const children = Object.entries(blocks).filter(([, { child }]) => child !== undefined)
  return children.map(
    ([id]) =>
      `Left out: what models answered in the child run of block "${id}"; add scripts to models, or expect less of it.`,
  )
}
