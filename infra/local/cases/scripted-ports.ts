import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { replay } from '../../../functions/providers/replay.ts'
import type { ModelScript, TestCase } from '../../../shared/cases/case-file.ts'
import type { PlayedCall } from '../../../shared/cases/played-case.ts'
import {
  noAnswer,
  providerAnswer,
  type Script,
  scriptedAnswer,
  scriptedStep,
  scriptedTool,
  seenBy,
} from '../../../shared/cases/scripts.ts'
import { Fault } from '../../../shared/errors.ts'
import {
  type DispatchAnswer,
  type DispatchRequest,
  PLACE_PROVIDERS,
  type Provider,
} from '../../../shared/providers/provider.ts'
import { isRunEnd } from '../../../shared/runs/event-types.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import { type StepOrder, StepOrderSchema, type StepOutcome, type StepStart } from '../../../shared/steps/step-order.ts'
import type { StepCode, Steps } from '../../../shared/steps/steps-port.ts'
import { canonicalJson } from '../../../shared/text/json.ts'
import { listed } from '../../../shared/text/wording.ts'
import type { World } from '../../../shared/world.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What a case scripts; in TypeScript a model may be a function too. */
export interface Scripts extends Pick<TestCase, 'steps' | 'tools'> {
  readonly models?: Readonly<Record<string, ModelScript | Script>> | undefined
  /** Where recordings are named from. */
  readonly folder: string
}

interface Parts {
  readonly scripts: Scripts
  readonly time: VirtualTime
  readonly calls: PlayedCall[]
  readonly problems: string[]
  readonly invoke: (name: string, payload: unknown) => Promise<unknown>
}

/**
 * The ports of a World through which a case reaches nothing outside: models, steps and tools are scripted or refused,
 * requests are refused. What a project's code computes (gates, steps without a script) runs as it is.
 */
export function scriptedPorts(world: World, parts: Parts): Partial<World> {
  const { time } = parts
  return {
    providers: scriptedProviders(world, parts),
    steps: scriptedSteps(world, parts),
    mcp: scriptedTools(world, parts),
    http: { request: async ({ url }) => ({ kind: 'refused', reason: refusedRequest(parts, url) }) },
    shell: { run: (command) => time.working(() => world.shell.run(command)) },
    isolate: { run: (...of) => time.working(() => world.isolate.run(...of)) },
    modules: { gate: (path) => time.working(() => world.modules.gate(path)) },
    live: undefined,
    runs: time.watched(world.runs),
    objects: time.watched(world.objects),
    waits: time.watched(world.waits),
    machine: time.watched(world.machine),
    outbox: time.watched(world.outbox),
    documents: time.watched(world.documents),
  }
}

function refusedRequest({ problems }: Parts, url: string): string {
  const { origin } = new URL(url)
  const reason = `cases are played offline, and ${origin} is outside`
  note(problems, `The document asks ${origin}; a case reaches nothing outside. Script the step or block that asks it.`)
  return reason
}

function note(problems: string[], problem: string): void {
  if (!problems.includes(problem)) problems.push(problem)
}

/** Local tools answer as ever: they are no models. Every other provider is a script, a recording, or asked in vain. */
function scriptedProviders(world: World, parts: Parts): World['providers'] {
  const models = Object.keys(parts.scripts.models ?? {}).map((key) => key.split('/')[0] ?? key)
  const names = [...new Set([...world.providers.names(), ...models])]
  const recorded = new Map<string, Provider>()
  const adapters = new Map(names.map((name) => [name, answerer(world, parts, recorded, name)]))
  return { names: () => names, get: (name) => adapters.get(name) }
}

