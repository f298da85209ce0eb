import { verifyClaims as verify } from '../../../shared/goals/verify-claims.ts'
import type { Json } from '../../../shared/text/json.ts'
import type { QuoteSource } from '../../../shared/text/verbatim-quotes.ts'
import { gatherEvidence } from '../../goals/evidence.ts'
import { frozenContract } from '../../record/freeze-goal.ts'
import { readPinned } from '../../record/pinned-run.ts'
import { type BlockHandler, type HandlerCall, handlerFault, readConfig } from './block-handler.ts'

/**
 * The deterministic verifier: checks again what the blocks of this run have claimed so far against what is stored
 * (docs/goal-gates.md, "Trust"), so it waits for all whose claims count. Inputs, none needed: `contract` (without it the
 * run's own), `claimed_status`, `sources` (a list of {id, text} that citations may name). Outputs, by name: trust_score,
 * challenges, findings_verified, findings_rejected, parts; `verification` takes all of them.
 */
export const verifyClaims: BlockHandler = {
  async run(call) {
    call.signal.throwIfAborted()
    readConfig('verify-claims', call)
    const pinned = await readPinned(call.world, call.run)
    const { texts, artifacts } = await gatherEvidence(call.world, call.run, pinned)
    call.signal.throwIfAborted()
    const { contract = await frozenContract(call.world, pinned.meta), claimed_status } = given(call)
    const found = verify({ texts, artifacts, sources: sourcesOf(call), contract, claimed_status })
    // Plain JSON by construction; interfaces have no index signature for TypeScript to see it.
    const values = { ...found, verification: found } as unknown as Record<string, Json>
    return Object.fromEntries(Object.entries(values).filter(([port]) => Object.hasOwn(call.outputs, port)))
  },
}

/** Inputs with a value: nothing given is nothing said. */
function given({ inputs }: HandlerCall): Partial<Record<string, Json>> {
  return Object.fromEntries(Object.entries(inputs).filter(([, value]) => value !== null))
}

function sourcesOf(call: HandlerCall): readonly QuoteSource[] {
  const { sources = [] } = given(call)
  const list: readonly Json[] = Array.isArray(sources) ? sources : [sources]
  const at = list.findIndex((one) => !isSource(one))
  if (at < 0) return list as unknown as readonly QuoteSource[]
  const words = `input "sources"${Array.isArray(sources) ? `[${at}]` : ''} is no source; a list of {"id": text, "text": text} is needed.`
  throw handlerFault(call, 'verify-claims', 'bad_sources', words)
}

function isSource(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false
  return 'id' in value && 'text' in value && typeof value.id === 'string' && typeof value.text === 'string'
}
