import { isActing } from '../agents/agent-items.ts'
import type { Block, GateUse } from '../dag/dag.ts'
import { composeVerdicts } from '../gates/compose-verdicts.ts'
import type { GateFacts } from '../gates/gate.ts'
import { inputHash, replayVerdict } from '../gates/judge.ts'
import { scriptRef, versionOfCheck, versionsIn } from '../gates/project-gates.ts'
import { withFileTexts } from '../gates/read-facts.ts'
import { ownValues } from '../runs/block-inputs.ts'
import { type Pass, passesOf, passName } from '../runs/block-passes.ts'
import type { EventData, RunEvent } from '../runs/event.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson } from '../text/json.ts'
import { isToolGate } from '../tools/tool-gates.ts'
import { defineInvariant, type RunParts } from './invariant.ts'
import { judgedBlock } from './judged-block.ts'
import { type RecordedParts, recordedInputs, recordedValues } from './reconstruct-inputs.ts'

export const gatesBeforeCompletion = defineInvariant({
  n: 11,
  title: 'no attempt completes unless each of its gates was judged once, or waived then, and their composition holds',
  of: 'log',
  needs: ['events', 'dag'],
  check({ events, dag }) {
    const blocks = new Map(dag.blocks.map((block) => [block.id, block]))
    return passesOf(events).flatMap((pass) => {
      const block = blocks.get(pass.block_id)
      const done = pass.events.find(({ type }) => type === 'block:completed')
      if (block === undefined || done === undefined) return twiceProblems(pass)
      return [...twiceProblems(pass), ...gateProblems(pass, judgedBlock(pass, block), done)]
    })
  },
})

/** Also in an attempt that fails a gate is judged once, and what failed is waived once. */
function twiceProblems(pass: Pass): readonly string[] {
  const seen = new Set<string>()
  return pass.events.flatMap((event) => {
    if (event.type !== 'block:gate') return []
    const { phase, gate, status } = event.data
    const [judged, waived] = ['judged', 'waived'].map((word) => `${word}/${event.attempt}/${phase}/${gate}`)
    const key = (status === 'waived' ? waived : judged) ?? ''
    if (status === 'waived' && !seen.has(judged ?? '')) {
      return [`${passName(pass)}: event ${event.seq} waives gate "${gate}", which nobody judged`]
    }
    const twice = seen.has(key)
    seen.add(key)
    return twice ? [`${passName(pass)}: event ${event.seq} judges gate "${event.data.gate}" again`] : []
  })
}

function gateProblems(pass: Pass, block: Block, { seq, attempt }: RunEvent): readonly string[] {
  const judged = pass.events.flatMap((event) => {
    return event.type === 'block:gate' && event.attempt === attempt ? [event.data] : []
  })
  return (['pre', 'post'] as const).flatMap((phase) => {
    const uses = phase === 'pre' ? block.pre_gates : block.post_gates
    const names = new Set(uses.map(({ name }) => name))
    // The gates of a task's move are judged by its handler, beside those of the block.
    const verdicts = judged.filter((one) => one.phase === phase && names.has(one.gate))
    const wrong = countProblems(uses, verdicts)
    const { passed, failed } = composeVerdicts(uses, verdicts.map(asVerdict), block.gate_composition[phase])
    if (!passed) wrong.push(`${phase}-gates ${failed.join(', ')} do not hold`)
    return wrong.map((problem) => `${passName(pass)}: completed (event ${seq}), though ${problem}`)
  })
}

function countProblems(uses: readonly GateUse[], verdicts: readonly EventData<'block:gate'>[]): string[] {
  return uses.flatMap(({ name }) => {
    const count = verdicts.filter(({ gate }) => gate === name).length
    return count > 0 ? [] : [`gate "${name}" has no verdict in this attempt`]
  })
}

function asVerdict({ gate, type, status, reason, duration_ms, input_hash }: EventData<'block:gate'>) {
  return { name: gate, type, passed: status === 'passed', status, reason, facts: {}, duration_ms, input_hash }
}

type Judged = Extract<RunEvent, { readonly type: 'block:gate' }>
type Parts = Pick<RunParts, 'events' | 'dag' | 'meta' | 'context' | 'read' | 'isolate'>

export const verdictsAgain = defineInvariant({
  n: 12,
  title: 'every verdict of a pure gate comes out again from the recorded inputs',
  of: 'objects',
  needs: ['events', 'dag', 'meta', 'context', 'read', 'isolate'],
  async check(run) {
    const wrong: string[] = []
    const blocks = new Map(run.dag.blocks.map((block) => [block.id, block]))
    for (const pass of passesOf(run.events)) {
      const block = blocks.get(pass.block_id)
      if (block !== undefined) wrong.push(...(await passProblems(run, pass, block)))
    }
    return wrong
  },
})

async function passProblems(run: Parts, pass: Pass, block: Block): Promise<readonly string[]> {
  const attempts = Map.groupBy(
    pass.events.filter((event) => event.type === 'block:gate'),
    ({ attempt }) => attempt,
  )
  const wrong: string[] = []
  for (const [attempt, judged] of attempts) {
    const facts = await recordedFacts(run, pass, block, attempt)
    if (facts.kind === 'wrong') wrong.push(`${passName(pass)}: ${facts.problem}`)
    if (facts.kind !== 'known') continue
    for (const event of judged) wrong.push(...(await again(run, pass, block, event, facts)))
  }
  return wrong
}

