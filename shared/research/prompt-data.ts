import type { Candidate } from './candidate.ts'
import { citableText, type ShownEvidence } from './shown-evidence.ts'

/** Characters of one item that are worth showing at least, and the part of the room one may take. */
const LEAST = 120
const LONGEST = 600

/** Characters a token, as estimates count. */
const CHARACTERS = 4
/** What stands around an item in a prompt. */
const FRAME = 12

/**
 * The best-ranked items as a prompt shows them, cut so that together they take no more than so many tokens: the name,
 * the passage that was found, the facts, then the body from its beginning.
 */
export function evidenceForPrompt(
  evidence: readonly (ShownEvidence & { readonly snippet_text?: string | undefined })[],
  tokens: number,
): readonly { readonly text: string }[] {
  return cutAll(
    evidence,
    tokens,
    (item, most) => ({ text: itemText(item).slice(0, most) }),
    ({ text }) => JSON.stringify(text).length,
  )
}

function itemText({
  snippet_text = '',
  ...item
}: ShownEvidence & { readonly snippet_text?: string | undefined }): string {
  const { label, entity_id, text = '' } = item
  const facts = citableText({ ...item, text: '' })
  const found = text.startsWith(snippet_text) ? '' : snippet_text
  return [label ?? entity_id, found, facts, text].filter((part) => part !== '').join('\n')
}

/** The first candidates as the router sees them; their snippets are cut first. */
export function candidatesForPrompt(candidates: readonly Candidate[], tokens: number): readonly object[] {
  return cutAll(
    candidates,
    tokens,
    ({ snippet_text = '', ...rest }, most) => {
      const room = most - JSON.stringify(rest).length - FRAME * 2
      return {
        ...rest,
        ...(room < LEAST / 2 || snippet_text === '' ? {} : { snippet_text: snippet_text.slice(0, room) }),
      }
    },
    (shown) => JSON.stringify(shown).length,
  )
}

/** Each item gets an equal part of the room, or more where others need less; the rest of the list is left out. */
function cutAll<T, S>(
  items: readonly T[],
  tokens: number,
  cut: (item: T, characters: number) => S,
  size: (shown: S) => number,
): readonly S[] {
  let room = tokens * CHARACTERS
  const shown: S[] = []
  for (const [place, item] of items.entries()) {
    const fair = room / Math.max(1, Math.min(items.length - place, SHOWN - shown.length))
    const one = cut(item, Math.floor(Math.max(LEAST, Math.min(LONGEST * CHARACTERS, fair))))
    room -= size(one) + FRAME
    if (room < 0 && shown.length > 0) break
    shown.push(one)
  }
  return shown
}

/** Items among which the room is divided: the best ones are worth more than all of them. */
const SHOWN = 8