function answerer(world: World, parts: Parts, recorded: Map<string, Provider>, name: string): Provider {
  const { scripts, time, calls, problems } = parts
  const place = isPlaceProvider(name) ? world.providers.get(name) : undefined
  return {
    async dispatch(request) {
      const { model } = request
      const script = scripts.models?.[`${name}/${model}`] ?? scripts.models?.[name]
      if (script === undefined && place !== undefined) return time.working(() => place.dispatch(request))
      const seen = seenBy(request)
      calls.push({ kind: 'model', name, model, seen })
      if (!isRecording(script)) return sayScript(parts, name, script, request)
      const provider = recorded.get(script.recording) ?? replay(name, script.recording, readFrom(scripts.folder))
      recorded.set(script.recording, provider)
      return time
        .working(() => provider.dispatch(request))
        .catch((error: unknown) => {
          note(problems, error instanceof Error ? error.message : String(error))
          throw error
        })
    },
  }
}

async function sayScript(
  { time, problems }: Parts,
  name: string,
  script: Script | undefined,
  request: DispatchRequest,
): Promise<DispatchAnswer> {
  const seen = seenBy(request)
  const said = script === undefined ? undefined : scriptedAnswer(script, seen)
  if (said === undefined) {
    const fault = noAnswer(name, seen)
    note(problems, fault.message)
    throw fault
  }
  if (said.takes !== undefined) await time.clock.delay(said.takes * 1_000, request.signal)
  const answer = providerAnswer(name, said, seen)
  request.on_text?.(answer.text)
  return answer
}

function isPlaceProvider(name: string): boolean {
  return PLACE_PROVIDERS.some((one) => one === name)
}

function isRecording(script: ModelScript | Script | undefined): script is { readonly recording: string } {
  return typeof script === 'object' && 'recording' in script
}

function readFrom(folder: string) {
  return (record: string): Promise<Uint8Array> => readFile(resolve(folder, record))
}

/** Described as they are, so that the document is judged by what they take; done by the script, where there is one. */
function scriptedSteps(world: World, parts: Parts): Steps {
  const { scripts, time, calls } = parts
  const { steps } = world
  standStillAtCalls(steps, time)
  return {
    ...steps,
    describe: (names) => time.working(() => steps.describe(names)),
    async start(code, start) {
      const order = StepOrderSchema.parse(await readJson(world, start.place.tenant, start.order_ref))
      const { outputs: lines } = scriptOf(scripts, code.name, start.place.block)
      calls.push({ kind: 'step', name: code.name })
      if (lines === undefined) return time.working(() => untilTold(world, steps, code, start, time))
      void playStep(world, parts, { start, order, lines }).catch((error: unknown) => {
        note(parts.problems, `Step "${code.name}" could not be played: ${String(error)}`)
      })
    },
  }
}

/** Calls of AWS that the machine makes go past the World: what stands in for them takes real time too. */
function standStillAtCalls(steps: Steps, time: VirtualTime): void {
  if (!('call' in steps) || typeof steps.call !== 'function') return
  const call = steps.call
  Object.assign(steps, { call: (...of: readonly unknown[]) => time.working(async () => call.apply(steps, of)) })
}

function scriptOf({ steps = {} }: Scripts, name: string, block: string) {
  return { outputs: steps[block] ?? steps[name] }
}

/** A real step takes real time: the clock stands still until it has told its end. */
async function untilTold(
  world: World,
  steps: Steps,
  code: StepCode,
  start: StepStart,
  time: VirtualTime,
): Promise<void> {
  await steps.start(code, start)
  void time.working(async () => {
    const run = { tenant: start.place.tenant, run_id: start.place.run_id }
    for (let looks = 0; looks < MOST_LOOKS && (await isUnderWay(world, run, start)); looks += 1) await pause(LOOK_MS)
  })
}

/** Milliseconds between two looks, and how many there are: a minute. */
const LOOK_MS = 5
const MOST_LOOKS = 12_000

/** Until an event of the block after its step's start: how it ended is judged then. */
async function isUnderWay(world: World, run: RunKey, start: StepStart): Promise<boolean> {
  const events = await world.runs.events(run, 0, 20_000)
  if (events.some(({ type }) => isRunEnd(type))) return false
  const begun = events.findLastIndex(
    (event) => event.type === 'step:started' && event.data.holder === start.place.holder,
  )
  const isSame = ({ block_id, item }: (typeof events)[number]) =>
    block_id === start.place.block && item === start.place.item
  return begun < 0 || !events.slice(begun + 1).some((event) => isSame(event) && event.type !== 'step:progress')
}

