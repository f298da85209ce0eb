import { RESEARCH_DAG, researchMachine } from '../../shared/compile/research-machine.ts'
import { type AskedIntent, pinIntent, type Question } from '../../shared/research/payloads/intent.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import type { RunOrder } from './create-run.ts'

/** What every research run starts with, whichever door it came by. */
type ResearchOrder = Pick<RunOrder, 'dag' | 'dag_hash' | 'context' | 'overrides'> & {
  readonly machine: () => Promise<string>
  readonly research: NonNullable<RunOrder['research']>
  /** The Intent's budget: the chain's ledger is that of its run. */
  readonly caps: { readonly cap_tokens: number }
}

/** Seconds a chain may take, where nothing shorter bounds it. */
export const RESEARCH_DEADLINE_SEC = 600

/**
 * The order of a run that answers a question: both doors, POST /api/research and a `mode: research` block, come to
 * this. The question is stored as an object, so that events and META carry its ref alone.
 */
export async function prepareResearchRun(
  world: Pick<World, 'objects' | 'machine'>,
  tenant: string,
  question: Question,
  beside: Omit<AskedIntent, 'intent'>,
): Promise<ResearchOrder> {
  const { asked, text, hash } = pinIntent(question, beside)
  const { ref } = await world.objects.put(tenant, Buffer.from(text))
  const machine = researchMachine()
  return {
    dag: RESEARCH_DAG,
    dag_hash: sha256(canonicalJson(RESEARCH_DAG)),
    machine: () => world.machine.deployed(machine.text, machine.hash),
    context: {},
    overrides: {},
    research: { intent_ref: ref, inputs_hash: hash },
    caps: { cap_tokens: asked.intent.budget_tokens },
  }
}
