import type { Json } from '../canonical.ts'
import { type CompletionSettings, DEFAULT_COMPLETION } from './completion.ts'
import type { PortType } from './dag.ts'
import { findOutput } from './find-output.ts'
import type { BlockDraft } from './read-block.ts'
import { readSection } from './read-section.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'
import { quoted } from './wording.ts'

type Blocks = ReadonlyMap<string, BlockDraft>

/** The section `completion`, its refs looked up among the blocks. */
export function readCompletion(
  reading: Reading,
  given: Json | undefined,
  byId: Blocks,
): CompletionSettings | undefined {
  const path = ['completion']
  const section = given === undefined ? undefined : readSection(reading, SECTIONS.completion, given, path)
  if (section === undefined) return undefined
  const { trust, quality, pivot, contract, claim, blockers } = section
  const from = trust === undefined ? undefined : readTrust(reading, trust, byId)
  const refs = { claim, blockers }
  for (const key of ['claim', 'blockers'] as const) {
    if (refs[key] !== undefined) checkRef(reading, refs[key], byId, { path: [...path, key], types: TEXTS })
  }
  return {
    quality: quality ?? DEFAULT_COMPLETION.quality,
    pivot: pivot ?? DEFAULT_COMPLETION.pivot,
    contract: contract ?? DEFAULT_COMPLETION.contract,
    ...(from === undefined ? {} : { trust: { from } }),
    ...(claim === undefined ? {} : { claim }),
    ...(blockers === undefined ? {} : { blockers }),
  }
}

/** What can be a trust score or hold one; and what can be a status or a list of texts. */
const SCORES: readonly PortType[] = ['number', 'json']
const TEXTS: readonly PortType[] = ['string', 'json']

/** One ref or several; each once. */
function readTrust(reading: Reading, given: Json, byId: Blocks): readonly string[] | undefined {
  const path = ['completion', 'trust']
  const from = readSection(reading, SECTIONS.trust, given, path)?.from
  if (from === undefined) return undefined
  if (typeof from === 'string') checkRef(reading, from, byId, { path: [...path, 'from'], types: SCORES })
  else {
    for (const [index, ref] of from.entries())
      checkRef(reading, ref, byId, { path: [...path, 'from', index], types: SCORES })
  }
  return [...new Set(typeof from === 'string' ? [from] : from)]
}

function checkRef(
  reading: Reading,
  ref: string,
  byId: Blocks,
  { path, types }: { readonly path: Path; readonly types: readonly PortType[] },
): void {
  const found = findOutput(reading, byId, ref, path)
  const type = found?.block.outputs.get(found.output)?.type
  if (type === undefined || types.includes(type)) return
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} is ${quoted(ref)}, whose type is ${type}; allowed are ${types.join(' and ')}`,
  })
  reading.problems.push({ code: 'type_mismatch', path, say })
}
