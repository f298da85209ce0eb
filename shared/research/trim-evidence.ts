import type { Evidence } from './evidence.ts'

/** Four characters a token over what a prompt would show of the item; at least 1. */
export function evidenceTokens({ entity_id, snippet_text = '', source, objectstore_ref = '' }: Evidence): number {
  const characters = entity_id.length + snippet_text.length + source.length + objectstore_ref.length
  return Math.max(1, Math.floor(characters / 4))
}

/**
 * The best-ranked items whose estimates together fit: the ranking is cut where the first one does not, so that more
 * tokens never take an item away.
 */
export function trimEvidence(
  ranked: readonly Evidence[],
  budget_tokens: number,
): { readonly evidence: readonly Evidence[]; readonly tokens: number } {
  let tokens = 0
  for (const [place, item] of ranked.entries()) {
    const next = tokens + evidenceTokens(item)
    if (next > budget_tokens) return { evidence: ranked.slice(0, place), tokens }
    tokens = next
  }
  return { evidence: ranked, tokens }
}
