import { citableText, type ShownEvidence } from './claims/shown-evidence.ts'
import type { AskingStage } from './extractive/model.ts'
import type { Candidate } from './payloads/candidate-and-evidence.ts'

/** Tokens of a small answer in JSON: a route, an assessment. */
const SMALL_ANSWER = 256
/** Tokens of instructions, question and frame around the evidence of an answer, and of a little evidence. */
const LEAST_PROMPT = 500
/** With less there is nothing to judge or to answer from. */
const LEAST_ROOM = 50
/** Part of what may be spent before the answer that one call may take; what is left is for the calls after it. */
const SHARES: Readonly<Record<AskingStage, number>> = {
  route_search: 0.4,
  assess_sufficiency: 0.35,
  synthesize_answer: 1,
}
/** More evidence in one prompt does not make the answer better. */
const MOST_ROOM = 8_000

interface Budget {
  /** Of the whole chain. */
  readonly cap: number
  /** Of it, for this call and those after it. */
  readonly left: number
  /** Of one answer at the most (settings). */
  readonly max_tokens: number
}

/** How a budget is divided among the calls of a chain, in tokens; `data`: what is retrieved may take of a prompt. */
interface PromptRoom {
  readonly answer_tokens: number
  readonly keep: number
  readonly data: number
}

/**
 * The room of one stage's call: instructions and question (`fixed`) and its answer at the longest first, the answer of
 * the chain kept back, and of the rest a share. The answer itself takes half of what is left where that is enough, so
 * that it can be asked for once more. Never less than a little: a call that then does not fit is not made.
 */
export function promptTokenBudget(stage: AskingStage, fixed: number, { cap, left, max_tokens }: Budget): PromptRoom {
  const answer = Math.min(max_tokens, Math.max(SMALL_ANSWER, Math.floor(cap / 6)))
  if (stage === 'synthesize_answer') {
    const half = left / 2 - fixed - answer
    const data = half >= LEAST_PROMPT ? half : left - fixed - answer
    return { answer_tokens: answer, keep: 0, data: bounded(data) }
  }
  const answer_tokens = Math.min(max_tokens, SMALL_ANSWER)
  const keep = LEAST_PROMPT + answer
  return { answer_tokens, keep, data: bounded((left - keep - fixed - answer_tokens) * SHARES[stage]) }
}

function bounded(tokens: number): number {
  return Math.floor(Math.min(MOST_ROOM, Math.max(LEAST_ROOM, tokens)))
}

/** Characters of one item that are worth showing at least, and the part of the room one may take. */
const SHORTEST_ITEM = 120
const LONGEST_ITEM = 600

/** Characters a token, as estimates count. */
const CHARACTERS_A_TOKEN = 4
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
        ...(room < SHORTEST_ITEM / 2 || snippet_text === '' ? {} : { snippet_text: snippet_text.slice(0, room) }),
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
  let room = tokens * CHARACTERS_A_TOKEN
  const shown: S[] = []
  for (const [place, item] of items.entries()) {
    const fair = room / Math.max(1, Math.min(items.length - place, FAIR_ITEMS - shown.length))
    const one = cut(item, Math.floor(Math.max(SHORTEST_ITEM, Math.min(LONGEST_ITEM * CHARACTERS_A_TOKEN, fair))))
    room -= size(one) + FRAME
    if (room < 0 && shown.length > 0) break
    shown.push(one)
  }
  return shown
}

/** Items among which the room is divided: the best ones are worth more than all of them. */
const FAIR_ITEMS = 8
