import type { Json } from '../../shared/canonical.ts'
import type { CompletionSettings } from '../../shared/dag/completion.ts'
import type { CompletionRequest } from '../../shared/goals/evaluate-completion.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { readStanding } from './read-standing.ts'
import type { Standing } from './standing-blocks.ts'

type Verdicts = Pick<CompletionRequest, 'trust_scores' | 'claimed_status' | 'blockers'>
type Values = (ref: string) => Promise<Json | undefined>

/**
 * What the verifiers, the claim and the blockers of a run say. Who is named and says nothing (it was skipped, its output
 * is not there) fails: a score of null, a claim that is none.
 */
export async function readVerdicts(
  world: Pick<World, 'objects'>,
  run: RunKey,
  { trust, claim, blockers }: CompletionSettings,
  standing: readonly Standing[],
): Promise<Verdicts> {
  const valueAt: Values = (ref) => readRef(world, run, standing, ref)
  const said: (readonly Json[])[] = []
  for (const ref of trust?.from ?? []) said.push(scoresIn((await valueAt(ref)) ?? null))
  return {
    trust_scores: said.flat(),
    ...(claim === undefined ? {} : { claimed_status: claimOf(await valueAt(claim)) }),
    ...(blockers === undefined ? {} : { blockers: memberOr((await valueAt(blockers)) ?? null, 'blockers') }),
  }
}

async function readRef(
  world: Pick<World, 'objects'>,
  { tenant }: RunKey,
  standing: readonly Standing[],
  ref: string,
): Promise<Json | undefined> {
  const [id = '', port = ''] = ref.split('.')
  const { outputs = {} } = standing.find(({ block }) => block === id) ?? {}
  const stored = Object.hasOwn(outputs, port) ? outputs[port] : undefined
  if (stored === undefined) return undefined
  return (await readStanding(world, tenant, { block: id, outputs: { [port]: stored } }))[port]
}

/** A number, or a mapping that has one as `trust_score`; of a list (a fan-out of verifiers) each, and none is no pass. */
function scoresIn(value: Json): readonly Json[] {
  if (!Array.isArray(value)) return [memberOr(value, 'trust_score')]
  const scores = value.map((one) => memberOr(one, 'trust_score'))
  return scores.length === 0 ? [null] : scores
}

function memberOr(value: Json, key: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key)) return value
  // Checked above: a mapping with this own key.
  return (value as Readonly<Record<string, Json>>)[key] ?? null
}

/** Models end a word with a line break. */
function claimOf(value: Json | undefined): Json {
  return typeof value === 'string' ? value.trim() : (value ?? '')
}