async function again(
  run: Parts,
  pass: Pass,
  block: Block,
  { seq, data }: Judged,
  facts: { readonly pre: GateFacts; readonly post: GateFacts },
): Promise<readonly string[]> {
  const use = useOf(pass, block, data)
  // A check of time is judged at a moment no event tells; one that could not be carried out may be so again.
  if (use === undefined || data.status === 'error' || looksAtTheClock(use, facts[data.phase])) return []
  const version = versionOfCheck(use.check)
  if (data.version !== version) {
    const seen = `is of version ${data.version ?? 'none'}, its gate of ${version ?? 'none'}`
    return [`${passName(pass)}: the verdict of gate "${data.gate}" (event ${seq}) ${seen}`]
  }
  const replay = await replayOf(run, pass, block, { use, data, whole: facts[data.phase] })
  if (replay === 'same' || replay === 'recorded') return []
  const why = replay === 'different' ? 'comes out otherwise' : 'is not of these values'
  return [`${passName(pass)}: the verdict of gate "${data.gate}" (event ${seq}) ${why}`]
}

interface JudgedGate {
  readonly use: GateUse
  readonly data: Judged['data']
  readonly whole: GateFacts
}

async function replayOf(run: Parts, pass: Pass, block: Block, { use, data, whole }: JudgedGate) {
  const { isolate, read } = run
  const script = async (version: string) => textOf(await read(scriptRef(run.meta.tenant, version)))
  // Without its code nothing is judged again: 21 says what is missing.
  for (const version of versionsIn(use.check)) if ((await script(version)) === undefined) return 'recorded'
  const { status, reason, input_hash, facts: found } = data
  const recorded = { status, reason, input_hash, facts: found }
  const own = { ...whole, inputs: ownValues(run.dag, judgedBlock(pass, block), whole.inputs) }
  let replay: Awaited<ReturnType<typeof replayVerdict>> = 'other_input'
  // Verdicts of earlier versions still stand: their gates saw run inputs too, and refs in place of the texts of files.
  for (const seen of [() => withFileTexts(block, own, read), () => withFileTexts(block, whole, read), () => whole]) {
    if (replay === 'other_input') replay = await replayVerdict(recorded, use, await seen(), { isolate, script })
  }
  return replay
}

function textOf(body: Uint8Array | undefined): string | undefined {
  return body === undefined ? undefined : new TextDecoder().decode(body)
}

/** The gates of a task's move are their handler's, which has its own words for them. */
function useOf(pass: Pass, block: Block, { gate, phase }: Judged['data']): GateUse | undefined {
  const judged = judgedBlock(pass, block)
  // What stands in the way of a call is found before its gates are judged; they only tell it.
  if (pass.item !== undefined && isActing(block) && isToolGate(gate)) return undefined
  return (phase === 'pre' ? judged.pre_gates : judged.post_gates).find(({ name }) => name === gate)
}

function looksAtTheClock({ check }: GateUse, facts: GateFacts): boolean {
  const [one, other] = ['2026-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z']
  return inputHash(check, { ...facts, at: one }) !== inputHash(check, { ...facts, at: other })
}

/** What the gates of one attempt looked at. `unknown`: the context was patched since, or an object is gone (21 says so). */
type RecordedFacts =
  | { readonly kind: 'known'; readonly pre: GateFacts; readonly post: GateFacts }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'wrong'; readonly problem: string }

async function recordedFacts(
  run: RecordedParts,
  pass: Pass,
  block: Block,
  attempt: number | undefined,
): Promise<RecordedFacts> {
  const started = pass.events.find((event) => event.type === 'block:started' && event.attempt === attempt)
  if (started?.type !== 'block:started') return { kind: 'unknown' }
  const inputs = await recordedInputs(run, pass, block, started)
  if (inputs === undefined) return { kind: 'unknown' }
  if (sha256(canonicalJson(inputs)) !== started.data.inputs_hash) {
    if (run.context.version !== started.data.context_version || mayBeBound(run, started.seq)) return { kind: 'unknown' }
    return { kind: 'wrong', problem: `attempt ${attempt} did not work with these inputs (event ${started.seq})` }
  }
  const output = pass.events.find((event) => event.type === 'block:output' && event.attempt === attempt)
  const outputs = output?.type === 'block:output' ? await recordedValues(run, output.data.outputs) : {}
  if (outputs === undefined) return { kind: 'unknown' }
  const pre = { inputs, outputs: {}, measured: { cost_usd: null, latency_ms: null } }
  const post = { inputs, outputs, ...answerOf(block, output?.type === 'block:output' ? output.data : undefined) }
  return { kind: 'known', pre, post }
}

/** Behind or beside a question it works with the context that was bound, not with the present one: 39 compares those. */
function mayBeBound({ context, events }: RecordedParts, seq: number): boolean {
  if (context.version === 0) return false
  return events.some((event) => {
    if (event.seq >= seq) return false
    return (
      event.type === 'approval:requested' || (event.type === 'block:started' && event.data.binding_ref !== undefined)
    )
  })
}

function answerOf(block: Block, output: EventData<'block:output'> | undefined): Pick<GateFacts, 'measured' | 'answer'> {
  if (output === undefined) return { measured: { cost_usd: null, latency_ms: null } }
  const { usd_micros, latency_ms, tokens_in, tokens_out, provider, model, finish_reason } = output
  const cost_usd = usd_micros === undefined ? null : usd_micros / 1_000_000
  const measured = { cost_usd, latency_ms, tokens: tokens_in + tokens_out }
  return { measured, ...(block.mode === 'ai' ? { answer: { provider, model, finish_reason } } : {}) }
}
