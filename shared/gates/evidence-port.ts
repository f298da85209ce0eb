import type { Json } from '../canonical.ts'
import type { QuoteSource } from '../research/quote-index.ts'
import type { CheckResult, GateFacts } from './gate.ts'
import { tooLarge } from './port-text.ts'
import { readPort, wrongType } from './read-port.ts'

/** Bytes of evidence one grounding gate reads: about 100 ms. */
const MAX_BYTES = 2_097_152
const MAX_ITEMS = 10_000

/**
 * The evidence of a port: a list of {id, text} (other members are not looked at), of texts, or of what a research block
 * found, or one text. A text's id is its place in the list, counted from 1, as `[n]` cites it; what research found is
 * known by that, by its entity and by its object ref.
 */
export function readEvidence(
  facts: GateFacts,
  port: string,
): { readonly sources: readonly QuoteSource[] } | { readonly unfit: CheckResult } {
  const value = readPort(facts, port)
  const items = typeof value === 'string' ? [value] : value
  if (!Array.isArray(items)) return { unfit: wrongType(port, 'evidence (a list of {id, text})', value) }
  if (items.length > MAX_ITEMS) return refused(port, `must have at most ${MAX_ITEMS} items, has ${items.length}`)
  const sources: QuoteSource[] = []
  let left = MAX_BYTES
  for (const [place, item] of items.entries()) {
    const [source, ...names] = sourcesOf(item, place)
    if (source === undefined) return refused(port, `must be a list of {id, text}, item ${place + 1} is none`)
    left -= source.text.length > left ? source.text.length : Buffer.byteLength(source.text)
    if (left < 0) return { unfit: tooLarge(port, MAX_BYTES) }
    sources.push(source, ...names)
  }
  return sources.length === 0 ? refused(port, 'must be evidence, is empty') : { sources }
}

/** The same text under each of its names. */
function sourcesOf(item: Json | undefined, place: number): readonly QuoteSource[] {
  if (typeof item === 'string') return [{ id: String(place + 1), text: item }]
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return []
  const { id, entity_id, snippet_text, text = snippet_text, objectstore_ref } = item as Readonly<Record<string, Json>>
  if (id === undefined && typeof entity_id === 'string') return foundBy(place, [entity_id, objectstore_ref], text)
  if (typeof text !== 'string') return []
  if (typeof id === 'string' && id !== '' && id.length <= 300) return [{ id, text }]
  return Number.isSafeInteger(id) ? [{ id: String(id), text }] : []
}

function foundBy(place: number, refs: readonly (Json | undefined)[], text: Json = ''): readonly QuoteSource[] {
  if (typeof text !== 'string') return []
  const names = refs.filter((ref): ref is string => typeof ref === 'string' && ref !== '')
  return [String(place + 1), ...names].map((name) => ({ id: name, text }))
}

function refused(port: string, why: string): { readonly unfit: CheckResult } {
  return { unfit: { passed: false, unfit: true, reason: `port ${port} ${why}`, facts: { port } } }
}
