import { chance, type PlannedBlock, upTo } from '../../integration/random-runs.ts'
import type { Random } from '../rng.ts'
import { STEPS } from '../simulated-steps.ts'

type Block = Readonly<Record<string, unknown>>
type Planned = readonly [PlannedBlock, Block]

/** The document that blocks, and other agents, call: an agent of its own. */
export const ACTOR = {
  name: 'actor',
  inputs: { note: { type: 'string' } },
  blocks: [
    {
      id: 'act',
      outputs: { text: 'string' },
      agent: {
        ...{ provider: 'probe', model: 'm', prompt: 'Act on it.', max_turns: 4, max_refused: 3 },
        tools: [{ use: 'crm.find' }, { use: 'crm.tag' }, { use: 'crm.note' }],
        taint: 'forbid',
      },
      contract_repair_attempts: 0,
    },
  ],
}

/** Blocks whose agent calls tools, at the end of some documents; and one whose child run has such a block. */
export function planAgents(
  random: Random,
  source: string | undefined,
  without: ReadonlySet<string>,
): readonly Planned[] {
  const all = [...(chance(random, 0.5) ? [alone(random, source)] : []), ...(chance(random, 0.06) ? [below()] : [])]
  return all.filter(([{ id, upstream }]) => !without.has(id) && !upstream.some((other) => without.has(other)))
}

function alone(random: Random, source: string | undefined): Planned {
  const [reads, judged, mends] = [chance(random, 0.3), chance(random, 0.5), chance(random, 0.3)]
  const tries = 1 + upTo(random, 1)
  const upstream = reads && source !== undefined ? [source] : []
  const gate = { name: 'g0', check: { type: 'min_length', port: 'text', min: 4 }, on_fail: 'retry' }
  return [
    { id: 'a0', upstream, gates: judged ? 1 : 0, tries },
    {
      id: 'a0',
      inputs: Object.fromEntries(upstream.map((id) => [`from_${id}`, { from: `${id}.text` }])),
      outputs: { text: 'string' },
      agent: {
        ...{ provider: 'probe', model: 'm', prompt: `Solve it, ${upTo(random, 9)}.` },
        ...(chance(random, 0.3) ? { fallback: [{ provider: 'spare', model: 'm' }] } : {}),
        max_turns: 3 + upTo(random, 6),
        max_refused: 2 + upTo(random, 8),
        max_parallel: 1 + upTo(random, 3),
        taint: ['approve', 'approve', 'forbid', 'off'][upTo(random, 3)] ?? 'approve',
        tools: planTools(random),
      },
      ...(judged ? { post_gates: [gate] } : {}),
      ...(chance(random, 0.1) ? { approval: { prompt: 'Act?', timeout_sec: 120, on_timeout: 'approve' } } : {}),
      timeout_ms: 20_000,
      contract_repair_attempts: mends ? 1 : 0,
      retry: { max_attempts: tries, backoff: 'none', delay_ms: 0, jitter: 'none' },
    },
  ]
}

/** Always a tool that reads and one that writes; the others now and then. */
function planTools(random: Random): readonly object[] {
  const after = { name: 'short', after: true, check: { type: 'max_length', port: 'text', max: 60 }, ...onFail(random) }
  const small = { name: 'small', check: { type: 'max_value', port: 'amount', max: 500 }, ...onFail(random) }
  const find = { use: 'crm.find', ...(chance(random, 0.6) ? { gates: [after] } : {}) }
  const pay = {
    use: 'crm.pay',
    ...(chance(random, 0.6) ? { gates: [small] } : {}),
    ...(chance(random, 0.6) ? { approval: planApproval(random, 'args.amount > 200', ['amount', 'to']) } : {}),
    ...(chance(random, 0.3) ? { max_calls: 1 + upTo(random, 1) } : {}),
    ...(chance(random, 0.3) ? { timeout_ms: 5_000 } : {}),
  }
  const others = [
    { use: 'crm.note', ...(chance(random, 0.3) ? { approval: planApproval(random, undefined, ['text']) } : {}) },
    { use: 'crm.tag' },
    { use: 'ask_person' },
    { use: 'artifact.write' },
    { use: 'artifact.read' },
    { use: STEPS.once },
    { use: STEPS.again, effect: 'read' },
    { use: 'dag.child' },
    { use: `dag.${ACTOR.name}` },
  ]
  return [find, pay, ...others.filter(() => chance(random, 0.3))]
}

function onFail(random: Random): object {
  return chance(random, 0.4) ? { on_fail: 'ask' } : {}
}

function planApproval(random: Random, when: string | undefined, edit: readonly string[]): object {
  const quorum = chance(random, 0.2) ? 2 : 1
  return {
    ...(when !== undefined && chance(random, 0.7) ? { when } : {}),
    prompt: 'Let it?',
    timeout_sec: chance(random, 0.3) ? 5 + upTo(random, 40) : 120 + upTo(random, 200),
    quorum,
    ...(quorum === 1 && chance(random, 0.9) ? { edit } : {}),
    ...(chance(random, 0.4) ? { allow_rest: true } : {}),
  }
}

/** A run of `ACTOR`. */
function below(): Planned {
  return [
    { id: 'a1', upstream: [], gates: 0, tries: 1 },
    {
      id: 'a1',
      mode: 'dag',
      dag: { name: ACTOR.name, inputs: { note: 'a note' } },
      inputs: {},
      outputs: { text: 'string' },
    },
  ]
}
