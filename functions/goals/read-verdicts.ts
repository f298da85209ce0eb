import type { Json } from '../../shared/canonical.ts'
import { blocksBefore } from '../../shared/dag/blocks-before.ts'
import type { CompletionSettings } from '../../shared/dag/completion.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import type { CompletionRequest } from '../../shared/goals/evaluate-completion.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readStanding } from './read-standing.ts'
import type { Standing } from './standing-blocks.ts'

type Verdicts = Pick<CompletionRequest, 'trust_scores' | 'claimed_status' | 'blockers'>

interface Judges {
  readonly dag: Pick<Dag, 'blocks'>
  readonly completion: CompletionSettings
  readonly standing: readonly Standing[]
}

/**
 * What the verifiers, the claim and the blockers of a run say. Who is named and says nothing (it was skipped, its output
 * is not there, or what it judged was sent back after it) fails: a score of null, a claim that is none. What a verifier
 * says blocks the goal counts beside the blockers, an old word of it too.
 */
export async function readVerdicts(world: Pick<World, 'objects'>, run: RunKey, judges: Judges): Promise<Verdicts> {
  const { trust, claim, blockers } = judges.completion
  const valueAt = (ref: string) => readRef(world, run, judges, ref)
  const scores: (readonly Json[])[] = []
  const blocking: (readonly Json[])[] = []
  for (const ref of trust?.from ?? []) {
    const value = await valueAt(ref)
    scores.push(isStale(judges, ref) ? [null] : scoresIn(value ?? null))
    blocking.push(listed(value ?? null).map((one) => memberOr(one, 'blockers', null)))
  }
  if (blockers !== undefined) blocking.push([memberOr((await valueAt(blockers)) ?? null, 'blockers')])
  const said = new Set(blocking.flat().flatMap((one) => (one === null ? [] : listed(one))))
  const claimed = claim === undefined || isStale(judges, claim) ? undefined : await valueAt(claim)
  return {
    trust_scores: scores.flat(),
    ...(claim === undefined ? {} : { claimed_status: claimOf(claimed) }),
    ...(said.size === 0 ? {} : { blockers: [...said] }),
  }
}

async function readRef(
  world: Pick<World, 'objects'>,
  { tenant }: RunKey,
  { standing }: Judges,
  ref: string,
): Promise<Json | undefined> {
  const [id = '', port = ''] = ref.split('.')
  const { outputs = {} } = standing.find(({ block }) => block === id) ?? {}
  const stored = Object.hasOwn(outputs, port) ? outputs[port] : undefined
  if (stored === undefined) return undefined
  return (await readStanding(world, tenant, { block: id, outputs: { [port]: stored } }))[port]
}

/** What it judged was made again since: a rule of another block sent that back, and this one has not looked again. */
function isStale({ dag, standing }: Judges, ref: string): boolean {
  const [id = ''] = ref.split('.')
  const { sent_back = new Set<string>() } = standing.find(({ block }) => block === id) ?? {}
  return sent_back.size > 0 && [...blocksBefore(dag, id)].some((one) => sent_back.has(one))
}

function listed(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [value]
}

/** A number, or a mapping that has one as `trust_score`; of a list (a fan-out of verifiers) each, and none is no pass. */
function scoresIn(value: Json): readonly Json[] {
  if (!Array.isArray(value)) return [memberOr(value, 'trust_score')]
  const scores = value.map((one) => memberOr(one, 'trust_score'))
  return scores.length === 0 ? [null] : scores
}

/** Of what has no such member: the value itself, unless something else is said. */
function memberOr(value: Json, key: string, without: Json = value): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key)) return without
  // Checked above: a mapping with this own key.
  return (value as Readonly<Record<string, Json>>)[key] ?? null
}

/** Models end a word with a line break. */
function claimOf(value: Json | undefined): Json {
  return typeof value === 'string' ? value.trim() : (value ?? '')
}