interface ScriptedWork {
  readonly start: StepStart
  readonly order: StepOrder
  readonly lines: NonNullable<NonNullable<Scripts['steps']>[string]>
}

/** As functions/steps/follow-step.ts does with a process: it begins, works, and tells its end. */
async function playStep(world: World, parts: Parts, { start, order, lines }: ScriptedWork): Promise<void> {
  const { place, token } = start
  const report = (say: 'begin' | 'go_on' | 'end', outcome?: string) =>
    parts.invoke('report-step', { place, token, say, ...(outcome === undefined ? {} : { outcome }) })
  const begun = await report('begin')
  if (!isGoing(begun)) return
  const line = scriptedStep(lines, order)
  const began = world.clock.now()
  for (let left = (line?.takes ?? 0) * 1_000; left > 0; left -= BEAT_MS) {
    await world.clock.delay(Math.min(left, BEAT_MS))
    if (!isGoing(await report('go_on'))) return
  }
  if (line === undefined) note(parts.problems, noLine(order))
  const failure = line === undefined ? { code: 'step_failed', reason: noLine(order), retry: false } : line.fail
  const outcome: StepOutcome = {
    v: 1,
    key: order.key,
    order_ref: start.order_ref,
    ...(failure === undefined ? { outputs: line?.outputs ?? {} } : { failure }),
    ...(line?.usd === undefined ? {} : { usd: line.usd }),
    artifacts: [],
    latency_ms: world.clock.now() - began,
    stored_bytes: 0,
  }
  const { ref } = await world.objects.put(place.tenant, Buffer.from(JSON.stringify(outcome)))
  await report('end', ref)
}

/** As functions/steps/follow-step.ts: sooner than its lease and its heartbeat are over. */
const BEAT_MS = 10_000

function isGoing(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && 'go_on' in answer && answer.go_on === true
}

function noLine({ name, inputs, attempt }: StepOrder): string {
  const given = canonicalJson(inputs).slice(0, 300)
  return `No line of the script of step "${name}" fits inputs ${given}, attempt ${attempt}. Add one to steps of the case.`
}

async function readJson({ objects }: World, tenant: string, ref: string): Promise<unknown> {
  return JSON.parse(Buffer.from(await objects.get(tenant, ref)).toString('utf8'))
}

/** Servers of the settings, with the tools that are scripted of them. */
function scriptedTools({ settings }: World, { scripts, problems }: Parts): World['mcp'] {
  const tools = Object.entries(scripts.tools ?? {}).map(([key, script]) => {
    const [server = '', ...name] = key.split('.')
    return { server, name: name.join('.'), key, script }
  })
  return {
    names: () => Object.keys(settings.mcp_servers),
    tools: async (server) =>
      tools
        .filter((tool) => tool.server === server)
        .map(({ name, script: { description, input_schema } }) => ({ name, description, input_schema })),
    async call(server, { tool, args }) {
      const key = `${server}.${tool}`
      const script = tools.find((one) => one.key === key)?.script
      if (script === undefined)
        throw noTool(
          key,
          tools.map((one) => one.key),
        )
      const answer = scriptedTool(script, args)
      if (answer === undefined) {
        const problem = `No answer of tool "${key}" fits arguments ${canonicalJson(args).slice(0, 300)}. Add one to tools of the case.`
        note(problems, problem)
        return { text: problem, is_error: true }
      }
      if (answer.error !== undefined) return { text: answer.error, is_error: true }
      const { result = {} } = answer
      if (typeof result === 'string') return { text: result, is_error: false }
      return { text: canonicalJson(result), structured: result, is_error: false }
    },
  }
}

function noTool(key: string, known: readonly string[]): Fault {
  const message = `Cannot call tool "${key}": the case scripts ${listed(known)}. Add tools: { ${key}: { answers: [..] } }.`
  return new Fault('InvalidInput', 'mcp_invalid', message)
}
